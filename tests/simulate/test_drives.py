"""The drives between two physics steps, against the drive law and against the replay's way to hold a command."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import Physics, Robot, drive_torque
from surefoot.robot.dynamics import JointDynamics
from surefoot.simulate.command import mean_held
from surefoot.simulate.drives import Drives, delay_weights

RNG = np.random.default_rng(0)


def drives(robot, dynamics, *, robots=3, substeps=4, **physics):
    return Drives(robot, dynamics, Physics(timestep=0.005, **physics), robots=robots, substeps=substeps)


@settings(max_examples=60, deadline=None)
@given(delay=st.floats(0.0, 0.07), h=st.floats(0.001, 0.01), substeps=st.integers(1, 8), seed=st.integers(0, 99))
def test_the_delayed_command_is_the_one_that_a_replay_of_held_commands_feels(delay, h, substeps, seed):
    targets = np.random.default_rng(seed).normal(size=(12, 1))
    weights = delay_weights(np.array([delay]), h, substeps)
    np.testing.assert_allclose(weights.sum(1), 1.0, atol=1e-9)
    stamps = np.arange(12) * substeps * h
    newest_first = targets[11 - np.arange(weights.shape[1]).clip(max=11)]
    felt = np.einsum("skab,kb->sa", weights, newest_first)[:, 0]
    start = stamps[-1] + np.arange(substeps) * h - delay
    np.testing.assert_allclose(felt, mean_held(stamps, targets, start, h)[:, 0], atol=1e-9)


def test_without_delay_the_newest_target_is_the_command():
    weights = delay_weights(np.zeros(1), 0.005, 4)
    assert weights.shape == (4, 1, 1, 1)
    assert (weights == 1).all()


def test_a_delay_of_one_and_a_half_steps_splits_the_second_step_in_half():
    weights = delay_weights(np.array([0.0075]), 0.005, 4)[:, :, 0, 0]
    np.testing.assert_allclose(weights, [[0, 1], [0.5, 0.5], [1, 0], [1, 0]], atol=1e-12)


def test_every_joint_and_every_robot_may_have_its_own_delay():
    delay = RNG.uniform(0, 0.03, (2, 12))
    weights = delay_weights(delay, 0.005, 4)
    assert weights.shape == (4, 3, 2, 12)
    alone = delay_weights(delay[1, 5:6], 0.005, 4)[:, :, 0, 0]
    np.testing.assert_array_equal(weights[:, : alone.shape[1], 1, 5], alone)


@pytest.mark.parametrize("name", ["anymal", "tytan", "minimal"])
@pytest.mark.parametrize("form", ["encoder", "setpoint"])
def test_the_engine_is_told_to_give_what_the_drive_law_gives(name, form):
    """clip(c − P q − D q̇, low, high) is drive_torque, inside and outside the torque-speed envelope."""
    robot = Robot.load(name)
    dynamics = robot.dynamics.replace(delay=np.zeros(1), cutoff=np.array([30.0]))
    d = drives(robot, dynamics, robots=50, substeps=1, bias_form=form)
    span = 0.8 * (robot.upper - robot.lower) / 2
    middle = (robot.upper + robot.lower) / 2
    target, q = (middle + span * RNG.uniform(-1, 1, (50, 12)) for _ in range(2))
    v = RNG.normal(size=(50, 12)) * np.minimum(robot.no_load_speed / 5, 20.0)
    d.command(target)
    effort, (p, damping) = d.effort(0, q, v), d.feedback
    given = np.clip(effort.control - p * q - damping * v, effort.low, effort.high)
    law = drive_torque(
        robot, target, q, v,
        stiffness=robot.stiffness, damping=robot.damping, bias=dynamics.bias, filtered_velocity=d.share * v,
    )  # fmt: skip
    np.testing.assert_allclose(given, law, atol=1e-9)
    clamped = ((law <= effort.low) | (law >= effort.high)).mean()
    assert 0.02 < clamped < 0.98


def test_at_a_hard_limit_no_target_pushes_further():
    robot = Robot.load("anymal")
    d = drives(robot, JointDynamics.no_model(robot.joints), robots=1, substeps=1)
    q, v = robot.upper[None], np.zeros((1, 12))
    for target, pushes in ((robot.upper + 1.0, False), (robot.upper - 1.0, True)):
        d.command(target[None])
        effort = d.effort(0, q, v)
        wanted = effort.control - d.feedback[0] * q
        assert bool((np.abs(wanted) > 1.0).all()) is pushes


def test_after_a_reset_the_old_command_is_forgotten_by_that_robot_alone():
    robot = Robot.load("anymal")
    d = drives(robot, robot.dynamics.replace(bias=np.zeros(12)), robots=2)
    old, new = np.zeros((2, 12)), np.full((2, 12), 0.1)
    d.command(old)
    d.reset(np.array([1]))
    d.command(new)
    effort = d.effort(0, np.zeros((2, 12)), np.zeros((2, 12)))
    np.testing.assert_allclose(effort.control[0], 0.0)
    np.testing.assert_allclose(effort.control[1], robot.stiffness * 0.1)


def test_a_delay_on_the_torque_gives_the_torque_of_then():
    robot = Robot.load("anymal")
    dynamics = JointDynamics.no_model(robot.joints).replace(delay=np.array([0.0075]))
    d = drives(robot, dynamics, robots=1, substeps=1, delay_on="torque")
    assert not np.any(d.feedback)
    q, v, torques, given = np.zeros((1, 12)), np.zeros((1, 12)), [], []
    for k in range(6):
        target = np.full((1, 12), 0.05 * k)
        d.command(target)
        given.append(d.effort(0, q, v).control[0, 0])
        torques.append(robot.stiffness[0] * 0.05 * k)
    expected = np.interp(np.arange(6) - 1.5, np.arange(6), torques)
    np.testing.assert_allclose(given, expected, atol=1e-12)
