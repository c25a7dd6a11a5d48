import numpy as np
import pytest

from surefoot.simulate.command import knots, mean_held


def staircase(since, values, start, h, parts=20000):
    """The mean of a held command over a step, by brute force."""
    when = start + (np.arange(parts) + 0.5) / parts * h
    return values[np.clip(np.searchsorted(since, when, side="right") - 1, 0, len(since) - 1)].mean(0)


@pytest.mark.parametrize("h", [0.0005, 0.0025, 0.02])
def test_between_its_knots_the_mean_of_a_held_command_is_straight(h):
    rng = np.random.default_rng(0)
    since, values = np.append(0, np.cumsum(rng.uniform(0.001, 0.012, 40))), rng.normal(size=(41, 2))
    at, seen = knots(since, values, h, hold=True)
    for t in rng.uniform(-0.03, since[-1] + 0.02, 60):
        line = [np.interp(t, at, column) for column in seen.T]
        np.testing.assert_allclose(line, staircase(since, values, t, h), atol=5e-4)


def test_a_command_that_stands_is_itself():
    since, values = np.arange(30) * 0.0025, np.full((30, 1), 0.7)
    np.testing.assert_allclose(mean_held(since, values, np.linspace(-0.1, 0.2, 77), 0.0041), 0.7, rtol=1e-12)


def test_an_interpolated_command_is_left_as_it_is():
    since, values = np.arange(30) * 0.0025, np.random.default_rng(0).normal(size=(30, 3))
    at, seen = knots(since, values, 0.001, hold=False)
    assert at is since
    assert seen is values
