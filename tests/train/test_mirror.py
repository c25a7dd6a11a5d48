"""Mirror images: derived from the robot, their own inverse, and true in the world that is mirrored."""

import numpy as np
import pytest

from surefoot.errors import SurefootError
from surefoot.robot import Robot
from surefoot.robot.symmetry import symmetries
from surefoot.simulate.on_ground import make_world
from surefoot.simulate.physics import Physics
from surefoot.simulate.terrain import SCAN
from surefoot.simulate.world import Start
from surefoot.train.run import mirrors, standing_feet
from surefoot.train.symmetry import mirror

NAMES = ("action", "policy", "critic")


def world_of(robot, dynamics, robots=1):
    return make_world(robot, dynamics, physics=Physics(timestep=0.005), robots=robots, substeps=4, threads=1)


@pytest.mark.parametrize(("name", "planes", "images"), [("anymal", 2, 3), ("minimal", 2, 3), ("tytan", 1, 1)])
def test_two_planes_make_three_images(name, planes, images):
    robot = Robot.load(name)
    assert len(symmetries(robot)) == planes
    assert len(mirrors(robot, world_of(robot, robot.dynamics))) == images


def test_mirrored_twice_is_the_original(anymal):
    rng = np.random.default_rng(0)
    for image in mirrors(anymal, world_of(anymal, anymal.dynamics)):
        for name, size in (("action", 12), ("policy", 48), ("critic", 353)):
            values = rng.normal(size=(5, size))
            np.testing.assert_array_equal(getattr(image, name)(getattr(image, name)(values)), values)


def test_the_third_image_is_both_planes_in_either_order(anymal):
    one, two, both = mirrors(anymal, world_of(anymal, anymal.dynamics))
    values = np.random.default_rng(1).normal(size=353)
    np.testing.assert_array_equal(both.critic(values), two.critic(one.critic(values)))
    np.testing.assert_array_equal(both.critic(values), one.critic(two.critic(values)))


def test_left_and_right_by_hand(anymal):
    """Seen in a mirror, a robot that moves left moves right, one that turns left turns right, and LF does what RF did."""
    (plane,) = [p for p in symmetries(anymal) if p.plane == "left-right"]
    image = mirror(plane, standing_feet(anymal, world_of(anymal, anymal.dynamics)), SCAN)
    policy = np.zeros(48)
    policy[:12] = [0.5, 0.2, 0.1, 0.3, 0.4, 0.6, 0.1, 0.2, -0.9, 0.5, 0.2, 0.7]
    policy[12 + anymal.index("RF_HAA")], policy[12 + anymal.index("RF_KFE")] = 0.3, -0.4
    seen = image.policy(policy)
    assert seen[:12] == pytest.approx([0.5, -0.2, 0.1, -0.3, 0.4, -0.6, 0.1, -0.2, -0.9, 0.5, -0.2, -0.7])
    assert seen[12 + anymal.index("LF_HAA")] == pytest.approx(-0.3)
    assert seen[12 + anymal.index("LF_KFE")] == pytest.approx(-0.4)
    critic = np.zeros(353)
    critic[48:59] = [1, 2, 3, 4, 5, 6, 0.8, 1, 0, 0, 1]  # wrench, friction, feet in contact
    assert image.critic(critic)[48:59] == pytest.approx([1, -2, 3, -4, 5, -6, 0.8, 0, 1, 1, 0])


def test_the_scan_is_mirrored_point_by_point(anymal):
    """The value at (x, y) comes from (x, −y) in the left-right mirror and from (−x, y) in the other."""
    feet = standing_feet(anymal, world_of(anymal, anymal.dynamics))
    scan = 10 * SCAN[:, 0] + SCAN[:, 1]
    for plane in symmetries(anymal):
        x, y = (SCAN * plane.polar[:2]).T
        critic = np.concatenate([np.zeros(59), scan])
        assert mirror(plane, feet, SCAN).critic(critic)[59:] == pytest.approx(10 * x + y)


def test_a_mirrored_robot_walks_the_mirrored_way(anymal, even):
    """Drive a robot and its image with each other's mirrored actions: after 20 steps in contact both are still images."""
    for plane in symmetries(anymal):
        world = world_of(anymal, even, robots=2)
        feet = standing_feet(anymal, world)
        image = mirror(plane, feet, SCAN)
        rng = np.random.default_rng(3)
        q = 0.1 * rng.normal(size=12)
        velocity, rate = np.array([0.4, 0.2, -0.1]), np.array([0.1, -0.2, 0.3])
        two = lambda x, y: np.stack([x, y])  # noqa: E731
        start = Start(
            position=np.tile([0.0, 0.0, world.stand_height], (2, 1)), quaternion=np.tile([1.0, 0, 0, 0], (2, 1)),
            joint_position=anymal.posture + two(q, image.action(q)), velocity=two(velocity, plane.polar * velocity),
            rate=two(rate, plane.axial * rate),
        )  # fmt: skip
        world.reset(np.arange(2), start)
        touched = np.zeros(4, dtype=bool)
        for step in range(20):
            action = 0.1 * np.sin(0.4 * step + np.arange(12))
            world.step(anymal.posture + two(action, image.action(action)))
            touched |= world.read().foot_contact[0]
        state = world.read()
        joints = state.joint_position - anymal.posture
        np.testing.assert_allclose(joints[1], image.action(joints[0]), atol=2e-3)
        np.testing.assert_allclose(state.velocity[1], plane.polar * state.velocity[0], atol=2e-2)
        np.testing.assert_allclose(state.rate[1], plane.axial * state.rate[0], atol=5e-2)
        assert touched.any()
        assert np.abs(joints[0] - joints[1]).max() > 0.05  # they are images, not copies


def test_feet_without_an_image_are_refused(anymal):
    feet = standing_feet(anymal, world_of(anymal, anymal.dynamics))
    feet[0, 1] += 0.05
    with pytest.raises(SurefootError, match="the feet have no mirror images"):
        mirror(symmetries(anymal)[0], feet, SCAN)
