"""The second implementation of the world: the same code above it, MuJoCo Warp on the CPU below it."""

import numpy as np
import pytest
from walkers import placed, start

from surefoot import Robot, SurefootError
from surefoot.robot.dynamics import JointDynamics

pytest.importorskip("mujoco_warp", reason="MuJoCo Warp is not installed")
ANYMAL = Robot.load("anymal")


def test_a_walk_of_two_robots_is_the_same_to_float32_accuracy():
    """Feet press into the ground from the start: touching it exactly, rounding would decide which foot lands first."""
    rng = np.random.default_rng(0)
    targets = ANYMAL.posture + 0.1 * rng.normal(size=(10, 2, 12))
    rollouts = []
    for engine in ("batch", "warp"):
        world = placed(ANYMAL, robots=2, lift=-0.005, engine=engine)
        world.friction[:] = 0.4, 1.2
        world.wrench[1] = 20.0, 10.0, 0.0, 1.0, 2.0, 3.0
        world.push(np.array([0]), np.array([[0.2, 0.1, 0.0, 0.0, 0.0, 0.3]]))
        rollouts.append([(world.step(target), world.read()) for target in targets])
    for (motion, state), (warp_motion, warp_state) in zip(*rollouts, strict=True):
        for name in ("position", "quaternion", "joint_position", "foot_position"):
            np.testing.assert_allclose(getattr(warp_state, name), getattr(state, name), atol=2e-5)
        np.testing.assert_allclose(warp_motion.torque, motion.torque, atol=2e-2)
        np.testing.assert_allclose(warp_motion.com_velocity, motion.com_velocity, atol=2e-4)
        np.testing.assert_array_equal(warp_state.foot_contact, state.foot_contact)
    assert np.abs(rollouts[0][-1][1].position[0] - rollouts[0][-1][1].position[1]).max() > 1e-3


def test_a_lost_robot_starts_again():
    world = placed(ANYMAL, robots=2, lift=0.1, engine="warp")
    world.reset(np.array([1]), start(world, ANYMAL, 1, lift=0.1, rate=np.array([[0.0, 0.0, 2e3]])))
    motion = world.step(np.tile(ANYMAL.posture, (2, 1)))
    assert motion.diverged.tolist() == [False, True]
    assert world.diverged == 1
    assert np.isfinite(world.read().joint_position).all()


def test_robots_of_different_dynamics_are_refused():
    dynamics = JointDynamics.stack([ANYMAL.dynamics] * 2)
    with pytest.raises(SurefootError, match="takes one set of joint dynamics"):
        placed(ANYMAL, robots=2, dynamics=dynamics, engine="warp")
