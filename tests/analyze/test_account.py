"""The numbers of a run are those that were put into it."""

import numpy as np
import pytest

from surefoot import Robot, SurefootError
from surefoot.analyze.run import account, fell
from surefoot.record.run import Phase, Run
from surefoot.robot.energy import GRAVITY

ROBOT = Robot.load("anymal")
MASS = 52.8
STEP = 0.0025


def level(n):
    return np.tile([1.0, 0, 0, 0], (n, 1))


def walk(seconds=12.0, *, forward=0.9, left=0.0, turn=0.0, lag=0.0, power=600.0, yaw=0.0, commands=None, **channels):
    """A robot that moves with its command's change like a first-order lag, and trots at 2 Hz with a duty of 0.6."""
    time = STEP * np.arange(round(seconds / STEP))
    n = len(time)
    command = np.tile([1.0, 0.0, 0.0], (n, 1)) if commands is None else commands(time)
    approach = 1 - np.exp(-time / lag) if lag else np.ones(n)
    own = np.stack([forward * approach, left * approach, 0 * time], axis=1)
    quaternion = np.tile([np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)], (n, 1))
    turned = np.stack([np.cos(yaw) * own[:, 0] - np.sin(yaw) * own[:, 1], np.sin(yaw) * own[:, 0] + np.cos(yaw) * own[:, 1],
                       0 * time], axis=1)  # fmt: skip
    phase = (time * 2.0) % 1.0
    feet = np.stack([(phase + shift) % 1.0 < 0.6 for shift in (0, 0.5, 0.5, 0)], axis=1)
    given = {
        "phase": np.full(n, int(Phase.WALKING)), "command": command, "battery_power": np.full(n, power),
        "charge": np.linspace(1.0, 0.9, n), "true_position": np.tile([0.0, 0, 0.55], (n, 1)), "true_orientation": quaternion,
        "true_velocity": turned, "true_angular_velocity": np.tile([0, 0, turn], (n, 1)), "true_contact": feet,
        "linear_velocity": own + np.array([0.03, 0.04, 0.0]), "angular_velocity": np.zeros((n, 3)), "contact": feet,
        "gravity": np.tile([0, 0, -1.0], (n, 1)), "position": np.tile(ROBOT.posture, (n, 1)), "velocity": np.zeros((n, 12)),
        "torque": np.full((n, 12), 10.0),
    } | channels  # fmt: skip
    kept = {name: rows for name, rows in given.items() if rows is not None}
    return Run(robot="anymal", joints=ROBOT.joints, feet=("LF", "RF", "LH", "RH"), mass=MASS, time=time, channels=kept)


def test_velocity_is_that_of_the_base_in_its_own_axes():
    """A robot that faces 40° away from the world's x axis still walks forward."""
    found = account(walk(forward=0.9, left=0.1, turn=0.2, yaw=0.7), ROBOT)
    assert found.velocity == pytest.approx((0.9, 0.1, 0.2))
    assert found.commanded == pytest.approx((1.0, 0.0, 0.0))
    assert found.measured == "truth"
    assert found.estimation_error == pytest.approx(0.05)
    assert found.steady == pytest.approx(10.0, abs=0.01)
    assert found.charge_used == pytest.approx(0.1)


def test_without_the_truth_the_estimate_is_used_and_said():
    hidden = dict.fromkeys(("true_position", "true_orientation", "true_velocity", "true_angular_velocity", "true_contact"))
    found = account(walk(**hidden), ROBOT)
    assert (found.measured, found.estimation_error) == ("estimate", None)
    assert found.velocity == pytest.approx((0.93, 0.04, 0.0))


def test_cost_of_transport_is_power_over_weight_and_speed():
    """600 W at 0.9 m/s on 52.8 kg; 150 W of them standing by, 100 W with the drives disabled."""
    found = account(walk(power=600.0), ROBOT, off=100.0, rest=150.0).to_dict()
    unit = MASS * GRAVITY * 0.9
    assert [found[k] for k in ("cot", "coe", "cod", "col")] == pytest.approx([600 / unit, 100 / unit, 50 / unit, 450 / unit])
    assert found["velocity"] == pytest.approx(0.9)
    assert found["fell"] is False
    assert found["power"] == 600.0


def test_heat_of_the_coils_is_the_models():
    """10 N·m in each of 12 joints at 0.05 W/(N·m)²: 60 W."""
    assert account(walk(), ROBOT).electrical == pytest.approx(60.0)


def test_where_there_is_no_cost_the_reason_is_said():
    slow = account(walk(forward=0.01), ROBOT)
    assert slow.transport is None
    assert "went nowhere" in slow.transport_missing
    assert "nothing of the battery" in account(walk(battery_power=None), ROBOT).transport_missing
    assert "never walked" in account(walk(seconds=1.5), ROBOT).transport_missing
    unknown = account(walk(), ROBOT.replace(battery={}))
    assert "[battery]" in unknown.transport_missing
    assert unknown.to_dict()["cot"] is None


def test_gait_is_counted():
    gait = account(walk(), ROBOT).gait
    assert [g.foot for g in gait] == ["LF", "RF", "LH", "RH"]
    assert [g.frequency for g in gait] == pytest.approx([2.0] * 4, rel=0.06)
    assert [g.duty for g in gait] == pytest.approx([0.6] * 4, abs=0.01)


def test_chattering_contacts_are_no_steps():
    run = walk()
    feet = np.array(run["true_contact"])
    feet[::100] = 1 - feet[::100]  # single rows, at 4 Hz
    assert [g.frequency for g in account(walk(true_contact=feet), ROBOT).gait] == pytest.approx([2.0] * 4, rel=0.06)


def test_a_first_order_lag_rises_in_two_point_two_time_constants():
    """T = 1 s: 10 to 90 % of the COMMAND take ln(0.9 / 0.1) = 2.197 s when the command is reached."""
    step = account(walk(forward=1.0, lag=1.0), ROBOT).steps[0]
    assert (step.axis, step.before, step.after) == ("forward", 0.0, 1.0)
    assert step.rise == pytest.approx(2.197, abs=0.1)
    assert step.overshoot == 0.0


def test_what_is_never_reached_has_no_rise_time_and_what_is_passed_overshoots():
    assert account(walk(forward=0.5), ROBOT).steps[0].rise is None
    fast = account(walk(forward=1.2), ROBOT).steps[0]
    assert fast.overshoot == pytest.approx(0.2)
    assert fast.reached == pytest.approx(1.2)


def test_each_change_of_a_command_is_answered_on_its_axis():
    turning = lambda time: np.stack([0 * time + 1.0, 0 * time, np.where(time < 6, 0.0, 2.0)], axis=1)  # noqa: E731
    found = account(walk(commands=turning, turn=2.0), ROBOT)
    assert [(s.axis, s.time, s.before, s.after) for s in found.steps] == [("forward", 0, 0, 1), ("turn", 6.0, 0, 2)]
    assert found.steady == pytest.approx(4.0 + 4.0, abs=0.02)  # 2 s after each change are left out


def test_a_robot_has_fallen_when_it_leans_or_lies():
    run = walk()
    n = len(run.time)
    tilted = level(n)
    tilted[n // 2] = [np.cos(0.55), np.sin(0.55), 0, 0]  # 1.1 rad
    low = np.array(run["true_position"])
    low[-1, 2] = 0.2
    damped = np.where(np.arange(n) == n - 1, Phase.DAMPED, Phase.WALKING)
    assert not fell(run)
    assert fell(walk(true_orientation=tilted))
    assert fell(walk(true_position=low))
    assert not fell(walk(true_position=low, phase=damped))  # a damped robot lies down
    hidden = dict.fromkeys(("true_orientation", "true_position"))
    assert fell(walk(gravity=np.tile([1.0, 0, 0], (n, 1)), **hidden))


def test_a_run_of_another_robot_is_refused():
    with pytest.raises(SurefootError, match="order and names must agree"):
        account(walk(), Robot.load("single_drive"))
