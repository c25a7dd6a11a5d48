"""The estimator knows how the base moves from IMU, encoders and torques; a virtual robot's truth is the judge."""

import numpy as np
import pytest
from policies import ROBOT

from surefoot.deploy.estimator import Estimator, Tuning
from surefoot.errors import SurefootError
from surefoot.robot import JointDynamics, Robot
from surefoot.robot.hardware import Command, State
from surefoot.simulate.feet import Feet
from surefoot.simulate.frames import to_base
from surefoot.simulate.virtual.hardware import VirtualHardware

DOWN = np.array([0.0, 0.0, -1.0])
UP = np.array([0.0, 0.0, 9.81])
NONE = JointDynamics.no_model(ROBOT.joints)


class NoFeet:
    """A kinematics whose feet never touch anything."""

    names, mass = ("foot",), 1.0
    point, jacobian = np.zeros((1, 3)), np.zeros((1, 3, 12))

    def update(self, position, gravity):
        """Nothing moves."""

    def torque(self, velocity, acceleration, rate, force):
        """No load."""
        return np.zeros(12)


def state(time, rate=(0, 0, 0), force=UP, **changes):
    given = {"position": ROBOT.posture, "velocity": np.zeros(12), "torque": np.zeros(12)} | changes
    more = {"imu_angular_velocity": np.asarray(rate, float), "imu_acceleration": np.asarray(force, float)}
    return State(time=time, more=given.pop("more", more), **given)


# --- kinematics -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["anymal", "tytan", "minimal"])
def test_the_jacobian_is_the_slope_of_the_feet(name):
    """Central differences of the foot's centre; a sphere's contact point lies below it, fixed in the base."""
    robot = Robot.load(name)
    feet, q, h = Feet(robot), robot.posture + 0.1 * np.sin(np.arange(robot.n)), 1e-6
    centre = lambda position: (feet.update(position, np.zeros(3)), feet.point.copy())[1]  # noqa: E731
    slope = np.stack([(centre(q + h * e) - centre(q - h * e)) / (2 * h) for e in np.eye(robot.n)], axis=-1)
    feet.update(q, np.zeros(3))
    np.testing.assert_allclose(feet.jacobian, slope, atol=1e-8)


def test_a_rolling_foot_stands_still_where_it_touches():
    """The contact point moves with the link: centre velocity plus link rate times the radius, in one Jacobian."""
    feet = Feet(ROBOT)
    feet.update(ROBOT.posture, np.zeros(3))
    centre, slope = feet.point.copy(), feet.jacobian.copy()
    feet.update(ROBOT.posture, DOWN)
    radius = np.linalg.norm(feet.point - centre, axis=1)
    assert (radius > 0.01).all()
    pitch = feet.jacobian[0, 0] - slope[0, 0]  # LF: hip and knee turn about y, so a point r lower moves r back per radian
    assert pitch[1:3] == pytest.approx([-radius[0]] * 2, rel=1e-6)


def test_legs_that_hang_still_weigh_what_gravity_says():
    """Σ over the joints of torque × small motion = rise of potential energy: the gradient of m g z, by differences."""
    feet, q, h = Feet(ROBOT), ROBOT.posture, 1e-6
    height = lambda position: (feet.update(position, DOWN), float(feet._data.subtree_com[0, 2]))[1]  # noqa: E731
    slope = np.array([(height(q + h * e) - height(q - h * e)) / (2 * h) for e in np.eye(12)])
    feet.update(q, DOWN)
    assert feet.torque(np.zeros(12), np.zeros(12), np.zeros(3), UP) == pytest.approx(feet.mass * 9.81 * slope, abs=1e-5)


# --- gravity and velocity -------------------------------------------------------------------------------------------------
def test_gravity_turns_with_the_base():
    """A base that rolls at ω about x sees g = (0, −sin ωt, −cos ωt)."""
    e, rate = Estimator(NoFeet(), NONE), 0.5
    for k in range(401):
        t = 0.0025 * k
        e.update(state(t, (rate, 0, 0), 9.81 * np.array([0, np.sin(rate * t), np.cos(rate * t)])))
    assert e.gravity == pytest.approx([0, -np.sin(rate), -np.cos(rate)], abs=2e-3)


def test_a_gyroscope_that_drifts_is_levelled():
    """A drift of 0.01 rad/s would be 0.2 rad after 20 s; with T = 2 s at most 0.02 rad remain."""
    e = Estimator(NoFeet(), NONE)
    for k in range(8000):
        e.update(state(0.0025 * k, (0.01, 0, 0)))
    assert abs(e.gravity[1]) == pytest.approx(0.02, rel=0.05)


def test_free_fall_says_nothing_about_down():
    e = Estimator(NoFeet(), NONE)
    for k in range(100):
        e.update(state(0.0025 * k, force=(0.3, 0, 0)))
    assert e.gravity.tolist() == [0, 0, -1]


def test_without_feet_velocity_is_the_integral_of_the_accelerometer():
    """A push of 0.2 m/s² for a second; beforehand it rests, and is level."""
    e = Estimator(NoFeet(), NONE, Tuning(levelling=1e6))
    for k in range(402):
        e.update(state(0.0025 * k, force=np.array([0.2 * (k > 1), 0, 9.81])))
    assert e.linear == pytest.approx([0.2, 0, 0], abs=1e-6)


# --- a whole robot --------------------------------------------------------------------------------------------------------
def swaying(seed, broken=False):
    """Errors of velocity and gravity, and estimated loads, of a virtual robot that bends all knees at 1 Hz for 1.5 s."""
    robot, machine = ROBOT, VirtualHardware(ROBOT, seed, place="ground")
    e = Estimator(Feet(robot), robot.dynamics)
    machine.set_gains(robot.stiffness, robot.damping)
    knees = np.array(["KFE" in j for j in robot.joints]) * np.sign(robot.posture)
    rows = []
    for _ in range(600):
        now = machine.read()
        e.update(state(now.time, position=now.position, velocity=-now.velocity if broken else now.velocity, torque=now.torque,
                       more=now.more))  # fmt: skip
        machine.write(Command(target=robot.posture - 0.15 * knees * (1 - np.cos(2 * np.pi * now.time))))
        true = machine.truth()
        turn = true["base_orientation"]
        if now.time > 0.5:
            rows.append([*(e.linear - to_base(turn, true["base_velocity"])), *(e.gravity - to_base(turn, DOWN)), *e.contact,
                         np.linalg.norm(true["base_velocity"])])  # fmt: skip
    return np.array(rows)


def test_it_follows_a_robot_that_bends_its_knees():
    """True speed reaches 0.2 m/s; the estimate is within 0.03 m/s, on drives that nobody has told it about."""
    rows = swaying(seed=4)
    assert 0.15 < rows[:, -1].max() < 0.4
    assert np.sqrt((rows[:, :3] ** 2).sum(axis=1).mean()) < 0.03
    assert np.abs(rows[:, 3:6]).max() < 0.03
    assert rows[:, 6:10].all()


def test_a_wrong_sign_of_the_joint_velocities_is_seen_at_once():
    """The negative twin: the same motion with the velocities turned around is far off."""
    rows = swaying(seed=4, broken=True)
    assert np.sqrt((rows[:, :3] ** 2).sum(axis=1).mean()) > 0.05


def test_a_machine_without_imu_or_torque_is_told_what_is_missing():
    e = Estimator(NoFeet(), NONE)
    with pytest.raises(SurefootError, match="gives no imu_angular_velocity"):
        e.update(state(0.0, more={}))
    with pytest.raises(SurefootError, match="neither torques nor contacts"):
        e.update(state(0.0, torque=None))


def test_contacts_that_the_machine_measures_are_believed():
    e = Estimator(NoFeet(), NONE)
    now = state(0.0, torque=None)
    e.update(State(time=0.0, position=now.position, velocity=now.velocity, more={**now.more, "contact": [1.0]}))
    assert e.contact.tolist() == [True]


class OneFoot(NoFeet):
    """A foot that its joint moves at 1 m/s for each rad/s, and that presses on the ground as hard as its torque says."""

    jacobian = np.zeros((1, 3, 12))
    jacobian[0, 0, 0] = jacobian[0, 2, 1] = jacobian[0, 1, 2] = 1.0


@pytest.mark.parametrize(("load", "share"), [(0.25, 0.0), (0.5, 0.5), (0.7, 1.0), (1.5, 1.0)])
def test_feet_that_hardly_carry_correct_nothing(load, share):
    """A foot that moves back at 1 m/s says that the base moves on at 1 m/s; how much that counts grows with what it carries."""
    tuning = Tuning(stance=0.1)
    e = Estimator(OneFoot(), NONE, tuning)
    torque = np.zeros(12)
    torque[1] = -load * OneFoot.mass * 9.81  # of the ground, up
    moving = np.zeros(12)
    moving[0] = -1.0
    e.update(state(0.0, torque=torque))
    e.update(state(0.01, torque=torque, velocity=moving))
    assert e.contact.all()
    assert e.linear[0] == pytest.approx(share * (1 - np.exp(-0.1)), rel=1e-3, abs=1e-9)
