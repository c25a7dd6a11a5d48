"""The controller shows the network what training showed it, asks it at its period, and never asks a joint into its stop."""

import tracemalloc

import numpy as np
import pytest
from policies import ROBOT, linear, specification, standing

from surefoot.deploy import Policy, observe
from surefoot.deploy.controller import Controller, Ramps
from surefoot.deploy.watchdog import Tripped
from surefoot.errors import SurefootError
from surefoot.record.run import Phase
from surefoot.robot import Robot
from surefoot.robot.hardware import State

QUICK = Ramps(rise=0.05, settle=0.0, speed=10.0, halt=0.05, stand=0.05)
NOTHING = np.zeros(3)


class Known:
    """An estimator that knows."""

    def __init__(self):
        self.linear, self.angular = np.array([0.3, -0.1, 0.05]), np.array([0.1, 0.2, 0.3])
        self.gravity = np.array([0.1, 0.0, -np.sqrt(0.99)])

    def update(self, state):
        """Knows already."""
        self.time = state.time


def state(time, position=None, velocity=None):
    q = ROBOT.posture + 1e-4 * np.sin(1e3 * time) if position is None else position
    return State(time=time, position=q, velocity=np.zeros(12) if velocity is None else velocity)


def walking(path, **changes):
    """A controller that walks, and the time when it next asks the network; it has done so once."""
    controller = Controller(ROBOT, Policy.load(path), Known(), ramps=QUICK, **changes)
    time = 0.0
    while controller.phase == Phase.RISING:
        controller.step(state(time), NOTHING)
        time += 0.0025
    return controller, time + 0.0175


def network(tmp_path, weights, bias=None, **changes):
    return linear(tmp_path / "policy.onnx", weights, specification(**changes).to_metadata(), bias)


def test_the_network_sees_what_it_saw_in_training(tmp_path):
    """A network that repeats a part of what it sees shows that part in its action; the last action comes back."""
    q, v = ROBOT.posture + np.linspace(-0.1, 0.1, 12), np.linspace(-1, 1, 12)
    command = np.array([0.5, -0.25, 0.75])
    known = Known()
    for part in range(4):
        c, time = walking(network(tmp_path, np.eye(48)[12 * part : 12 * part + 12]))
        expected = observe(
            linear_velocity=known.linear, angular_velocity=known.angular, gravity=known.gravity, command=command, position=q,
            velocity=v, action=c.action.copy(), posture=ROBOT.posture,
        )  # fmt: skip
        target = c.step(state(time, q, v), command)
        assert c.action == pytest.approx(expected[12 * part : 12 * part + 12], abs=1e-6)
        assert target == pytest.approx(ROBOT.posture + 0.5 * c.action, abs=1e-6)


def test_the_last_action_comes_back(tmp_path):
    """a_t = 2 a_{t-1} + 1, once every 20 ms: 1, 3, 7, 15, ..."""
    c, time = walking(network(tmp_path, 2 * np.eye(48)[36:], np.ones(12), action_scale=0.001))
    found = []
    for k in range(24):
        c.step(state(time + 0.0025 * k), NOTHING)
        found.append(c.action[0])
    assert found == [3.0] * 8 + [7.0] * 8 + [15.0] * 8


def test_states_that_were_lost_do_not_shift_the_period(tmp_path):
    c, time = walking(standing(tmp_path / "p.onnx"))
    asked = []
    for k in range(200):
        if k % 8 != 0:  # the state at which the network is due never comes
            c.step(state(time + 0.0025 * k), NOTHING)
            asked += [k] if c.asked else []
    assert np.diff(asked).tolist() == [8] * (len(asked) - 1)


def test_it_rises_gently_and_ends_damped(tmp_path):
    """From where the joints are, 0.3 rad away, along a half cosine at 0.5 rad/s: 0.94 s. The target never jumps."""
    ramps = Ramps(speed=0.5, settle=0.1, halt=0.2, stand=0.3)
    c = Controller(ROBOT, Policy.load(standing(tmp_path / "p.onnx")), Known(), ramps=ramps)
    low = ROBOT.posture + 0.3
    targets, phases = [], []
    for k in range(1000):
        targets.append(c.step(state(0.0025 * k, low + 1e-3 * np.sin(k)), np.array([0.5, 0, 0])))
        phases.append(c.phase)
        if k == 600:
            c.stop()
        if c.phase == Phase.DAMPED:
            break
    assert targets[0] == pytest.approx(low, abs=2e-3)
    assert np.abs(np.diff(targets, axis=0)).max() < 0.5 * 0.0025 * 1.01
    starts = [0.0025 * phases.index(phase) for phase in Phase]
    assert starts == pytest.approx([0.0, 0.3 * np.pi + 0.1, 1.5, 1.7, 2.0], abs=0.012)


def test_the_command_stays_in_the_range_of_the_training(tmp_path):
    c, time = walking(standing(tmp_path / "p.onnx"))
    c.step(state(time), np.array([0.5, 0.0, 0.0]))
    assert not c.cut
    c.step(state(time + 0.0025), np.array([3.0, -2.0, 0.5]))
    assert c.command.tolist() == [1.0, -1.0, 0.5]
    assert c.cut
    with pytest.raises(Tripped, match=r"the command is 1e\+09"):
        c.step(state(time + 0.005), np.array([1e9, 0, 0]))


def test_no_torque_is_asked_for_toward_a_hard_limit(tmp_path):
    """The network asks for +10 rad; at the limit of the POLICY the target is the limit itself, whatever the robot.toml says."""
    upper = ROBOT.posture + 0.5
    c, time = walking(network(tmp_path, np.zeros((12, 48)), np.full(12, 20.0), upper=upper))
    assert c.step(state(time, upper), NOTHING) == pytest.approx(upper)
    c, time = walking(network(tmp_path, np.zeros((12, 48)), np.full(12, 20.0), upper=upper))
    assert c.step(state(time), NOTHING) == pytest.approx(ROBOT.posture + 10.0)


def test_memory_does_not_grow_while_it_walks(tmp_path):
    c, time = walking(standing(tmp_path / "p.onnx"))
    states = [state(time + 0.0025 * k) for k in range(2000)]
    for now in states[:500]:
        c.step(now, NOTHING)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for now in states[500:]:
            c.step(now, NOTHING)
        after, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    kept = 1500 * 96  # bytes, if one array of 12 numbers stayed from each step
    assert after - before < kept / 5
    assert most - before < kept / 2


def test_another_robot_is_refused(tmp_path):
    with pytest.raises(SurefootError, match="order and names must agree"):
        Controller(Robot.load("single_drive"), Policy.load(standing(tmp_path / "p.onnx")), Known())


def test_buffers_of_another_size_are_refused(tmp_path):
    policy = Policy.load(standing(tmp_path / "p.onnx"))
    with pytest.raises(SurefootError, match=r"buffer for the action is float64 of \(12,\); expected float32"):
        policy.between(np.zeros(48, np.float32), np.zeros(12))
