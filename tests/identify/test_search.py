"""The three methods: which stages they run, that looking elsewhere helps, and that Ctrl-C keeps what was found."""

import numpy as np
import pytest
from machines import LEGS, errors, hidden, legs, machine, pendulum, recorded

from surefoot.identify import search
from surefoot.identify.bounds import default_bounds
from surefoot.identify.least_squares import least_squares
from surefoot.identify.problem import Problem
from surefoot.identify.search import find
from surefoot.identify.stop import Stop
from surefoot.identify.unknowns import Unknowns, make_space
from surefoot.simulate.physics import Physics


def problem_of(robot, rec, **unknowns):
    space = make_space(rec.joints, (), Unknowns(**unknowns), default_bounds(robot, [rec], np.full(robot.n, 0.02)))
    return Problem(robot, [rec], space, Physics())


def stages(told):
    return list(dict.fromkeys(p.stage for p in told))


def test_a_good_guess_needs_no_global_stage():
    robot, truth, rec = legs()
    problem, told = problem_of(robot, rec), []
    found = find(problem, "hybrid", seed=0, tell=told.append)
    assert stages(told) == ["least squares"]
    assert max(errors(problem.space.decode(found.x).lane(0), truth).values()) < 1e-6


FAR = {"bounds": {"delay": (0.0, 0.25), "armature": (0.0, 3.0)}}  # so wide that least squares gets lost in them


@pytest.fixture
def spoiled(monkeypatch):
    """Every guess is a corner far from the truth, and the robot lags by more than a tenth of a second at worst."""

    def corner(problem):
        return np.where(np.arange(problem.space.size) % 2, 0.98, 0.9)[None]

    monkeypatch.setattr(search, "_guesses", corner)
    robot, _, _ = pendulum()
    truth = hidden(robot)
    rec = recorded(robot, truth)
    return problem_of(robot, rec, **FAR), truth


def test_looking_elsewhere_helps_where_the_guesses_are_bad(spoiled):
    problem, truth = spoiled
    local = find(problem, "least-squares", seed=0)
    told = []
    found = find(problem, "hybrid", seed=0, tell=told.append)
    assert search._poor(problem, local).any()
    assert stages(told) == ["least squares", "cma-es"]
    assert found.loss < 1e-6 * local.loss
    assert max(errors(problem.space.decode(found.x).lane(0), truth).values()) < 1e-6


def test_the_global_stage_is_the_same_for_the_same_seed(spoiled):
    problem, _ = spoiled
    one, two = (find(problem, "hybrid", seed=3) for _ in range(2))
    assert one.x.tobytes() == two.x.tobytes()


def test_hybrid_is_never_worse_than_least_squares(monkeypatch, spoiled):
    """Where the global stage finds nothing, the first answer stands."""
    problem, _ = spoiled
    monkeypatch.setattr(search, "_global", lambda problem, known, seed, tell: -np.ones(problem.space.size))
    local, both = (find(problem, method, seed=0, max_iterations=8) for method in ("least-squares", "hybrid"))
    assert both.loss <= local.loss


def interrupt_in(stage, after=0):
    def tell(progress):
        if progress.stage == stage and progress.iteration >= after:
            raise KeyboardInterrupt

    return tell


@pytest.mark.parametrize("stage", ["least squares", "cma-es"])
def test_an_interruption_in_any_stage_keeps_the_best_so_far(spoiled, stage):
    problem, _ = spoiled
    found = find(problem, "hybrid", seed=0, tell=interrupt_in(stage, 2))
    assert found.stop is Stop.INTERRUPTED
    assert np.isfinite(found.loss)
    assert found.loss <= problem.loss(search._guesses(problem)).min() * (1 + 1e-12)


def test_an_interruption_in_the_first_stage_ends_the_search(spoiled):
    problem, _ = spoiled
    told = []

    def tell(progress):
        told.append(progress)
        if len(told) == 2:
            raise KeyboardInterrupt

    find(problem, "hybrid", seed=0, tell=tell)
    assert len(told) == 2


def test_each_leg_is_judged_and_searched_for_itself():
    """One leg's motion is explained and the other's is not."""
    robot = machine(LEGS)
    truth = hidden(robot)
    rec = recorded(robot, truth)
    problem = problem_of(robot, rec)
    x = problem.space.encode(truth)
    wrong = problem.space.encode(truth.replace(armature=truth.armature * np.array([1, 1, 20, 20])))
    solutions = [least_squares(problem, point, limit=1) for point in (x, wrong)]
    good, bad = (
        search._poor(problem, type(s)(**{**vars(s), "x": p})).any(axis=0) for s, p in zip(solutions, (x, wrong), strict=True)
    )
    assert not good.any()
    assert bad.tolist()[:2] == [False, False]
    assert bad[2:].any()


def test_the_paper_searches_everything_at_once_and_gets_near():
    robot, truth, rec = pendulum()
    problem, told = problem_of(robot, rec), []
    found = find(problem, "cmaes", seed=0, tell=told.append, population=48, generations=40)
    assert stages(told) == ["cma-es"]
    assert problem.rollouts == 48 * len(found.history)
    np.testing.assert_allclose(problem.loss(found.x[None])[0], found.loss, rtol=1e-12)
    assert max(errors(problem.space.decode(found.x).lane(0), truth).values()) < 0.3


def test_guesses_start_optional_parameters_where_they_do_nothing():
    robot, _, rec = legs()
    problem = problem_of(robot, rec, extra=("load", "tilt", "gain_scale", "cutoff"))
    guesses = problem.space.decode(search._guesses(problem)[:-2])
    np.testing.assert_allclose(guesses.load, 0, atol=1e-12)
    np.testing.assert_allclose(guesses.tilt, 0, atol=1e-12)
    np.testing.assert_allclose(guesses.gain_scale, 1)
    assert guesses.cutoff.min() > 300


def test_ties_join_branches_into_one_island_and_shared_parameters_belong_to_none():
    """The global stage searches what no other branch feels apart from the rest; a tie across branches makes them one."""
    robot, _, rec = legs()
    apart, together = (problem_of(robot, rec, tied=tied, extra=("gain_scale",)) for tied in ((), ("armature:*_KNEE",)))
    joints, variables = search._islands(apart)
    assert [sorted(j) for j in joints] == [[0, 1], [2, 3]]
    assert [len(v) for v in variables] == [8, 8]
    joints, variables = search._islands(together)
    assert [sorted(j) for j in joints] == [[0, 1, 2, 3]]
    assert [len(v) for v in variables] == [15]
    shared = {"delay", "gain_scale"}
    for problem, groups in ((apart, search._islands(apart)[1]), (together, variables)):
        named = {label for k in np.concatenate(groups) for label in problem.space.labels()[k].split(" = ")}
        assert not named & shared


def test_looking_elsewhere_helps_with_tied_parameters_too(monkeypatch):
    """With left and right tied the delay and all tied variables are still searched."""
    monkeypatch.setattr(search, "_guesses", lambda problem: np.where(np.arange(problem.space.size) % 2, 0.98, 0.9)[None])
    robot, truth, _ = legs()
    alike = truth.replace(**{k: np.tile(getattr(truth, k)[:2], 2) for k in ("armature", "damping", "friction")})
    problem = problem_of(robot, recorded(robot, alike, seconds=3.0), tied=("left-right",))
    local, found = (find(problem, method, seed=1) for method in ("least-squares", "hybrid"))
    assert search._poor(problem, local).any()
    assert found.loss < 0.01 * local.loss
    assert max(errors(problem.space.decode(found.x).lane(0), alike).values()) < 1e-3
