"""Levenberg-Marquardt: on clean data that MuJoCo played it finds what was hidden, at any size of machine."""

import numpy as np
import pytest
from machines import FINGER, LEGS, PENDULUM, SHAFT, SLIDE, errors, hidden, legs, machine, pendulum, recorded

from surefoot.identify.bounds import default_bounds
from surefoot.identify.least_squares import _step, least_squares
from surefoot.identify.problem import Linear, Problem
from surefoot.identify.seed import seeds
from surefoot.identify.stop import Stop
from surefoot.identify.unknowns import Unknowns, make_space
from surefoot.record.excitation import chirp
from surefoot.robot.spec import Robot
from surefoot.simulate.physics import Physics
from surefoot.simulate.rehearsal import rehearse

WITHOUT_GRAVITY = (SHAFT, SLIDE)  # there a bias changes nothing


def problem_of(robot, recordings, *, physics=None, **unknowns):
    bounds = default_bounds(robot, recordings, np.full(robot.n, 0.02))
    space = make_space(recordings[0].joints, (), Unknowns(**unknowns), bounds)
    return Problem(robot, recordings, space, physics or Physics())


def start_of(problem):
    return seeds(problem.robot, problem.recordings, problem.space, problem.physics)[0]


@pytest.mark.parametrize("text", [PENDULUM, SHAFT, SLIDE, LEGS], ids=["pendulum", "shaft", "95 kg slide", "legs"])
def test_on_clean_data_every_parameter_is_found_to_a_millionth(text):
    robot = machine(text)
    truth = hidden(robot)
    problem = problem_of(robot, [recorded(robot, truth)])
    found = least_squares(problem, start_of(problem))
    gap = errors(problem.space.decode(found.x).lane(0), truth)
    assert found.stop is Stop.CONVERGED
    assert max(gap[name] for name in ("armature", "damping", "friction", "delay")) < 1e-6
    assert text in WITHOUT_GRAVITY or gap["bias"] < 1e-6


def test_a_joint_of_25_mg_m2_is_found_with_the_default_bounds():
    robot = machine(FINGER)
    truth = hidden(robot).replace(armature=np.array([25e-6]))
    problem = problem_of(robot, [recorded(robot, truth)])
    found = least_squares(problem, start_of(problem))
    assert max(errors(problem.space.decode(found.x).lane(0), truth).values()) < 1e-6


def test_a_quadruped_is_found_from_six_seconds():
    robot = Robot.load("anymal")
    truth = robot.dynamics.replace(bias=np.linspace(-0.03, 0.03, robot.n), damping=np.linspace(0.2, 1.0, robot.n))
    problem = problem_of(robot, [rehearse(robot, truth, chirp(robot, duration=6.0, stop_hz=8.0))])
    found = least_squares(problem, start_of(problem))
    assert max(errors(problem.space.decode(found.x).lane(0), truth).values()) < 1e-6


def test_two_gain_sets_are_fitted_at_once():
    robot, truth, rec = pendulum()
    other = recorded(robot, truth, seconds=2.0, stiffness=60.0, damping=2.0)
    problem = problem_of(robot, [rec, other])
    found = least_squares(problem, start_of(problem))
    assert max(errors(problem.space.decode(found.x).lane(0), truth).values()) < 1e-6


def test_wrong_gains_are_not_a_perfect_fit():
    """The log says half the gain that was in force: gravity does not scale, so no parameters explain the motion."""
    robot, _, rec = pendulum()
    wrong = rec.with_gains(rec.stiffness / 2, rec.damping / 2)
    right, wrong = (problem_of(robot, [r]) for r in (rec, wrong))
    losses = [least_squares(p, start_of(p)).loss for p in (right, wrong)]
    assert losses[1] > 1e-6 > 1e6 * losses[0]


def test_the_wrong_form_of_the_delay_fits_worse():
    robot, truth, _ = pendulum()
    late = Physics(delay_on="torque")
    rec = recorded(robot, truth.replace(delay=np.array([0.012])), physics=late)
    right, wrong = (problem_of(robot, [rec], physics=p) for p in (late, Physics()))
    assert least_squares(wrong, start_of(wrong)).loss > 1e6 * least_squares(right, start_of(right)).loss


def test_the_loss_never_rises_and_every_iteration_is_told():
    robot, _, rec = legs()
    problem, told = problem_of(robot, [rec]), []
    found = least_squares(problem, np.zeros(problem.space.size), tell=told.append)
    assert (np.diff(found.history) < 0).all()
    assert [p.loss for p in told] == list(found.history)
    assert [p.iteration for p in told] == list(range(len(told)))


def test_the_loss_is_that_of_the_answer():
    robot, truth, _ = legs()
    rec = recorded(robot, truth, noise=1e-3, seed=1)
    problem = problem_of(robot, [rec])
    found = least_squares(problem, start_of(problem))
    np.testing.assert_allclose(problem.loss(found.x[None])[0], found.loss, rtol=1e-9)
    np.testing.assert_allclose(found.loss, robot.n * 1e-6, rtol=0.1)  # nothing but the noise is left


def test_the_middle_of_the_bounds_is_far_away_and_the_truth_is_found_from_there_too():
    """The first step hits many bounds at once; that is no minimum."""
    robot, truth, rec = legs()
    problem = problem_of(robot, [rec])
    found = least_squares(problem, np.zeros(problem.space.size), limit=100)
    assert max(errors(problem.space.decode(found.x).lane(0), truth).values()) < 1e-6


def test_a_limit_of_iterations_is_a_sentence_with_what_to_do():
    robot, _, rec = legs()
    problem = problem_of(robot, [rec])
    found = least_squares(problem, np.zeros(problem.space.size), limit=2)
    assert found.stop is Stop.LIMIT
    assert len(found.history) == 2
    assert "--max-iterations" in str(found.stop)


def test_an_interrupted_search_keeps_its_best_so_far():
    robot, _, rec = legs()
    problem = problem_of(robot, [rec])

    def tell(progress):
        if progress.iteration == 3:
            raise KeyboardInterrupt

    start = np.zeros(problem.space.size)
    stopped, whole = (least_squares(problem, start, tell=t, limit=n) for t, n in ((tell, 60), (None, 3)))
    assert stopped.stop is Stop.INTERRUPTED
    np.testing.assert_array_equal(stopped.x, whole.x)
    assert stopped.loss < problem.loss(start[None])[0]


def test_a_start_that_diverges_is_said():
    robot, _, rec = pendulum()
    problem = problem_of(robot, [rec.with_gains(1e6, 0.0)], bounds={"armature": (0.0, 1e-3)})
    found = least_squares(problem, -np.ones(problem.space.size))
    assert found.stop is Stop.DIVERGED
    assert "--timestep" in str(found.stop)


def test_an_answer_beyond_the_bounds_ends_on_them_and_the_others_make_the_best_of_it():
    robot, truth, rec = pendulum()
    problem = problem_of(robot, [rec], bounds={"damping": (0.0, 0.5 * truth.damping[0])})
    found = least_squares(problem, start_of(problem))
    k = problem.space.labels().index("swing damping")
    assert found.x[k] == 1.0
    around = problem.linearise(found.x)
    assert around.gradient[k] < 0  # it would go on if it could
    free = np.arange(problem.space.size) != k
    assert np.abs(around.gradient[free]).max() < 1e-3 * abs(around.gradient[k])


def test_what_the_data_do_not_see_stays_where_it_was():
    """A vertical shaft and its bias: no step of rounding errors carries it to a bound."""
    robot = machine(SHAFT)
    problem = problem_of(robot, [recorded(robot, hidden(robot), noise=1e-4)])
    start = start_of(problem)
    k = problem.space.labels().index("shaft bias")
    assert least_squares(problem, start).x[k] == start[k] == 0.0


def linear(hessian, gradient, x):
    return Linear(
        x=np.array(x, float), squares=1.0, hessian=np.array(hessian, float), gradient=np.array(gradient, float), pieces=()
    )


def test_the_undamped_step_is_the_gauss_newton_step():
    step = _step(linear([[2, 0.5], [0.5, 1]], [0.1, -0.2], [0, 0]), 0.0)
    np.testing.assert_allclose(step, -np.linalg.solve([[2, 0.5], [0.5, 1]], [0.1, -0.2]))


def test_a_step_leaves_variables_at_a_bound_that_push_outwards():
    around = linear([[1, 0.9], [0.9, 1]], [-0.5, 0.4], [1.0, 0.0])
    np.testing.assert_allclose(_step(around, 0.0), [1.0, -0.4])  # the second alone: -0.4 / 1


def test_a_step_frees_a_variable_at_a_bound_that_pulls_inwards():
    np.testing.assert_allclose(_step(linear(np.eye(2), [0.5, 0.0], [1.0, 0.0]), 0.0), [0.5, 0.0])


def test_a_step_stays_in_the_cube():
    assert np.abs(_step(linear(0.01 * np.eye(3), [5, -5, 1e-9], [0, 0, 0]), 0.0)).max() <= 1
