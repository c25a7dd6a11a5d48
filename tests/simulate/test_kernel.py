"""Each feature of the kernel against MuJoCo, one `mj_step` after another."""

from typing import Any

import mujoco
import numpy as np
import pytest
from rigs import both, candidates, chirp, load, random_tree, shaft, simulated, tree

from surefoot.robot.drive import drive_torque, torque_bounds
from surefoot.simulate.inair import InAir, smoothing
from surefoot.simulate.physics import Physics

INF = np.inf
LIMIT = {"torque_limit": [6.0, 5.0, 30.0, INF, 3.0]}
ENVELOPE = {"stall_torque": [8.0, 12.0, INF, 4.0, 6.0], "no_load_speed": [3.0, 6.0, INF, 4.0, 2.0]}
GEARS = {
    "geared": [False, True, False, True, False],
    "gear_position": np.tile([-0.3, 0.1, 0.5], (5, 1)),
    "gear_ratio": [[np.nan] * 3, [1.0, 2.0, 1.2], [np.nan] * 3, [0.8, 1.5, 3.0], [np.nan] * 3],
}
GEARED = {
    "torque_limit": [6.0, 3.0, INF, INF, 3.0],
    "stall_torque": [INF, 7.0, INF, 2.0, INF],
    "no_load_speed": [INF, 9.0, INF, 7.0, INF],
}


def wave(scale: float) -> Any:
    return lambda robot, time: scale * robot.stiffness * np.sin(7 * time)[:, None] * np.ones(robot.n)


def blink(robot: Any, time: np.ndarray) -> np.ndarray:
    return (time[:, None] + 0.1 * np.arange(robot.n)) % 0.5 > 0.15


CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "torque limit": {"robot": LIMIT, "clamped": True},
    "envelope": {"robot": ENVELOPE, "clamped": True},
    "limit and envelope": {"robot": LIMIT | ENVELOPE, "clamped": True},
    "gear table": {"robot": GEARS | GEARED, "clamped": True},
    "target velocity": {"recording": {"target_velocity": wave(0.02)}},
    "feed-forward": {"recording": {"feedforward": wave(0.1)}},
    "target velocity and feed-forward": {"recording": {"target_velocity": wave(0.02), "feedforward": wave(0.1)}},
    "disabled drive": {"recording": {"enabled": blink}},
    "disabled drive, limited": {"recording": {"enabled": blink}, "robot": LIMIT | ENVELOPE, "clamped": True},
    "held command": {"recording": {"command_hold": True}},
    "joint delays": {"dynamics": {"delay": lambda rng, shape: rng.uniform(0, 0.015, shape)}},
    "torque delay": {"physics": {"delay_on": "torque"}},
    "torque delay per joint, limited": {
        "physics": {"delay_on": "torque"}, "robot": LIMIT, "clamped": True,
        "dynamics": {"delay": lambda rng, shape: rng.uniform(0, 0.01, shape)},
    },
    "cutoff": {"dynamics": {"cutoff": lambda rng, shape: rng.uniform(20, 80, (shape[0], 1))}},
    "tilt": {"dynamics": {"tilt": lambda rng, shape: rng.uniform(-0.3, 0.3, (shape[0], 2))}},
    "load": {"dynamics": {"load": lambda rng, shape: rng.normal(size=shape)}},
    "breakaway": {
        "dynamics": {
            "breakaway": lambda rng, shape: rng.uniform(0, 2, shape),
            "stribeck_speed": lambda rng, shape: rng.uniform(0.05, 0.5, (shape[0], 1)),
        }
    },
    "load friction": {"dynamics": {"load_friction": lambda rng, shape: rng.uniform(0, 0.5, shape)}},
    "load friction, torque delay, limited": {
        "physics": {"delay_on": "torque"}, "robot": LIMIT, "clamped": True,
        "dynamics": {"load_friction": lambda rng, shape: rng.uniform(0, 0.5, shape)},
    },
    "gain scale": {"dynamics": {"gain_scale": lambda rng, shape: rng.uniform(0.6, 1.5, (shape[0], 1))}},
    "set-point bias": {"physics": {"bias_form": "setpoint"}},
    "1 ms": {"physics": {"timestep": 0.001}},
    "5 ms": {"physics": {"timestep": 0.005}},
    "a step that is no part of the sample time": {"physics": {"timestep": 0.0017}},
    "prescribed": {"recording": {"prescribed": ("pitch",)}, "tolerance": 1e-9},
    "prescribed tip and a whole branch": {"recording": {"prescribed": ("wag", "lone")}, "tolerance": 1e-9},
    "measured start velocity": {"recording": {"velocity": lambda robot, time: np.full((len(time), robot.n), 0.3)}},
    "all at once": {
        "robot": LIMIT | ENVELOPE, "clamped": True, "physics": {"timestep": 0.002}, "tolerance": 1e-9,
        "recording": {"enabled": blink, "feedforward": wave(0.05), "target_velocity": wave(0.01), "prescribed": ("roll",)},
        "dynamics": {
            "delay": lambda rng, shape: rng.uniform(0, 0.01, shape),
            "load": lambda rng, shape: rng.normal(size=shape),
            "breakaway": lambda rng, shape: rng.uniform(0, 1, shape),
            "load_friction": lambda rng, shape: rng.uniform(0, 0.3, shape),
            "tilt": lambda rng, shape: rng.uniform(-0.2, 0.2, (shape[0], 2)),
            "cutoff": lambda rng, shape: rng.uniform(30, 80, (shape[0], 1)),
            "gain_scale": lambda rng, shape: np.full((shape[0], 1), 1.2),
        },
    },
}  # fmt: skip


def setting(case: dict[str, Any], *, seconds: float = 1.0) -> tuple[Any, Any, Any, Physics]:
    """The robot, recording, candidates and physics of a case."""
    robot = tree(**case.get("robot", {}))
    time = np.arange(round(seconds * 400)) / 400
    channels = {k: v(robot, time) if callable(v) else v for k, v in case.get("recording", {}).items()}
    rng, shape = np.random.default_rng(7), (2, robot.n)
    extra = {k: v(rng, shape) for k, v in case.get("dynamics", {}).items()}
    return (
        robot,
        chirp(robot, seconds=seconds, **channels),
        candidates(robot, 2, seed=1, **extra),
        Physics(**case.get("physics", {})),
    )


@pytest.mark.parametrize("name", CASES)
def test_the_kernel_moves_as_mujoco_does(name):
    case = CASES[name]
    robot, recording, dynamics, physics = setting(case)
    (q, torque, saturated), (q_ref, torque_ref, saturated_ref) = both(robot, recording, dynamics, physics)
    tolerance = case.get("tolerance", 1e-11)
    np.testing.assert_allclose(q, q_ref, atol=tolerance, rtol=0)
    np.testing.assert_allclose(torque, torque_ref, atol=1e4 * tolerance, rtol=0)
    np.testing.assert_array_equal(saturated, saturated_ref)
    assert bool(saturated.any()) == case.get("clamped", False)
    assert np.ptp(q_ref, axis=1).min() > 0.005  # every joint moves


@pytest.mark.parametrize(
    "name", [n for n in CASES if n not in ("plain", "held command") and "step" not in n and not n.endswith(" ms")]
)
def test_the_feature_makes_a_difference(name):
    """Without it the motion is another one: the comparison above would notice if both sides forgot it."""
    robot, recording, dynamics, physics = setting(CASES[name], seconds=0.5)
    bare, plain, base, _ = setting({}, seconds=0.5)
    q, q_bare = simulated(robot, recording, dynamics, physics), simulated(bare, plain, base)
    assert np.abs(q - q_bare).max() > 1e-5


@pytest.mark.parametrize("hold", [False, True])
@pytest.mark.parametrize("timestep", [0.0025, 0.001])
def test_irregular_stamps_are_met_where_they_are(hold, timestep):
    rng = np.random.default_rng(4)
    time = 12.3 + np.cumsum(rng.choice([0.0007, 0.0025, 0.0031, 0.012], size=300))
    robot = tree()
    recording = chirp(robot, time=time, seconds=time[-1] - time[0], top=1.0, amplitude=0.15, command_hold=hold)
    ours, theirs = both(robot, recording, candidates(robot, 2), Physics(timestep=timestep))
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-11)


def test_a_score_is_the_mean_square_of_the_valid_errors():
    robot = tree()
    rng = np.random.default_rng(0)
    recording = chirp(robot, valid=rng.uniform(size=(480, 5)) > 0.4)
    dynamics = candidates(robot, 5)
    error = simulated(robot, recording, dynamics) - recording.position
    expected = (error**2 * recording.valid).sum(1) / recording.valid.sum(0)
    np.testing.assert_allclose(InAir(robot, recording, Physics()).scores(dynamics), expected, rtol=1e-10)
    unmasked = InAir(robot, recording.replace(valid=None), Physics()).scores(dynamics)
    np.testing.assert_allclose(unmasked, (error**2).mean(1), rtol=1e-10)
    assert not np.allclose(unmasked, expected, rtol=1e-3)


def test_single_precision_stays_close_to_double():
    robot = tree(**LIMIT)
    recording = chirp(robot, position=np.zeros((480, 5)))
    dynamics = candidates(robot, 9)
    double, single = (InAir(robot, recording, Physics(), dtype=dtype) for dtype in ("float64", "float32"))
    assert np.abs(double.trajectories(dynamics)[0] - single.trajectories(dynamics)[0]).max() < 1e-4
    np.testing.assert_allclose(single.scores(dynamics), double.scores(dynamics), rtol=1e-3)


@pytest.mark.parametrize("cutoff", [INF, 40.0])
def test_the_drive_in_the_kernel_is_the_one_of_robot_drive(cutoff):
    """Fed with noise, at every state that the joints run through: limits, envelope, gear table, disabled drives."""
    rng = np.random.default_rng(11)
    robot = tree(**(GEARS | GEARED))
    shape = (400, robot.n)
    noise = {
        "target": robot.posture + rng.normal(size=shape) * 0.2, "target_velocity": rng.normal(size=shape),
        "feedforward": rng.normal(size=shape), "enabled": rng.uniform(size=shape) > 0.2,
    }  # fmt: skip
    recording = chirp(robot, seconds=1.0, position=np.tile(robot.posture, (400, 1)), **noise)
    dynamics = candidates(robot, 20, delay=np.zeros((20, 1)), cutoff=np.full((20, 1), cutoff))
    encoder, torque, _ = InAir(robot, recording, Physics()).trajectories(dynamics, torque=True)
    q = encoder + dynamics.bias[:, None]
    v = np.diff(q, axis=1, prepend=q[:, :1]) / 0.0025
    seen, share = np.zeros_like(v), smoothing(dynamics.cutoff, 0.0025)
    for i in range(400):
        old = seen[:, i - 1] if i else 0.0
        seen[:, i] = old + share * (v[:, i] - old)
    expected = drive_torque(
        robot, recording.target, q, v, stiffness=recording.stiffness, damping=recording.damping, bias=dynamics.bias[:, None],
        target_velocity=recording.target_velocity, feedforward=recording.feedforward, enabled=recording.enabled,
        filtered_velocity=seen,
    )  # fmt: skip
    np.testing.assert_allclose(torque, expected, atol=1e-9)
    low, high = torque_bounds(robot, q, v)
    on = np.broadcast_to(recording.enabled, torque.shape)
    assert ((torque >= high) & on).any(axis=(0, 1))[[0, 1, 3, 4]].all()
    assert ((torque <= low) & on).any(axis=(0, 1))[[0, 1, 3, 4]].all()


def test_without_gravity_friction_and_drive_a_joint_coasts():
    robot = shaft(stiffness=[0.0], damping=[0.0])
    recording = chirp(robot, velocity=np.full((480, 1), 2.0), feedforward=np.zeros((480, 1)))
    zero = np.zeros((1, 1))
    dynamics = candidates(robot).replace(armature=zero, damping=zero, friction=zero, bias=zero)
    np.testing.assert_allclose(simulated(robot, recording, dynamics)[0, :, 0], 2.0 * recording.time, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_a_robot_of_random_shape_moves_as_in_mujoco(seed):
    """Forks, slides, two joints in a body, welded bodies, anchors and references; gains in proportion to its inertias."""
    rng = np.random.default_rng(seed)
    kinds = [["hinge"], ["slide"], ["hinge", "hinge"], ["slide", "hinge"], []]
    spec = random_tree([(int(rng.integers(100)), kinds[k]) for k in (0, *rng.permutation(5))], rng)
    model = spec.compile()
    data, inertia = mujoco.MjData(model), np.zeros((model.nv, model.nv))
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, data, inertia)
    size = np.diag(inertia)
    robot = load(spec.to_xml(), stiffness=size * 20**2, damping=size * 20)
    ours, theirs = both(robot, chirp(robot), candidates(robot, 3))
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-10)
