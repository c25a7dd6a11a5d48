"""Walks in numbers, on walks that are known: made of formulas, not of robots."""

import numpy as np
import pytest

from surefoot import Robot, SurefootError
from surefoot.analyze.run import fall
from surefoot.analyze.walking import (
    agreement,
    base_motion,
    density,
    limit_cycle,
    moving_mean,
    spectrum,
    step_response,
    stride,
    torque_tracking,
    walking,
)
from surefoot.record.run import Phase, Run

ROBOT = Robot.load("anymal")
TIME = np.arange(0.0, 9.0, 0.0025)


def made(*, speed=0.85, lag=0.3, command=(1.0, 0.0, 0.0), heading=0.0, falls=np.inf, gait=0.0, **more):
    """A walk from 1 s on, with a step of the command at 2 s that is followed with a lag [s], along any heading."""
    axis = int(np.abs(command).argmax())
    told = np.where(TIME[:, None] >= 2.0, np.array(command), 0.0)
    way = np.sign(command[axis]) * speed * (1 - np.exp(-np.maximum(TIME - 2.0, 0) / lag)) + gait * np.sin(8 * np.pi * TIME)
    base = np.zeros((len(TIME), 3))
    base[:, axis] = way
    c, s = np.cos(heading), np.sin(heading)
    linear = base[:, :2] @ np.array([[c, s], [-s, c]]) if axis < 2 else np.zeros((len(TIME), 2))
    lean = np.where(falls < TIME, 1.5, 0.0)
    turn = np.column_stack([np.cos(heading / 2) * np.cos(lean / 2), np.cos(heading / 2) * np.sin(lean / 2),
                            np.sin(heading / 2) * np.sin(lean / 2), np.sin(heading / 2) * np.cos(lean / 2)])  # fmt: skip
    channels = {
        "phase": np.where(TIME >= 1.0, Phase.WALKING, Phase.RISING), "command": told,
        "true_velocity": np.column_stack([linear, 0 * TIME]), "true_orientation": turn,
        "true_angular_velocity": np.column_stack([0 * TIME, 0 * TIME, base[:, 2]]),
        "true_position": np.tile([0.0, 0.0, 0.55], (len(TIME), 1)),
    } | more  # fmt: skip
    return Run(robot="anymal", joints=ROBOT.joints, feet=("a", "b", "c", "d"), mass=52.8, time=TIME, channels=channels)


# --- steps ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("heading", [0.0, 2.1])
@pytest.mark.parametrize("command", [(1.0, 0, 0), (0, 1.0, 0), (0, -1.0, 0), (0, 0, 2.0)])
def test_a_step_that_is_followed_to_85_percent_has_an_error_of_15(command, heading):
    """Whatever the axis and wherever the robot looks; it has risen to 90 % of its own steady speed after 2.3 lags."""
    answer = step_response(made(command=command, heading=heading, speed=0.85 * np.abs(command).max()))
    assert answer.command == command[answer.axis]
    assert answer.error == pytest.approx(0.15, abs=1e-3)
    assert answer.rise == pytest.approx(0.3 * np.log(10), abs=0.06)  # smoothing is symmetric: no lag of its own
    assert answer.fell == np.inf
    assert abs(answer.overshoot) < 0.01


def test_the_steady_state_ends_where_the_way_is_made():
    """4 m at 0.85 m/s take 5 s from the step on; what comes after is not looked at."""
    run = made()
    late = dict(run.channels) | {"true_velocity": np.where(TIME[:, None] > 7.3, 9.0, run["true_velocity"])}
    spoilt = Run(robot="anymal", joints=ROBOT.joints, feet=run.feet, mass=52.8, time=TIME, channels=late)
    assert step_response(spoilt, distance=4.0).steady == pytest.approx(0.85, abs=1e-3)
    assert step_response(spoilt).steady > 2.0


def test_the_gait_s_swing_is_spread_and_not_error():
    answer = step_response(made(gait=0.2))
    assert answer.steady == pytest.approx(0.85, abs=5e-3)
    assert answer.spread == pytest.approx(0.2 / np.sqrt(2), rel=0.02)
    at = np.linspace(0, 2, 400)
    violin = density(answer.samples, at)
    assert np.trapezoid(violin, at) == pytest.approx(1.0, abs=0.01)
    assert violin[np.abs(at - 0.85) < 0.01].mean() < violin.max()  # a sine is most often at its ends


def test_a_fall_leaves_no_steady_state():
    run = made(falls=4.5)
    assert fall(run) == pytest.approx(3.5, abs=0.01)  # since the walk began
    answer = step_response(run)
    assert answer.fell == pytest.approx(2.5, abs=0.01)  # since the step
    assert np.isnan(answer.steady)
    low = made(true_position=np.column_stack([TIME, TIME, np.where(TIME > 6, 0.2, 0.55)]))
    assert fall(low) == pytest.approx(5.0, abs=0.01)
    assert fall(made()) == np.inf


def test_without_the_truth_the_estimate_counts():
    run = made()
    blind = {k: v for k, v in run.channels.items() if not k.startswith("true")}
    blind |= {"linear_velocity": np.tile([0.3, 0.1, 0.0], (len(TIME), 1)), "gravity": np.tile([0, 0, -1.0], (len(TIME), 1)),
              "angular_velocity": np.tile([0.0, 0, 0.2], (len(TIME), 1))}  # fmt: skip
    own = Run(robot="anymal", joints=ROBOT.joints, feet=run.feet, mass=52.8, time=TIME, channels=blind)
    np.testing.assert_allclose(base_motion(own)[0], [0.3, 0.1, 0.2])
    assert fall(own) == np.inf


def test_a_walk_without_a_step_is_told():
    with pytest.raises(SurefootError, match="no step"):
        step_response(made(command=(0.0, 0.0, 0.0)))


def test_a_damped_robot_may_lie_down_and_one_that_was_damped_because_it_leant_fell():
    """Lying down at the end is no fall; leaning 58° in the last row before the watchdog stopped the walk is one."""
    phase = np.where(TIME < 1, Phase.RISING, np.where(TIME < 8, Phase.WALKING, Phase.DAMPED))
    lies = {"phase": phase, "true_position": np.column_stack([TIME, TIME, np.where(TIME > 8.2, 0.1, 0.55)])}
    assert fall(made(**lies)) == np.inf
    lean = np.radians(58) * (TIME > 7.99)
    turn = np.column_stack([np.cos(lean / 2), np.sin(lean / 2), 0 * TIME, 0 * TIME])
    run = made(**lies, true_orientation=turn)
    assert fall(run) == np.inf
    stopped = Run(robot="anymal", joints=ROBOT.joints, feet=run.feet, mass=5.0, time=TIME, channels=run.channels, stop="leans")
    assert fall(stopped) == pytest.approx(7.0, abs=0.01)


# --- the gait ---------------------------------------------------------------------------------------------------------------
def swing(noise=0.0, drift=0.0):
    t = np.arange(0, 6, 0.0025)
    rng = np.random.default_rng(0)
    phase = 2 * np.pi * t / 0.5 + drift * t**2
    return t, 0.3 * np.sin(phase) + 0.1 * np.sin(2 * phase) + noise * rng.standard_normal(len(t))


def test_a_spectrum_shows_each_sine_with_its_amplitude():
    f, amplitude = spectrum(*swing())
    assert amplitude[np.abs(f - 2.0).argmin()] == pytest.approx(0.3, rel=0.01)
    assert amplitude[np.abs(f - 4.0).argmin()] == pytest.approx(0.1, rel=0.02)
    assert amplitude[(f > 5)].max() < 1e-3


def test_a_stride_is_found_and_not_its_double():
    assert stride(*swing(noise=0.02)) == pytest.approx(0.5, abs=2e-3)
    t, _ = swing()
    assert np.isnan(stride(t, np.random.default_rng(1).standard_normal(len(t))))
    assert np.isnan(stride(t, np.zeros(len(t))))


def test_a_limit_cycle_is_one_stride_and_its_scatter_the_noise():
    t, q = swing(noise=0.02)
    cycle = limit_cycle(t, q, np.gradient(q, t))
    clean = swing()[1]
    assert cycle.period == pytest.approx(0.5, abs=2e-3)
    assert np.ptp(cycle.position) == pytest.approx(np.ptp(clean), rel=0.05)
    assert np.median(cycle.position_spread) == pytest.approx(0.02, rel=0.3)
    assert cycle.scatter < 0.15
    assert limit_cycle(*swing(drift=2.0), np.zeros(2400)) is None or limit_cycle(*swing(drift=2.0), np.zeros(2400)).scatter > 0.15
    assert limit_cycle(t, np.zeros(len(t)), np.zeros(len(t))) is None


def test_smoothing_keeps_a_line_and_takes_a_sine_of_its_width_away():
    t = np.arange(0, 4, 0.01)
    np.testing.assert_allclose(moving_mean(t, 2 * t, 0.5)[50:-50], 2 * t[50:-50])
    assert np.abs(moving_mean(t, np.sin(4 * np.pi * t), 0.5)[50:-50]).max() < 0.05


# --- hardware beside simulation ---------------------------------------------------------------------------------------------
def test_two_walks_that_are_the_same_agree_and_others_differ_by_what_they_differ():
    same = agreement(made(), made())
    assert same.difference.max() == 0
    assert same.explained[0] == 1
    assert np.isnan(same.explained[1])  # nobody moved sideways
    apart = agreement(made(), made(speed=0.65, lag=1e-3))
    assert 0.1 < apart.difference[0] < 0.2
    assert apart.difference[1] == pytest.approx(0, abs=1e-12)


def test_only_the_time_before_a_fall_is_compared():
    assert agreement(made(), made(falls=5.0)).difference.max() < 1e-9


def test_torque_that_follows_the_law_tracks_exactly_and_late_torque_does_not():
    """τ = P(û − q) − D q̇ with the target of the row before; the same torque looked at with a delay that is not there is worse."""
    rng = np.random.default_rng(2)
    q = ROBOT.posture + 0.1 * np.sin(2 * np.pi * TIME[:, None] + rng.uniform(0, 6, 12))
    v = np.gradient(q, TIME, axis=0)
    target = q + 0.05 * np.sin(12 * TIME[:, None] + rng.uniform(0, 6, 12))
    torque = ROBOT.stiffness * (np.roll(target, 1, axis=0) - q) - ROBOT.damping * v
    run = made(target=target, position=q, velocity=v, torque=torque)
    assert torque_tracking(run, ROBOT).rms.max() < 1e-9
    assert torque_tracking(run, ROBOT, delay=0.01).relative.min() > 0.02
    assert walking(run).sum() == (TIME >= 1.0).sum()
