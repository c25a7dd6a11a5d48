"""The fit as a least-squares problem: its residuals are those of a replay, its derivatives those of its residuals."""

import numpy as np
import pytest
from machines import hidden, legs, pendulum, recorded

from surefoot.errors import SurefootError
from surefoot.identify.bounds import default_bounds
from surefoot.identify.problem import Problem, _colour
from surefoot.identify.unknowns import EXTRA, Unknowns, make_space
from surefoot.simulate.physics import Physics
from surefoot.simulate.replay import replay


def problem_of(robot, recordings, *, physics=None, choice="auto", torque_weight=0.0, **unknowns):
    first = recordings[0]
    space = make_space(
        first.joints, first.prescribed, Unknowns(**unknowns), default_bounds(robot, recordings, np.full(robot.n, 0.01))
    )
    return Problem(robot, recordings, space, physics or Physics(), choice=choice, torque_weight=torque_weight)


def residuals(problem, x):
    """All residuals at a point, recording by recording, from whole replays: nothing of the problem's own bookkeeping."""
    dynamics, out = problem.space.decode(x).lane(0), []
    for rec in problem.recordings:
        played = replay(problem.robot, rec, dynamics, physics=problem.physics)
        seen = np.ones((len(rec.time), rec.n)) if rec.valid is None else rec.valid
        free = [j not in rec.prescribed for j in rec.joints]
        out.append(((played.position - rec.position) * seen)[:, free])
        if problem.torque_weight:
            out.append((problem.torque_weight * (played.torque - rec.torque) / rec.stiffness * seen)[:, free])
    return np.concatenate([block.T.ravel() for block in out])


def assert_derivatives(problem, x, *, step=2e-6, within=2e-4):
    """JᵀJ, Jᵀr and r of `linearise`, column by column against central differences of whole replays."""
    around, r = problem.linearise(x), residuals(problem, x)
    pairs = zip(x + step * np.eye(len(x)), x - step * np.eye(len(x)), strict=True)
    jacobian = np.stack([(residuals(problem, up) - residuals(problem, down)) / (2 * step) for up, down in pairs], axis=1)
    scale = np.linalg.norm(jacobian, axis=0)
    assert (scale > 0).all()
    np.testing.assert_allclose(around.squares, r @ r, rtol=1e-9)
    np.testing.assert_allclose(around.gradient / scale, jacobian.T @ r / scale, atol=within * np.linalg.norm(r))
    np.testing.assert_allclose(
        around.hessian / np.outer(scale, scale), jacobian.T @ jacobian / np.outer(scale, scale), atol=within
    )


def somewhere(problem, seed=0):
    """A point near the truth of `hidden`, where joints slide and the motion is smooth enough for differences."""
    truth = hidden(problem.robot)
    x = problem.space.encode(truth)
    return np.clip(x + 0.05 * np.random.default_rng(seed).uniform(-1, 1, len(x)), -0.95, 0.95)


def short(rec, seconds=1.0):
    return rec.between(1.5, 1.5 + seconds)


def test_derivatives_are_those_of_the_residuals():
    robot, _, rec = legs()
    problem = problem_of(robot, [short(rec)])
    assert_derivatives(problem, somewhere(problem))


def test_tied_and_shared_variables_move_all_that_they_name():
    robot, _, rec = legs()
    problem = problem_of(robot, [short(rec)], tied=("left-right", "bias:*_KNEE"), fixed={"armature:*_HIP": 0.01})
    assert_derivatives(problem, somewhere(problem))


@pytest.mark.parametrize("name", EXTRA)
def test_derivatives_of_the_optional_parameters(name):
    robot, _, rec = legs()
    problem = problem_of(robot, [short(rec)], extra=(name,), bounds={"cutoff": (3.0, 100.0)} if name == "cutoff" else {})
    x = somewhere(problem)
    for k, label in enumerate(problem.space.labels()):
        if name in label:
            x[k] = {"tilt": 0.2, "cutoff": 0.0, "breakaway": -0.6, "load_friction": -0.6}.get(name, 0.1)
    assert_derivatives(problem, x)


def test_derivatives_with_one_delay_per_joint():
    robot, _, rec = legs()
    problem = problem_of(robot, [short(rec)], joint_delays=True)
    assert_derivatives(problem, somewhere(problem))


@pytest.mark.parametrize("physics", [Physics(delay_on="torque"), Physics(bias_form="setpoint"), Physics(timestep=0.001)])
def test_derivatives_in_other_physics(physics):
    robot, _, rec = pendulum()
    problem = problem_of(robot, [short(rec)], physics=physics)
    assert_derivatives(problem, somewhere(problem))


def test_several_recordings_add_up():
    robot, truth, rec = legs()
    other = recorded(robot, truth, seconds=2.0, stiffness=30.0, damping=0.8)
    recordings = [short(rec), short(other, 0.4)]
    problem = problem_of(robot, recordings)
    x = somewhere(problem, seed=2)
    assert_derivatives(problem, x)
    alone = [Problem(robot, [r], problem.space, Physics()).linearise(x) for r in recordings]
    np.testing.assert_allclose(problem.linearise(x).hessian, sum(a.hessian for a in alone), rtol=1e-10, atol=1e-14)


def test_samples_that_are_not_valid_do_not_count():
    robot, _, rec = legs()
    rec = short(rec)
    valid = np.ones(rec.position.shape, bool)
    valid[:100, 1] = valid[200:250, :] = False
    ruined = np.where(valid, rec.position, 7.0)
    problem = problem_of(
        robot, [rec.replace(valid=valid, position=np.where(np.arange(len(valid))[:, None] == 0, rec.position, ruined))]
    )
    assert_derivatives(problem, somewhere(problem))


def test_a_prescribed_joint_moves_the_others_but_is_not_compared():
    robot, _, rec = legs()
    problem = problem_of(robot, [short(rec).prescribe("LF_HIP")])
    x = somewhere(problem)
    assert_derivatives(problem, x)
    assert (problem.squares(x[None])[0, 0] > 0).tolist() == [False, True, True, True]


def test_the_torque_channel_counts_in_units_of_position():
    robot, truth, rec = legs()
    played = replay(robot, rec, truth)
    problem = problem_of(robot, [short(rec.replace(torque=played.torque))], torque_weight=0.5)
    x = somewhere(problem)
    assert_derivatives(problem, x)
    np.testing.assert_allclose(problem.squares(x[None]).sum(), problem.linearise(x).squares, rtol=1e-9)


def test_the_torque_channel_needs_measured_torque():
    robot, _, rec = legs()
    with pytest.raises(SurefootError, match="measured torque"):
        problem_of(robot, [short(rec)], torque_weight=1.0)


def test_variables_at_their_bounds_are_stepped_into_the_cube():
    robot, _, rec = legs()
    problem = problem_of(robot, [short(rec)])
    x = somewhere(problem)
    edge = np.where(np.arange(len(x)) % 3 == 0, 1.0, x)  # at the upper bound; a step beyond would leave the cube
    asked = []
    decode = problem.space.decode
    object.__setattr__(problem.space, "decode", lambda points: asked.append(points) or decode(points))
    around = problem.linearise(edge)
    assert np.abs(asked[0]).max() <= 1.0
    inside = problem.linearise(edge - 1e-7 * (edge == 1))
    np.testing.assert_allclose(around.hessian, inside.hessian, rtol=1e-3, atol=1e-3 * np.abs(inside.hessian).max())


def test_squares_and_linearise_agree_with_a_replay():
    robot, _, rec = legs()
    problem = problem_of(robot, [short(rec)])
    x = somewhere(problem)
    r = residuals(problem, x)
    np.testing.assert_allclose(problem.squares(x[None]).sum(), r @ r, rtol=1e-9)
    np.testing.assert_allclose(problem.loss(x[None]), r @ r / len(problem.recordings[0].time), rtol=1e-9)


def test_mujoco_itself_gives_the_same_derivatives():
    robot, _, rec = legs()
    cut = short(rec, 0.2)
    x = somewhere(problem_of(robot, [cut]))
    kernel, mujoco = (problem_of(robot, [cut], choice=choice).linearise(x) for choice in ("kernel", "mujoco"))
    np.testing.assert_allclose(mujoco.squares, kernel.squares, rtol=1e-8)
    np.testing.assert_allclose(mujoco.hessian, kernel.hessian, rtol=1e-3, atol=1e-4 * np.abs(kernel.hessian).max())


def test_one_lane_moves_a_variable_in_every_branch_at_once():
    robot, _, rec = legs()
    problem = problem_of(robot, [short(rec)])
    problem.linearise(somewhere(problem))
    assert problem.rollouts == 1 + 8 + 1  # as it is; eight of one leg together with the other's eight; the delay


@pytest.mark.parametrize(
    ("reach", "lanes"),
    [
        ([{0}, {0}, {1}, {1}], 2),
        ([{0, 1}, {0}, {1}], 2),
        ([{0, 1}, {0, 1}], 2),
        ([{0, 1}, {1, 2}, {0, 2}], 3),
        ([{0}, {1}, {2}], 1),
    ],
)
def test_variables_of_one_lane_share_no_branch(reach, lanes):
    colour = _colour([frozenset(r) for r in reach])
    assert max(colour) + 1 == lanes
    for i in range(len(reach)):
        for j in range(i):
            assert colour[i] != colour[j] or not reach[i] & reach[j]


def test_a_candidate_that_diverges_scores_infinity_and_never_nan():
    robot, _, rec = pendulum()
    wild = short(rec).with_gains(1e6, 0.0)
    problem = problem_of(robot, [wild], bounds={"armature": (0.0, 100.0)})
    x = problem.space.encode(hidden(robot).replace(armature=[0.0], damping=[0.0], friction=[0.0]))
    calm = problem.space.encode(hidden(robot).replace(armature=[100.0]))
    loss = problem.loss(np.array([x, calm]))
    assert np.isinf(loss[0])
    assert np.isfinite(loss[1])
    assert not np.isnan(problem.squares(x[None])).any()
