"""The command that a drive sees: û(t) = target(t − T_d), on any stamps, in any lane. A stiff, light slide shows it."""

import numpy as np
import pytest
from rigs import load

from surefoot.record.recording import Recording
from surefoot.robot.dynamics import JointDynamics
from surefoot.simulate.inair import InAir
from surefoot.simulate.physics import Physics

MASS = """<mujoco><option gravity="0 0 0"/><worldbody><body><joint name="x" type="slide" axis="1 0 0"/>
  <inertial pos="0 0 0" mass="1e6" diaginertia="1 1 1"/></body></worldbody></mujoco>"""
"""So heavy that it stands: the drive's force is then P times the command, and nothing else."""


def command_seen(time: np.ndarray, target: np.ndarray, delays: np.ndarray, *, hold: bool, timestep: float) -> np.ndarray:
    """û of each lane at the physics steps, read from the drive's force at stamps (which are steps here)."""
    robot = load(MASS, stiffness=[1.0], damping=[0.0])
    recording = Recording(joints=("x",), time=time, target=target[:, None], position=np.zeros((len(time), 1)), stiffness=[1.0],
                          damping=[0.0], command_hold=hold)  # fmt: skip
    zero = np.zeros((len(delays), 1))
    dynamics = JointDynamics(joints=("x",), armature=zero, damping=zero, friction=zero, bias=zero, delay=delays[:, None])
    force = InAir(robot, recording, Physics(timestep=timestep)).trajectories(dynamics, torque=True)[1]
    return force[:, :, 0]


def wanted(time: np.ndarray, target: np.ndarray, delays: np.ndarray, *, hold: bool, timestep: float) -> np.ndarray:
    """The target then; a held one on average over the step, each command for as long as it is in force."""
    when = time[None] - delays[:, None]
    if not hold:
        return np.interp(when, time, target)
    out = np.zeros_like(when)
    for j, value in enumerate(target):  # how long each command is in force during the step
        begin = -np.inf if j == 0 else time[j]
        end = np.inf if j == len(time) - 1 else time[j + 1]
        out += value * np.clip(np.minimum(when + timestep, end) - np.maximum(when, begin), 0, None) / timestep
    return out


@pytest.mark.parametrize("hold", [False, True])
@pytest.mark.parametrize("spread", [0.0, 0.002, 0.03])
def test_on_a_regular_clock_each_lane_sees_its_own_past(hold, spread):
    rng = np.random.default_rng(0)
    time, target = np.arange(200) * 0.0025, rng.normal(size=200)
    delays = 0.0051 + np.linspace(0, spread, 11)
    seen = command_seen(time, target, delays, hold=hold, timestep=0.0025)
    np.testing.assert_allclose(seen, wanted(time, target, delays, hold=hold, timestep=0.0025), atol=1e-8)


@pytest.mark.parametrize("hold", [False, True])
def test_on_an_irregular_clock_too(hold):
    rng = np.random.default_rng(1)
    time = np.cumsum(rng.integers(1, 6, size=150)) * 0.001
    time, target = time - time[0], rng.normal(size=150)
    delays = np.sort(rng.uniform(0, 0.05, 13))
    seen = command_seen(time, target, delays, hold=hold, timestep=0.001)
    np.testing.assert_allclose(seen, wanted(time, target, delays, hold=hold, timestep=0.001), atol=1e-8)


@pytest.mark.parametrize("timestep", [0.0025, 0.00125])
@pytest.mark.parametrize("steps", [1, 2, 7])
def test_a_held_command_delayed_by_whole_samples_is_the_sample_of_then(steps, timestep):
    """Rounding of the clock does not make it the sample before: neither lanes in step nor lanes one by one."""
    time, target = np.arange(64) * 0.0025, np.random.default_rng(2).normal(size=64)
    seen = command_seen(time, target, np.full(3, steps * 0.0025), hold=True, timestep=timestep)
    np.testing.assert_allclose(seen[:, steps:], np.tile(target[:-steps], (3, 1)), atol=1e-8)


def test_a_delay_longer_than_the_recording_leaves_the_first_command_standing():
    time, target = np.arange(64) * 0.0025, np.linspace(1, 2, 64)
    seen = command_seen(time, target, np.array([0.5, 1.0]), hold=False, timestep=0.0025)
    np.testing.assert_allclose(seen, 1.0, atol=1e-8)
