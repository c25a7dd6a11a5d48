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
    moving = column(position=2.0 * np.arange(400)[:, None] / 400, target=2.0 * np.arange(400)[:, None] / 400)
    assert asked_torque(robot, moving) == pytest.approx(1.0)  # 0.5 N·m·s/rad · 2 rad/s


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


def test_noise_at_a_high_rate_does_not_tighten_the_bound_on_damping():
    """At 10 kHz the differences of noisy encoder readings are all noise: the speed must be that of the motion."""
    robot, (slow, fast) = machine(SHAFT), (400, 10_000)
    highest = []
    for rate in (slow, fast):
        t = np.arange(2 * rate) / rate
        position = 0.3 * np.sin(2 * np.pi * 2 * t)[:, None] + np.random.default_rng(0).normal(0, 5e-4, (len(t), 1))
        rec = column(time=t, target=0.5 * np.sin(2 * np.pi * 2 * t)[:, None], position=position)
        highest.append(default_bounds(robot, [rec], np.array([1e-3]))["damping"][1][0])
    assert highest[1] == pytest.approx(highest[0], rel=0.1)


def test_a_torque_driven_joint_may_have_an_armature_far_above_its_links():
    """Without a position gain the torque over the acceleration it caused bounds the inertia."""
    t = np.arange(800) / 400
    torque = 0.05 * np.sin(2 * np.pi * 2 * t)[:, None]
    position = -torque / (0.005 * (2 * np.pi * 2) ** 2)  # 5 g·m² on a link of 10 mg·m²
    rec = column(time=t, target=position, position=position, stiffness=[0.0], damping=[0.0], feedforward=torque)
    assert default_bounds(machine(SHAFT), [rec], np.array([1e-5]))["armature"][1][0] > 0.005
