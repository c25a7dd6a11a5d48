"""Default bounds come from the robot and its recordings, at any size."""

import numpy as np
import pytest
from machines import FINGER, LEGS, PENDULUM, SHAFT, SLIDE, hidden, machine, recorded

from surefoot.identify.bounds import asked_torque, default_bounds
from surefoot.record.recording import Recording


@pytest.mark.parametrize("text", [PENDULUM, SHAFT, SLIDE, FINGER, LEGS])
def test_the_truth_lies_well_inside_the_bounds_of_machines_of_any_size(text):
    robot = machine(text)
    truth = hidden(robot)
    bounds = default_bounds(robot, [recorded(robot, truth, seconds=3.0)], np.full(robot.n, 1e-6))
    for name in ("armature", "damping", "friction", "bias", "delay"):
        low, high = bounds[name]
        value = getattr(truth, name)
        assert (low <= value).all()
        assert (value <= 0.8 * high).all()
        assert (high < 300 * np.abs(value)).all()


def column(**changes):
    t = np.arange(400) / 400
    given = {"joints": ("shaft",), "time": t, "target": np.full((400, 1), 0.1), "position": np.zeros((400, 1)),
             "stiffness": [10.0], "damping": [0.5]}  # fmt: skip
    return Recording(**given | changes)


def test_the_asked_torque_is_the_drive_law_on_what_was_measured():
    robot = machine(SHAFT)
    assert asked_torque(robot, column()) == pytest.approx(1.0)  # 10 N·m/rad · 0.1 rad
    still = {"target": np.zeros((400, 1))}
    assert asked_torque(robot, column(feedforward=np.full((400, 1), -3.0), **still)) == pytest.approx(3.0)
    assert asked_torque(robot, column(target_velocity=np.full((400, 1), 2.0), **still)) == pytest.approx(1.0)  # 0.5 · 2
    assert asked_torque(robot, column(velocity=np.full((400, 1), 2.0), **still)) == pytest.approx(1.0)


def test_a_drive_is_not_asked_for_more_than_it_has():
    assert asked_torque(machine(SHAFT).replace(torque_limit=[0.4]), column()) == pytest.approx(0.4)


def test_the_largest_of_several_recordings_counts():
    robot = machine(SHAFT)
    stiff = column(stiffness=[100.0])
    one, both = (default_bounds(robot, recs, np.zeros(1)) for recs in ([column()], [column(), stiff]))
    np.testing.assert_allclose(both["friction"][1], 10 * one["friction"][1])
    np.testing.assert_allclose(both["armature"][1], 10 * one["armature"][1])


def test_bounds_of_a_joint_that_does_not_move_are_finite_and_leave_room():
    still = column(target=np.zeros((400, 1)))
    for low, high in default_bounds(machine(SHAFT), [still], np.zeros(1)).values():
        assert (low < high).all()
        assert np.isfinite(high).all()
