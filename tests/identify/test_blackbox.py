"""Random draws, Bayesian optimisation and the small evolution strategy: budgets, seeds, and that they find what is easy."""

import sys

import numpy as np
import pytest
from machines import errors, pendulum

from surefoot.errors import SurefootError
from surefoot.identify import identify
from surefoot.identify.blackbox import bayesian, random_search
from surefoot.identify.search import budget
from surefoot.identify.stop import Stop

CENTRE = np.array([0.3, -0.6])


def bowl(x):
    return ((np.atleast_2d(x) - CENTRE) ** 2).sum(1) + 1e-6


def test_random_draws_keep_the_best_point_that_was_evaluated():
    seen = []

    def loss(x):
        seen.append(x)
        return bowl(x)

    found = random_search(loss, 2, 0, population=50, generations=4)
    every = np.vstack(seen)
    assert len(every) == 200
    assert found.loss == bowl(every).min()
    assert np.array_equal(found.x, every[np.argmin(bowl(every))])
    assert list(found.history) == sorted(found.history, reverse=True)


def test_a_gaussian_process_needs_fewer_points_than_chance():
    pytest.importorskip("bayes_opt")
    model = bayesian(bowl, 2, 0, population=6, generations=12)
    chance = random_search(bowl, 2, 0, population=18, generations=1)
    assert model.loss < 0.1 * chance.loss


def test_points_that_diverge_do_not_end_a_bayesian_search():
    pytest.importorskip("bayes_opt")
    loss = lambda x: np.where(np.atleast_2d(x)[:, 0] < 0, np.inf, bowl(x))  # noqa: E731
    assert np.isfinite(bayesian(loss, 2, 1, population=8, generations=4).loss)


def test_nothing_but_divergence_is_said():
    with pytest.raises(SurefootError, match="diverged"):
        random_search(lambda x: np.full(len(x), np.inf), 2, 0, population=5, generations=1)


def test_ctrl_c_keeps_the_best_so_far():
    def tell(progress):
        if progress.iteration == 1:
            raise KeyboardInterrupt

    found = random_search(bowl, 2, 0, population=20, generations=9, tell=tell)
    assert found.stop is Stop.INTERRUPTED
    assert len(found.history) == 2


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "bayes_opt", None)
    with pytest.raises(SurefootError, match=r'pip install "surefoot\[bayesian\]"'):
        bayesian(bowl, 2, 0, population=4, generations=1)


def test_budgets_are_the_papers_the_librarys_or_what_was_asked_for():
    assert budget("cmaes", 49, None, None) == (4096, 200)
    assert budget("cmaes-small", 49, None, None)[0] == 15
    assert budget("random", 49, 7, 3) == (7, 3)


def test_the_small_strategy_finds_a_pendulum_exactly():
    robot, truth, rec = pendulum()
    fit = identify(robot, [rec], method="cmaes-small", seed=0)
    assert max(errors(fit.dynamics, truth).values()) < 1e-2
    assert fit.unknowns["objective"] == "position"


def test_the_same_search_takes_another_loss_and_writes_it_down():
    robot, truth, rec = pendulum()
    fit = identify(robot, [rec], method="cmaes-small", loss="velocity", generations=150, seed=0)
    assert fit.unknowns["objective"] == "velocity"
    assert errors(fit.dynamics, truth)["armature"] < 0.2


def test_least_squares_refuses_a_loss_it_cannot_minimise():
    robot, _, rec = pendulum()
    with pytest.raises(SurefootError, match="choose one of cmaes"):
        identify(robot, [rec], loss="mmd")
    with pytest.raises(SurefootError, match="loss is 'speed'"):
        identify(robot, [rec], method="random", loss="speed")
    with pytest.raises(SurefootError, match="leave it at 0"):
        identify(robot, [rec], method="random", loss="mmd", torque_weight=1.0)
