"""The losses beside the paper's: each is least at the truth, and each sees what it is meant to see."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from machines import legs

from surefoot.errors import SurefootError
from surefoot.identify.bounds import default_bounds
from surefoot.identify.objectives import leverage, mean_discrepancy, objective, sliced_wasserstein
from surefoot.identify.problem import Problem
from surefoot.identify.unknowns import Unknowns, make_space
from surefoot.simulate import replay
from surefoot.simulate.physics import Physics

LOSSES = ("position", "velocity", "torque", "wasserstein", "mmd", "fisher")


@pytest.fixture(scope="module")
def known():
    """Two legs with measured torque, and the point of the cube where their truth lies."""
    robot, truth, rec = legs()
    rec = rec.replace(torque=replay(robot, rec, truth).torque)
    space = make_space(rec.joints, (), Unknowns(), default_bounds(robot, [rec], np.full(robot.n, 0.02)))
    problem = Problem(robot, [rec], space, Physics())
    return problem, space.encode(truth)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_truth_has_the_least_loss(known, loss):
    problem, truth = known
    away = np.clip(truth + np.random.default_rng(0).uniform(-0.3, 0.3, (12, len(truth))), -1, 1)
    values = objective(problem, loss, around=truth)(np.vstack([truth, away]))
    assert values.shape == (13,)
    assert np.argmin(values) == 0
    assert values[0] < 1e-6 * values[1:].min()


def test_positions_and_velocities_agree_with_a_sum_by_hand(known):
    problem, truth = known
    rec = problem.recordings[0]
    x = np.clip(truth + 0.1, -1, 1)
    run = problem.engines[0].trajectories(problem.space.decode(x[None]))[0][0]
    slope = lambda q: (q[12:] - q[:-12]) / (rec.time[12:] - rec.time[:-12])[:, None]  # noqa: E731
    assert objective(problem, "position")(x[None])[0] == pytest.approx(((run - rec.position) ** 2).sum(1).mean(), rel=1e-9)
    by_hand = ((slope(run) - slope(rec.position)) ** 2).mean()
    assert objective(problem, "velocity")(x[None])[0] == pytest.approx(by_hand, rel=1e-9)


def test_a_motion_that_came_late_is_seen_by_positions_and_hardly_by_sets():
    """Sets of segments do not know when: that is their use with drifting logs, and their price here."""
    t = np.linspace(0, 8, 1600)
    wave = np.sin(2 * np.pi * t)
    rows = np.arange(0, 1400, 10)[:, None] + np.arange(8) * 6
    now, late, other = wave[rows], np.roll(wave, 50)[rows], 1.3 * wave[rows]
    for distance in (sliced_wasserstein, mean_discrepancy):
        assert distance(now, late) < 0.05 * distance(now, other)


def test_leverages_add_up_to_the_unknowns_that_the_data_see(known):
    problem, truth = known
    weights = leverage(problem, truth)
    assert sum(w.sum() for w in weights) == pytest.approx(len(truth), rel=1e-3)
    assert min(w.min() for w in weights) >= 0


def test_samples_that_are_not_valid_do_not_count(known):
    problem, truth = known
    rec = problem.recordings[0]
    broken = np.array(rec.position)
    broken[200:230, 1] += 1.0
    valid = np.ones(rec.position.shape, bool)
    valid[200:230, 1] = False
    spoiled = rec.replace(position=broken, valid=valid)
    other = Problem(problem.robot, [spoiled], problem.space, Physics())
    for loss in ("position", "velocity", "torque", "fisher"):
        assert objective(other, loss, around=truth)(truth[None])[0] < 1e-9


def test_a_recording_without_torque_says_so(known):
    problem, _ = known
    bare = Problem(problem.robot, [problem.recordings[0].replace(torque=None)], problem.space, Physics())
    with pytest.raises(SurefootError, match="measured torque"):
        objective(bare, "torque")
    with pytest.raises(SurefootError, match=r"valid: position, velocity"):
        objective(bare, "speed")


sets = hnp.arrays(float, (12, 3), elements=st.floats(-3, 3))


@settings(max_examples=30, deadline=None)
@given(a=sets, b=sets, seed=st.integers(0, 100))
def test_distances_of_sets_do_not_depend_on_order_and_vanish_for_equal_sets(a, b, seed):
    shuffled = np.random.default_rng(seed).permutation(a)
    for distance in (sliced_wasserstein, mean_discrepancy):
        assert distance(a, shuffled) == pytest.approx(0, abs=1e-9)
        assert distance(a, b) >= -1e-12
        assert distance(a, b) == pytest.approx(distance(a, b[::-1]), abs=1e-9)


def test_in_one_dimension_the_sliced_distance_is_the_squared_shift():
    a = np.random.default_rng(0).normal(size=(50, 1))
    assert sliced_wasserstein(a, a + 0.7) == pytest.approx(0.49, rel=1e-9)
