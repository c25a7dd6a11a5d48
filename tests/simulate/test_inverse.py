import numpy as np
from rigs import PENDULUM, candidates, chirp, load, simulated, tree

from surefoot.simulate.inverse import link_torque


def test_a_pendulum_needs_its_inertia_and_its_weight():
    robot = load(PENDULUM.replace("<joint", '<joint armature="3" damping="7" frictionloss="5"'), stiffness=[1.0], damping=[1.0])
    q, v, a = np.random.default_rng(0).normal(size=(3, 20, 1))
    expected = (0.01 + 1.2 * 0.09) * a + 1.2 * 9.81 * 0.3 * np.sin(q)  # none of the joint's own armature, damping, friction
    np.testing.assert_allclose(link_torque(robot, robot.joints, q, v, a), expected, rtol=1e-10)


def test_it_gives_back_the_torque_that_moved_a_simulated_robot():
    robot = load(PENDULUM, stiffness=[60.0], damping=[2.0])
    recording = chirp(robot, top=2.0, seconds=2.0)
    zero = np.zeros((1, 1))
    free = candidates(robot, friction=0, bias=zero, delay=zero).replace(armature=zero, damping=zero)
    q = simulated(robot, recording, free)[0]
    v = np.gradient(q, 0.0025, axis=0)
    needed = link_torque(robot, robot.joints, q, v, np.gradient(v, 0.0025, axis=0))
    drive = robot.stiffness * (recording.target - q) - robot.damping * v
    inner = slice(20, -20)
    assert np.abs(needed - drive)[inner].max() < 0.05 * np.abs(drive).max()


def test_the_columns_are_the_joints_that_were_asked_for():
    robot = tree()
    q, v, a = np.random.default_rng(1).normal(size=(3, 4, 5)) * 0.3
    turned = robot.joints[::-1]
    back = link_torque(robot, turned, q[:, ::-1], v[:, ::-1], a[:, ::-1])[:, ::-1]
    np.testing.assert_allclose(back, link_torque(robot, robot.joints, q, v, a), rtol=1e-12)
