"""The four rewards by hand arithmetic, and the schedules at points that anyone can check."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.train import rewards
from surefoot.train.schedules import entropy_coefficient, penalty_scale


def test_perfect_tracking_earns_one_for_each_part():
    command = np.array([0.5, -0.2, 0.3])
    assert rewards.velocity_tracking(command, [0.5, -0.2, 9.9], [9.9, 9.9, 0.3]) == pytest.approx(2.0)


def test_tracking_falls_off_with_the_squared_error():
    """0.3 and 0.4 m/s off are 0.5 m/s in the plane: exp(-0.25 / 0.25) = 1/e; 0.5 rad/s off the same; both together 2/e."""
    command = np.array([1.0, 0.0, 0.0])
    assert rewards.velocity_tracking(command, [0.7, 0.4, 0.0], [0.0, 0.0, 0.0]) == pytest.approx(1 + math.exp(-1))
    assert rewards.velocity_tracking(command, [0.7, 0.4, 0.0], [0.0, 0.0, 0.5]) == pytest.approx(2 * math.exp(-1))


def test_power_weighs_less_at_speed():
    """γ_v = 1 / (‖v̂‖² + 1): 300 W count 300 standing, 150 at 1 m/s and 100 at (1, 1) m/s; turning does not count as speed."""
    commands = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.7], [1.0, 1.0, 0.0]])
    assert rewards.energy(commands, np.full(3, 300.0)) == pytest.approx([300.0, 150.0, 100.0])


def test_a_collision_is_a_collision_however_many_there_are():
    limits = np.array([[False, False], [True, True], [False, False]])
    thighs = np.array([[False] * 4, [True] * 4, [False, True, False, False]])
    assert rewards.collision(limits, thighs).tolist() == [0.0, 1.0, 1.0]


def test_touch_down_looks_three_steps_back():
    """A foot that lands is charged its highest speed of three steps; one that only stands, or flies, is not."""
    speeds = np.array([[[0.9, 2.0], [0.4, 2.0], [0.0, 2.0]]])  # (robots, steps, feet)
    assert rewards.touchdown(speeds, [[True, False]]) == pytest.approx([0.9])
    assert rewards.touchdown(speeds, [[True, True]]) == pytest.approx([2.9])
    assert rewards.touchdown(speeds, [[False, False]]) == pytest.approx([0.0])


def test_half_of_the_penalties_counts_after_the_half_life():
    assert penalty_scale(0, half_life=500) == 0.0
    assert penalty_scale(500, half_life=500) == pytest.approx(0.5)
    assert penalty_scale(1500, half_life=500) == pytest.approx(0.875)


def test_entropy_turns_over_in_the_middle():
    entropy = lambda t: entropy_coefficient(t, first=2e-3, last=5e-4, turn_over=600, steepness=0.005)  # noqa: E731
    assert entropy(600) == pytest.approx((2e-3 + 5e-4) / 2)
    assert entropy(0) == pytest.approx(2e-3, rel=0.01)
    assert entropy(1500) == pytest.approx(5e-4, rel=0.01)


@given(st.floats(0, 1e5), st.floats(0, 1e5))
def test_schedules_only_ever_go_one_way(a, b):
    early, late = sorted((a, b))
    assert penalty_scale(early, half_life=500) <= penalty_scale(late, half_life=500) <= 1.0
    entropy = lambda t: entropy_coefficient(t, first=2e-3, last=5e-4, turn_over=600, steepness=0.005)  # noqa: E731
    assert entropy(early) >= entropy(late)
