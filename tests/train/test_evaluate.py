"""Marks of a policy: what is compared, who counts, which of two policies is better."""

import json
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np
import pytest

from surefoot.train.evaluate import Evaluation, evaluate, held_commands

LOW, HIGH = np.array([-1.0, -0.5, -2.0]), np.array([1.0, 0.5, 2.0])


def marks(**changes):
    good = {"velocity_error": 0.05, "yaw_error": 0.05, "standing": 1.0, "power": 500.0, "cot": 1.0, "reward": 0.3, "lost": 0}
    return Evaluation(**(good | {"robots": 192} | changes))


def test_held_commands_cover_the_range_and_include_standing():
    """192 commands: each extreme of each axis 8 times, standing 16 times, the rest on the quarter points; nothing outside."""
    commands = held_commands(LOW, HIGH)
    assert commands.shape == (192, 3)
    assert (commands >= LOW).all()
    assert (commands <= HIGH).all()
    assert (commands == 0).all(1).sum() == 16
    for axis in range(3):
        for end in (LOW[axis], HIGH[axis]):
            assert (commands[:, axis] == end).sum() == 8
    assert held_commands(LOW, HIGH, 10).shape == (10, 3)
    assert held_commands(LOW, HIGH, 400).shape == (400, 3)


@dataclass
class Puppets:
    """A task whose robots move exactly as told: per robot a velocity, a step to fall at, a step to be lost at."""

    velocity: np.ndarray  # (N, 3): v_x, v_y, ω
    falls: np.ndarray  # control step, -1: never
    loses: np.ndarray
    steps: int = 0
    penalty: float = 0.0
    watts: float = 400.0
    settings: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(period=0.02))

    def __post_init__(self):
        self.robots = len(self.velocity)
        self.chance = SimpleNamespace(command=np.zeros((self.robots, 3)))
        self.world = SimpleNamespace(mass=50.0, read=lambda: None)

    def reset(self):
        """Nothing to see."""
        return

    def see(self, state):
        """The commands."""
        return SimpleNamespace(policy=self.chance.command.copy())

    def step(self, action):
        """All robots move as told."""
        self.steps += 1
        fallen, lost = self.falls == self.steps, self.loses == self.steps
        pad = np.zeros((self.robots, 1))
        return SimpleNamespace(
            fallen=fallen, lost=lost, linear=np.hstack([self.velocity[:, :2], pad]),
            angular=np.hstack([pad, pad, self.velocity[:, 2:]]),
            power=np.full(self.robots, self.watts), reward=np.full(self.robots, 0.006), seen=self.see(None),
        )  # fmt: skip


def judged(velocity, commands, falls=None, loses=None, **more):
    never = np.full(len(velocity), -1)
    puppets = Puppets(
        np.array(velocity), never if falls is None else np.array(falls), never if loses is None else np.array(loses), **more
    )
    return evaluate(lambda seen: np.zeros((puppets.robots, 2)), puppets, np.array(commands, dtype=float)), puppets


def test_errors_are_those_of_mean_velocities():
    """One robot 0.3 and 0.4 m/s off: 0.5 m/s; another exact; mean 0.25. Yaw: 0.2 and 0: mean 0.1."""
    found, puppets = judged([[1.3, 0.4, 0.2], [0.0, 0.0, 0.0]], [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert found.velocity_error == pytest.approx(0.25)
    assert found.yaw_error == pytest.approx(0.1)
    assert found.standing == 1.0
    assert puppets.steps == 600
    assert puppets.penalty == 1.0


def test_cost_of_transport_counts_those_who_walk():
    """400 W at 1 m/s and 50 kg: 400 / 490.5; a robot told to stand has power but no transport."""
    found, _ = judged([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert found.cot == pytest.approx(400 / (50 * 9.81))
    assert found.power == pytest.approx(400.0)


def test_a_fallen_robot_stands_still_from_then_on():
    """It falls half-way through the 10 s that count: mean velocity 0.5 of 1 m/s, error 0.5, no share of the power."""
    found, _ = judged([[1.0, 0.0, 0.0]] * 2, [[1.0, 0.0, 0.0]] * 2, falls=[351, -1])
    assert found.velocity_error == pytest.approx(0.25)
    assert found.standing == 0.5
    assert found.power == pytest.approx(400.0)
    assert found.reward == pytest.approx((350 + 600) / 2 * 0.006 / 12)


def test_a_robot_that_the_engine_lost_is_left_out_and_counted():
    found, _ = judged([[9.0, 9.0, 9.0], [1.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]] * 2, loses=[3, -1])
    assert found.lost == 1
    assert found.velocity_error == pytest.approx(0.0)
    assert found.standing == 1.0


def test_marks_come_before_reward_and_reward_before_nothing():
    """A policy that falls is worse than one that does not, whatever it saves; between two good ones the reward decides."""
    good, thrifty = marks(), marks(power=300.0, reward=0.35)
    tumbling, blind = marks(standing=0.9, reward=0.5), marks(velocity_error=0.3, reward=0.5)
    assert thrifty.rank > good.rank > tumbling.rank
    assert good.rank > blind.rank
    assert good.shortfall == 0
    assert marks(velocity_error=0.16).shortfall == pytest.approx(1.0)
    assert Evaluation.none().rank < tumbling.rank
    assert replace(good, lost=3).rank == good.rank


def test_marks_without_a_value_are_null_in_the_file_and_come_back():
    """JSON has no infinity: where nobody walks there is no cost of transport."""
    nobody = marks(cot=float("inf"), power=float("inf"), standing=0.0)
    assert json.loads(json.dumps(nobody.to_dict(), allow_nan=False))["cot"] is None
    assert Evaluation.from_dict(nobody.to_dict()) == nobody
    assert Evaluation.from_dict(Evaluation.none().to_dict()) == Evaluation.none()
