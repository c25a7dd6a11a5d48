"""Each detector of `check`, on a simulated hung robot: it speaks when its fault is there, and only then."""

import functools

import numpy as np
import pytest

from surefoot.errors import SurefootError
from surefoot.identify.check import check
from surefoot.record.recording import Recording
from surefoot.robot.spec import Robot

LEGS = ("LF", "RF", "LH", "RH")
JOINTS = tuple(f"{leg}_{joint}" for leg in LEGS for joint in ("HAA", "HFE", "KFE"))
N = len(JOINTS)
P, D = np.full(N, 85.0), np.full(N, 2.0)
INERTIA = np.tile([0.14, 0.17, 0.09], 4)  # joint and link [kg·m²]
WEIGHT = np.tile([2.0, 4.0, 1.5], 4)  # gravity torque at one radian [N·m]
CENTRE = np.tile([0.0, 0.5, -0.9], 4) * np.repeat([1, 1, -1, -1], 3)
TIME = np.arange(8000) / 400.0
COUNT = 2 * np.pi / 2**16


def robot(**changes):
    """Twelve hinges; only what `check` reads."""
    wide = np.full(N, 2.5)
    fields = {
        "name": "twelve",
        "source": "test",
        "model": "",
        "joints": JOINTS,
        "kinds": ("hinge",) * N,
        "stiffness": P,
        "damping": D,
        "torque_limit": np.full(N, 80.0),
        "stall_torque": np.full(N, np.inf),
        "no_load_speed": np.full(N, np.inf),
        "gear_position": np.tile([0.0, 1.0], (N, 1)),
        "gear_ratio": np.ones((N, 2)),
        "geared": np.zeros(N, bool),
        "lower": -wide,
        "upper": wide,
        "soft_band": np.full(N, 0.05),
        "posture": CENTRE,
        "motor": {},
    }
    return Robot(**(fields | changes))


def chirp(amplitude=0.2, low=0.1, high=10.0, time=TIME):
    """The PACE excitation: one linear chirp, its direction and size different from joint to joint."""
    phase = 2 * np.pi * (low * time + (high - low) * time**2 / (2 * time[-1]))
    scale = amplitude * np.tile([0.6, 1.0, 0.8], 4) * np.repeat([1, -1, 1, -1], 3) * np.tile([1, 0.9], 6)
    return CENTRE + np.sin(phase)[:, None] * scale


def steps(seed, time=TIME):
    """Random set-points, two a second."""
    rng = np.random.default_rng(seed)
    return (CENTRE + rng.uniform(-0.2, 0.2, (100, N)))[(2 * time).astype(int)]


def simulate(target, *, stiffness=P, damping=D, delay=0.004, push=0.0, refine=2):
    """I q̈ = P(u(t − T) − q) − D q̇ − d q̇ − τ_f sign q̇ − weight sin q + push, with coupled legs, semi-implicitly.

    Returns positions and drive torques at TIME.
    """
    h = (TIME[1] - TIME[0]) / refine
    fine = np.arange(len(TIME) * refine) * h
    u = np.stack([np.interp(fine - delay, TIME, column) for column in target.T], axis=1)
    mass = np.diag(INERTIA + 0.0)
    for leg in range(0, N, 3):
        mass[leg + 1, leg + 2] = mass[leg + 2, leg + 1] = 0.03
    viscous, friction = 0.15, 0.5
    inverse = np.linalg.inv(mass + h * np.diag(damping + viscous))
    grip = 1.0 / np.diag(inverse)
    q, v = target[0].copy(), np.zeros(N)
    positions, torques = np.empty((2, *target.shape))
    push = np.broadcast_to(push, (len(fine), N))
    for i in range(len(fine)):
        if i % refine == 0:
            positions[i // refine] = q
            torques[i // refine] = stiffness * (u[i] - q) - damping * v
        v = inverse @ (mass @ v + h * (stiffness * (u[i] - q) - WEIGHT * np.sin(q) + push[i]))
        v = v - np.clip(v * grip, -h * friction, h * friction) / grip
        q = q + h * v
    return positions, torques


def measured(target, seed=0, **options):
    """A recording of that motion through 16-bit encoders with a count of noise."""
    q, torque = simulate(target, **options)
    noise = np.random.default_rng(seed).normal(size=q.shape)
    q = np.round((q + COUNT * noise) / COUNT) * COUNT
    p, d = options.get("stiffness", P), options.get("damping", D)
    return Recording(
        joints=JOINTS, time=TIME, target=target, position=q, stiffness=p, damping=d, torque=torque, name=f"chirp{seed}"
    )


@functools.cache
def healthy():
    return measured(chirp())


def problems(*recordings, **changes):
    return [finding for finding in check(robot(**changes), recordings) if finding.level != "ok"]


def only(findings, subject, level):
    """The one problem that was found; every problem says where and what to do."""
    assert {(finding.subject, finding.level) for finding in findings} == {(subject, level)}, findings
    assert all(finding.message and finding.remedy for finding in findings)
    return findings[0]


def with_column(values, joint, column):
    out = np.array(values)
    out[:, JOINTS.index(joint)] = column
    return out


def test_a_healthy_chirp_yields_no_problem_and_every_subject_is_reported_good():
    findings = check(robot(), healthy())
    assert [finding for finding in findings if finding.level != "ok"] == []
    looked = {finding.subject for finding in findings}
    assert looked >= {
        "rate", "jitter", "held samples", "units", "joint order", "time offset", "gains", "saturation", "limits",
        "base sway", "excitation",
    }  # fmt: skip
    assert {finding.joint for finding in findings if finding.subject == "excitation"} == set(JOINTS)


def test_healthy_random_steps_yield_no_problem():
    assert problems(measured(steps(1))) == []


def test_the_same_robot_under_two_stated_gain_sets_is_healthy():
    assert problems(healthy(), measured(chirp(), seed=2, stiffness=0.5 * P)) == []


def test_a_gain_set_that_is_not_what_it_says_makes_the_joints_feel_heavier():
    wrong = measured(chirp(), seed=2, stiffness=0.5 * P).replace(stiffness=P, torque=None)
    finding = only(problems(healthy(), wrong), "gains", "stop")
    assert "chirp0" in finding.message
    assert "chirp2" in finding.message
    assert "with_gains" in finding.remedy


def test_measured_torque_contradicts_a_wrong_gain_in_one_joint():
    recording = healthy().with_gains({"*": 85.0, "LF_KFE": 170.0}, D)
    finding = only(problems(recording), "gains", "stop")
    assert finding.joint == "LF_KFE"
    assert "P = 170" in finding.message


def test_stamps_in_milliseconds_are_recognised_by_the_rate():
    finding = only(problems(healthy().replace(time=1e3 * TIME)), "rate", "stop")
    assert "milliseconds" in finding.message
    assert "0.001" in finding.remedy


@pytest.mark.parametrize(("unit", "factor"), [("milli", 1e-3), ("micro", 1e-6), ("nano", 1e-9), ("minutes", 60), ("days", 86400)])
def test_the_unit_of_the_stamps_is_the_one_that_makes_a_plausible_rate(unit, factor):
    thin = healthy().replace(time=np.arange(len(TIME)) / 2000.0 / factor)
    finding = only(problems(thin), "rate", "stop")
    assert unit in finding.message
    assert f"--time-scale {factor:g} " in finding.remedy


def test_swapped_joints_that_are_told_the_opposite_are_not_only_called_a_sign():
    k = [JOINTS.index(joint) for joint in ("LF_HAA", "RF_HAA")]
    mirrored = chirp()
    mirrored[:, k[1]] = -mirrored[:, k[0]] + CENTRE[k].sum()
    position = np.array(measured(mirrored).position)
    position[:, k] = position[:, k[::-1]] + CENTRE[k] - CENTRE[k[::-1]]
    found = problems(measured(mirrored).replace(position=position, torque=None))
    said = " ".join(finding.message for finding in found if finding.level == "stop")
    assert "swapped" in said
    assert "LF_HAA" in said
    assert "RF_HAA" in said


def test_a_log_of_ten_kilohertz_is_as_slow_as_its_motion():
    fine = np.arange(40000) / 1e4
    joined = [np.stack([np.interp(fine, TIME, c) for c in x.T], axis=1) for x in (healthy().target, healthy().position)]
    joined[1] = np.round(joined[1] / COUNT) * COUNT
    found = check(robot(), Recording(joints=JOINTS, time=fine, target=joined[0], position=joined[1], stiffness=P, damping=D))
    assert [finding for finding in found if finding.subject == "rate" and finding.level != "ok"] == []


def test_a_robot_without_stops_is_not_said_to_be_far_from_them():
    endless = np.full(N, np.inf)
    assert not [f for f in check(robot(lower=-endless, upper=endless), healthy()) if f.subject == "limits"]


def test_beside_a_joint_that_is_stuck_nobody_says_that_all_follow():
    still = CENTRE[0] + COUNT * np.round(np.random.default_rng(1).normal(size=len(TIME)))
    found = check(robot(), healthy().replace(position=with_column(healthy().position, "LF_HAA", still), torque=None))
    assert not [f for f in found if f.subject == "joint order"]


def test_a_log_of_forty_hertz_is_too_slow_for_a_ten_hertz_chirp_and_fast_enough_for_a_slow_one():
    thin = slice(None, None, 10)
    r = healthy()
    slow = r.replace(time=TIME[thin], target=r.target[thin], position=r.position[thin], torque=None)
    assert "rate" in {finding.subject for finding in problems(slow)}
    calm = measured(chirp(high=2.0))
    calm = calm.replace(time=TIME[thin], target=calm.target[thin], position=calm.position[thin], torque=None)
    assert problems(calm) == []


def test_stamps_that_scatter_are_jitter_and_stamps_that_drift_a_little_are_not():
    scatter = np.random.default_rng(0).uniform(-0.45, 0.45, len(TIME)) * 0.0025
    assert {f.subject for f in problems(healthy().replace(time=TIME + scatter, torque=None))} >= {"jitter"}
    assert problems(healthy().replace(time=TIME + 0.02 * scatter)) == []


def test_a_hole_in_the_log_is_a_gap_with_its_place_and_length():
    keep = (TIME < 7.0) | (TIME > 7.1)
    r = healthy()
    holed = r.replace(time=TIME[keep], target=r.target[keep], position=r.position[keep], torque=r.torque[keep])
    finding = only(problems(holed), "gaps", "warn")
    assert "105 ms" in finding.message
    assert "t = 6.9975 s" in finding.message


def test_a_log_that_is_mostly_hole_stops_the_check():
    time = np.where(TIME < 10.0, TIME, TIME + 1e7)
    assert only(problems(healthy().replace(time=time)), "gaps", "stop").remedy.startswith("fit the longest piece")


def test_lost_packets_are_counted_and_mark_held_takes_them_out():
    position = np.array(healthy().position)
    for start in (2000, 3000, 5000):
        position[start : start + 9] = position[start - 1]
    lossy = healthy().replace(position=position)
    finding = only(problems(lossy), "held samples", "warn")
    assert "9 in a row" in finding.message
    assert problems(lossy.mark_held()) == []


def test_an_encoder_refreshed_at_a_hundred_hertz_is_a_staircase():
    r = healthy()
    finding = only(problems(r.replace(position=np.repeat(r.position[::4], 4, axis=0))), "held samples", "warn")
    assert "about 100 Hz and not 400 Hz" in finding.message


def test_a_staircase_command_asks_to_be_held_and_is_content_once_it_is():
    stairs = measured(np.repeat(chirp()[::8], 8, axis=0))
    finding = only(problems(stairs), "command", "warn")
    assert "about 50 Hz" in finding.message
    assert problems(stairs.replace(command_hold=True)) == []


@pytest.mark.parametrize("shift", [0, 3])
def test_a_measurement_that_is_the_command_itself_is_refused(shift):
    copy = with_column(healthy().position, "RF_HFE", np.roll(chirp()[:, JOINTS.index("RF_HFE")], shift))
    finding = only(problems(healthy().replace(position=copy)), "measurement", "stop")
    assert finding.joint == "RF_HFE"


def test_degrees_in_both_columns_are_recognised_and_the_remedy_repairs_them():
    recording = healthy().replace(target=np.rad2deg(healthy().target), position=np.rad2deg(healthy().position))
    finding = only(problems(recording), "units", "stop")
    assert finding.joint == ", ".join(JOINTS)
    assert problems(eval(finding.remedy.split("in Python: ")[1].rstrip(".)") + ")", {"recording": recording})) == []


@pytest.mark.parametrize("channel", ["target", "position"])
def test_degrees_in_one_column_only_name_that_column(channel):
    recording = healthy().replace(**{channel: np.rad2deg(getattr(healthy(), channel))})
    finding = only(problems(recording), "units", "stop")
    assert f"the {channel} is in degrees" in finding.message


def test_an_angle_of_the_motor_beside_one_of_the_joint_is_told_with_side_and_ratio():
    finding = only(problems(healthy().at_joint(1 / 9.1, commanded=False)), "units", "stop")
    assert finding.joint == ", ".join(JOINTS)
    assert "the measured angle is probably the motor's, in front of a gear of ratio 8.88" in finding.message
    assert finding.remedy.startswith("--motor-side measured:LF_HAA=8.88")


def test_a_commanded_angle_of_the_motor_is_known_by_the_robots_gear():
    geared = robot(gear_ratio=np.full((N, 2), 9.1))
    found = check(geared, healthy().at_joint(1 / 9.1, measured=False))
    (finding,) = [f for f in found if f.subject == "units" and f.level == "stop"]
    assert "--motor-side commanded:LF_HAA=9.1, with the exact ratio" in finding.remedy
    assert not [f for f in check(geared, healthy()) if f.subject == "units" and f.level != "ok"]


def test_swapped_joints_are_named_both():
    k = [JOINTS.index(joint) for joint in ("LF_HFE", "RF_HFE")]
    position = np.array(healthy().position)
    position[:, k] = position[:, k[::-1]]
    finding = only(problems(healthy().replace(position=position)), "joint order", "stop")
    assert finding.joint == "LF_HFE, RF_HFE"


def test_a_joint_that_moves_against_its_command_has_the_wrong_sign():
    position = with_column(healthy().position, "LF_KFE", -healthy().position[:, JOINTS.index("LF_KFE")])
    finding = only(problems(healthy().replace(position=position)), "sign", "stop")
    assert finding.joint == "LF_KFE"


def test_a_joint_that_stays_put_does_not_follow():
    still = CENTRE[0] + COUNT * np.round(np.random.default_rng(1).normal(size=len(TIME)))
    recording = healthy().replace(position=with_column(healthy().position, "LF_HAA", still), torque=None)
    found = problems(recording)
    assert {(finding.subject, finding.joint) for finding in found} == {("following", "LF_HAA")}


@pytest.mark.parametrize(("milliseconds", "level"), [(-20, "stop"), (-10, "stop"), (80, "warn")])
def test_a_shifted_measurement_is_a_time_offset_of_that_size(milliseconds, level):
    samples = round(milliseconds / 2.5)
    rolled = {key: np.roll(getattr(healthy(), key), samples, axis=0) for key in ("position", "torque")}
    recording = healthy().replace(**rolled).between(0.25, 19.75)
    finding = only(problems(recording), "time offset", level)
    said = float(finding.message.split(" ms")[0].rsplit(" ", 1)[1]) * (-1 if milliseconds < 0 else 1)
    assert said == pytest.approx(milliseconds + 4, abs=3.0)  # 4 ms are the simulated delay


def test_a_weak_drive_saturates_and_a_strong_one_does_not():
    weak = np.full(N, 80.0)
    weak[JOINTS.index("RH_HFE")] = 20.0
    finding = only(problems(healthy(), torque_limit=weak), "saturation", "warn")
    assert finding.joint == "RH_HFE"
    assert "20 N·m" in finding.message


def test_a_command_faster_than_the_drive_is_saturation_too():
    slow = np.full(N, 4.0)
    found = problems(healthy(), no_load_speed=slow, stall_torque=np.full(N, 500.0))
    assert {finding.subject for finding in found} == {"saturation"}
    assert any("its drive ends at 4 rad/s" in finding.message for finding in found)


def test_a_stop_inside_the_motion_is_a_limit_and_a_foreign_zero_is_worse():
    near, far = (np.full(N, 2.5) for _ in range(2))
    k = JOINTS.index("LF_HFE")
    near[k] = healthy().position[:, k].max() - 0.02
    far[k] = healthy().position[:, k].max() - 0.2
    assert only(problems(healthy(), upper=near), "limits", "warn").joint == "LF_HFE"
    assert only(problems(healthy(), upper=far), "limits", "stop").joint == "LF_HFE"


@pytest.mark.parametrize("frequency", [0.75, 2.0])
def test_a_swaying_base_moves_all_joints_where_nothing_was_commanded(frequency):
    swing = 0.5 * np.sin(2 * np.pi * frequency * np.arange(2 * len(TIME)) / 800.0)
    finding = only(problems(measured(chirp(), push=swing[:, None] * np.tile([0.6, 1.0, 0.5], 4))), "base sway", "warn")
    assert f"{frequency:.2f} Hz" in finding.message


def test_a_loop_that_rings_is_found_above_the_command():
    tone = 40.0 * np.sin(2 * np.pi * 25.0 * np.arange(2 * len(TIME)) / 800.0)
    recording = measured(chirp(), push=tone[:, None] * (np.arange(N) == 4)).replace(torque=None)
    finding = only(problems(recording), "oscillation", "warn")
    assert finding.message.startswith("RF_HFE oscillates at 25.0 Hz")
    assert set(finding.joint.split(", ")) <= {"RF_HAA", "RF_HFE", "RF_KFE"}  # the leg may ring along


def test_a_joint_that_is_never_commanded_cannot_be_identified_unless_another_recording_moves_it():
    resting = measured(with_column(chirp(), "LH_KFE", CENTRE[8]))
    finding = only(problems(resting), "excitation", "stop")
    assert finding.joint == "LH_KFE"
    assert problems(resting, healthy()) == []
    assert problems(resting.prescribe("LH_KFE")) == []


@pytest.mark.parametrize(
    ("target", "word"),
    [
        (chirp(amplitude=0.003), "moved only"),
        (chirp(low=0.01, high=0.1), "reversed only"),
        (chirp(low=0.1, high=0.6), "inertia and delay hardly show"),
    ],
    ids=["small", "few", "slow"],
)
def test_weak_excitation_says_what_is_missing(target, word):
    found = problems(measured(target).replace(torque=None))
    weak = [finding for finding in found if finding.subject == "excitation"]
    assert weak
    assert all(word in finding.message and finding.level == "warn" for finding in weak)


def test_a_recording_of_another_robot_is_named():
    finding = only(problems(healthy().rename({"LF_HAA": "hip"})), "joints", "stop")
    assert finding.joint == "hip"
    finding = only(problems(healthy().select(JOINTS[1:])), "joints", "warn")
    assert finding.joint == "LF_HAA"
    assert "rest at the robot's posture" in finding.message
    finding = only(problems(healthy().prescribe(*JOINTS)), "joints", "stop")
    assert "nothing to identify" in finding.message


def test_another_column_order_is_no_problem():
    assert problems(healthy().ordered_for(JOINTS[::-1])) == []


def test_check_of_nothing_is_an_error():
    with pytest.raises(SurefootError, match="at least one recording"):
        check(robot(), [])


@pytest.mark.parametrize("samples", [16, 17, 100, 900])
@pytest.mark.parametrize("kind", ["constant", "noise", "free", "torque", "slow clock"])
def test_check_speaks_and_never_fails_on_odd_recordings(samples, kind):
    rng = np.random.default_rng(samples)
    flat = np.tile(CENTRE, (samples, 1))
    fields = {"time": np.arange(samples) * 0.0025, "target": flat, "position": flat, "stiffness": P, "damping": D}
    fields |= {
        "constant": {},
        "noise": {"target": rng.normal(size=flat.shape), "position": rng.normal(size=flat.shape)},
        "free": {"enabled": np.zeros(flat.shape), "position": flat + 0.1 * np.cos(fields["time"])[:, None]},
        "torque": {"stiffness": 0 * P, "feedforward": rng.normal(size=flat.shape), "torque": flat},
        "slow clock": {"time": np.arange(samples) * 10.0},
    }[kind]
    findings = check(robot(), Recording(joints=JOINTS, **fields))
    assert {finding.level for finding in findings} & {"stop", "warn"}
    assert all(finding.remedy for finding in findings if finding.level != "ok")
