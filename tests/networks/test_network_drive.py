"""A network as a drive: in the air it moves as the law that it holds, and it forgets, holds and refuses as it must."""

import numpy as np
import pytest
from bench import GAINS, Counter, Law, convention, pendulum, recorded, truth

from surefoot import Recording, Robot, chirp
from surefoot.errors import SurefootError
from surefoot.networks import Network, score_network
from surefoot.simulate import Physics, Reference
from surefoot.simulate.driven import Driven
from surefoot.simulate.on_ground import make_world
from surefoot.simulate.world import Start

STEP = 0.0025
MLP = f'kind = "mlp"\nperiod = {STEP}\ninputs = ["error", "velocity"]\nlags = [0]\n'
LSTM = 'kind = "lstm"\nperiod = 0.005\ninputs = ["error", "velocity"]\nstate = [1, 1]\n'
ONE = (np.full(1, 30.0), np.full(1, 0.6))


class Anymal(Law):
    """A drive of 85 N·m/rad and 0.6 N·m·s/rad."""

    def forward(self, x):
        """Torque of every row."""
        return 85.0 * x[:, :1] - 0.6 * x[:, 1:2]


@pytest.fixture
def law(tmp_path):
    return Network.load(convention(tmp_path, Law(), MLP))


def test_a_network_that_is_the_pd_law_moves_as_the_drive_does(law):
    """The independent engine is the same replay with the law's torque applied explicitly, as a delay of zero on the torque."""
    rec, physics = recorded(), Physics(timestep=STEP, delay_on="torque")
    beside = truth().replace(delay=np.zeros(1))
    expected = Reference(pendulum(), rec, physics).replay(beside)
    found = Driven(pendulum(), rec, physics, law.drive).replay(beside)
    assert np.abs(found[0] - expected[0]).max() < 1e-6  # the network computes in single precision
    assert np.abs(found[1] - expected[1]).max() < 1e-4


def test_torque_stays_within_the_robots_limits(law):
    weak = pendulum().replace(torque_limit=np.full(1, 1.5))
    _, torque, saturated = Driven(weak, recorded(), Physics(), law.drive).replay(truth().replace(delay=np.zeros(1)))
    assert np.abs(torque).max() == 1.5
    assert saturated[0] > 0


def test_a_drive_that_is_off_gives_no_torque(law):
    rec = recorded()
    off = rec.replace(enabled=np.zeros(rec.position.shape, bool))
    _, torque, _ = Driven(pendulum(), off, Physics(), law.drive).replay(truth())
    assert not torque.any()


def test_a_slower_network_is_asked_when_it_is_due_and_its_torque_held(tmp_path):
    drive = Network.load(convention(tmp_path, Counter(), LSTM)).drive()
    drive.begin(1, ("a",), STEP, *ONE)
    zero = np.zeros((1, 1))
    assert [drive.torque(zero, zero, zero, zero)[0, 0] for _ in range(6)] == [1, 1, 2, 2, 3, 3]


def test_a_robot_that_is_reset_forgets_and_the_others_do_not(tmp_path):
    drive = Network.load(convention(tmp_path, Counter(), LSTM)).drive()
    drive.begin(3, ("a",), STEP, *ONE)
    zero = np.zeros((3, 1))
    for _ in range(3):
        drive.torque(zero, zero, zero, zero)
    drive.reset(np.array([1]))
    assert drive.torque(zero, zero, zero, zero)[:, 0].tolist() == [2, 1, 2]
    assert drive.torque(zero, zero, zero, zero)[:, 0].tolist() == [3, 1, 3]


def test_before_it_began_everything_was_as_it_is_now(tmp_path):
    """An mlp that subtracts an older error from the newest sees no change at its first step."""

    class Change(Law):
        def forward(self, x):
            return x[:, :1] - x[:, 1:2]

    text = f'kind = "mlp"\nperiod = {STEP}\ninputs = ["error"]\nlags = [0, 2]\n'
    drive = Network.load(convention(tmp_path, Change(), text)).drive()
    drive.begin(1, ("a",), STEP, *ONE)
    zero = np.zeros((1, 1))
    torques = [drive.torque(np.full((1, 1), x), zero, zero, zero)[0, 0] for x in (0.5, 0.6, 0.8, 1.1)]
    assert torques == pytest.approx([0.0, 0.1, 0.3, 0.5], abs=1e-6)


def test_joints_are_told_apart_by_name_and_not_by_place(tmp_path):
    class Which(Law):
        def forward(self, x):
            return 1.0 * x[:, 1:2] + 2.0 * x[:, 2:3]

    text = f'kind = "mlp"\nperiod = {STEP}\ninputs = ["error"]\nlags = [0]\njoints = ["a", "b"]\n'
    drive = Network.load(convention(tmp_path, Which(), text)).drive()
    zero = np.zeros((1, 2))
    for joints, expected in ((("a", "b"), [1, 2]), (("b", "a"), [2, 1])):
        drive.begin(1, joints, STEP, np.ones(2), np.ones(2))
        assert drive.torque(zero, zero, zero, zero)[0].tolist() == expected
    with pytest.raises(SurefootError, match="does not know joint c; it was learned on a, b"):
        drive.begin(1, ("c",), STEP, *ONE)


def test_a_period_that_is_no_whole_number_of_steps_is_refused(tmp_path):
    drive = Network.load(convention(tmp_path, Counter(), LSTM)).drive()
    with pytest.raises(SurefootError, match="not a whole number of physics steps of 3 ms"):
        drive.begin(1, ("a",), 0.003, *ONE)


def test_a_network_with_gains_inside_refuses_others(tmp_path):
    net = Network.load(convention(tmp_path, Law(), MLP + f"stiffness = {GAINS[0]}\ndamping = {GAINS[1]}\n"))
    assert score_network(pendulum(), recorded(), net, dynamics=truth()).total < 0.1
    with pytest.raises(SurefootError, match="learned with stiffness 30, and swing runs with 60"):
        score_network(pendulum(), recorded(stiffer=2.0), net)


def test_in_the_world_and_in_the_air_the_same_network_moves_the_same(tmp_path):
    """ANYmal with a fixed base in the training world, told a recording's targets, is the in-air replay again."""
    robot, physics = Robot.load("anymal"), Physics(timestep=STEP)
    net = Network.load(convention(tmp_path, Anymal(), MLP))
    beside = robot.dynamics.replace(delay=np.zeros(1), bias=np.zeros(12))  # type: ignore[union-attr]
    motion = chirp(robot, duration=0.5, start_hz=1, stop_hz=5, ramp=0.1)
    rec = Recording(
        joints=robot.joints, time=motion.time, target=motion.target, position=motion.target,
        velocity=np.zeros_like(motion.target), stiffness=robot.stiffness, damping=robot.damping, command_hold=True,
    )  # fmt: skip
    expected = Driven(robot, rec, physics, net.drive).replay(beside)[0]
    world = make_world(robot, beside, physics=physics, robots=2, substeps=1, fixed=True, drive=net.drive())
    start = Start(
        position=np.zeros((2, 3)), quaternion=np.tile([1.0, 0, 0, 0], (2, 1)), joint_position=np.tile(rec.position[0], (2, 1))
    )
    world.reset(np.arange(2), start)
    seen = np.array([world.step(np.tile(row, (2, 1))).joint_position[:, 0] for row in rec.target])
    assert np.abs(seen[:, 0] - expected).max() < 1e-5  # the network computes in single precision
    assert np.array_equal(seen[:, 0], seen[:, 1])


def test_a_walking_world_takes_a_network_without_a_change(tmp_path):
    """anymal on the ground under a network for P 85 and D 0.6: it stands, and a robot that is reset starts anew."""
    robot = Robot.load("anymal")
    net = Network.load(convention(tmp_path, Anymal(), MLP))
    assert robot.dynamics is not None
    world = make_world(robot, robot.dynamics, physics=Physics(timestep=STEP), robots=2, substeps=8, drive=net.drive())
    place = np.tile([0.0, 0.0, world.stand_height], (2, 1))
    start = Start(position=place, quaternion=np.tile([1.0, 0, 0, 0], (2, 1)), joint_position=np.tile(robot.posture, (2, 1)))
    world.reset(np.arange(2), start)
    target = np.tile(robot.posture, (2, 1))
    for _ in range(25):
        motion = world.step(target)
    assert world.diverged == 0
    assert (np.abs(world.read().position[:, 2] - world.stand_height) < 0.1).all()
    assert np.abs(motion.torque).max() > 1.0
