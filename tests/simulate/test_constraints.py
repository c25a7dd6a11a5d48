"""Dry friction and limits: the force found is the one that MuJoCo's convex problem has, whatever the search starts from."""

import mujoco
import numpy as np
import pytest
from rigs import LIMITED, SHAFT, both, candidates, chirp, evaluate, load, shaft, simulated

from surefoot.simulate.constraints import solve_constraints
from surefoot.simulate.features import Features
from surefoot.simulate.physics import Physics
from surefoot.simulate.tree import branches


def chain(n: int) -> list:
    """The links of n joints in a row; only their friction and limit constants matter here."""
    spec = mujoco.MjSpec()
    body = spec.worldbody
    for _ in range(n):
        body = body.add_body(explicitinertial=True, mass=1, inertia=[1, 1, 1])
        body.add_joint(axis=[0, 0, 1])
    return list(branches(spec.compile())[0].links)


def friction_forces(
    n: int, inertia: np.ndarray, force: np.ndarray, v: np.ndarray, friction: np.ndarray, start: np.ndarray
) -> np.ndarray:
    """Forces on n joints for a batch of problems: inertia (L, n, n), force, v, friction and start states (L, n)."""
    links = chain(n)
    has = Features(prescribed=(False,) * n, limited=(False,) * n, envelope=(False,) * n, gear_knots=(0,) * n, limits=(False,) * n)
    effective = 1 / np.diagonal(np.linalg.inv(inertia), axis1=1, axis2=2)
    keys = [(i, j) for i in range(n) for j in range(i + 1)]

    def write(t, rows):  # rows 2n .. 3n of the state are where the search starts
        f, v, _, effective, friction = (rows[k * n : (k + 1) * n] for k in range(5))
        return solve_constraints(t, links, dict(zip(keys, rows[5 * n :], strict=True)), f, [0.0] * n, v, effective, friction, has)

    rows = [force.T, v.T, start.T, effective.T, friction.T, np.array([inertia[:, i, j] for i, j in keys])]
    return evaluate(write, np.concatenate(rows)).T


def problems(n: int, count: int, seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(count, n, n))
    inertia = root @ root.transpose(0, 2, 1) + 0.05 * np.eye(n)
    force, v = rng.normal(size=(count, n)) * 5, rng.normal(size=(count, n)) * 0.05
    return inertia, force, v, rng.uniform(0, 5, (count, n)), rng.integers(-1, 2, (count, n)).astype(float)


@pytest.mark.parametrize("n", [1, 2, 6])
def test_every_joint_sticks_inside_its_friction_or_slides_at_it(n):
    inertia, force, v, friction, start = problems(n, 400, seed=n)
    g = friction_forces(n, inertia, force, v, friction, start)
    link = chain(n)[0]
    regularised = (1 - link.friction_impedance) / link.friction_impedance * np.diagonal(np.linalg.inv(inertia), axis1=1, axis2=2)
    a = np.linalg.solve(inertia, (force + g)[..., None])[..., 0]
    slip = a + regularised * g + link.friction_damping * v  # zero where the joint sticks; opposes g where it slides
    sticks = np.abs(g) < friction * (1 - 1e-9)
    assert (np.abs(g) <= friction * (1 + 1e-12)).all()
    assert np.abs(slip[sticks]).max() < 1e-8
    assert (slip[~sticks] * g[~sticks]).max() < 1e-8
    assert 0.1 < sticks.mean() < 0.9  # both kinds occur


def test_the_answer_does_not_depend_on_where_the_search_starts():
    inertia, force, v, friction, start = problems(5, 200, seed=9)
    one = friction_forces(5, inertia, force, v, friction, start)
    other = friction_forces(5, inertia, force, v, friction, np.ones_like(start))
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_without_friction_there_is_no_force():
    inertia, force, v, friction, start = problems(3, 40, seed=2)
    assert not friction_forces(3, inertia, force, v, 0 * friction, start).any()


def test_a_torque_below_friction_does_not_move_a_joint_and_one_above_does():
    robot = shaft(stiffness=[1.0], damping=[0.0])
    rec = chirp(robot, top=0.5, amplitude=0.0)
    push = [candidates(robot, friction=0, bias=np.zeros((1, 1))).replace(friction=[[1.0]], load=[[tau]]) for tau in (0.9, 1.5)]
    held, moved = (simulated(robot, rec, c)[0, -1, 0] for c in push)
    assert abs(held) < 0.03  # MuJoCo's friction is regularised: it creeps
    assert moved > 0.3


@pytest.mark.parametrize(("amplitude", "friction"), [(0.02, 1.0), (0.05, 2.0), (0.4, 4.0)])
def test_sticking_and_reversal_are_mujocos(amplitude, friction):
    robot = shaft()
    rec = chirp(robot, amplitude=amplitude)
    dynamics = candidates(robot, 6, seed=3, friction=friction)
    ours, theirs = both(robot, rec, dynamics)
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-13)
    speed = np.abs(np.diff(theirs[0], axis=1)) / 0.0025
    assert (speed < 1e-3).any()  # it stands at times
    wrong = simulated(robot, rec, dynamics.replace(friction=dynamics.friction * 1.01))
    assert np.abs(wrong - theirs[0]).max() > 1e-7  # one percent more friction shows


@pytest.mark.parametrize(
    "impedance", ["0.9 0.95 0.001 0.5 2", "0.8 0.99 0.02 0.3 1", "0.9 0.95 0.01 0.4 3", "0.9 0.9 0.001 0.5 2"]
)
def test_a_joint_that_runs_into_its_stops_does_so_as_in_mujoco(impedance):
    robot = load(LIMITED.replace("range=", f'solimplimit="{impedance}" range='), stiffness=[40.0], damping=[1.0])
    rec = chirp(robot, amplitude=0.5)
    dynamics = candidates(robot, 3, seed=5)
    ours, theirs = both(robot, rec, dynamics)
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-12)
    free = load(LIMITED.replace('limited="true"', 'limited="false"'), stiffness=[40.0], damping=[1.0])
    assert np.abs(simulated(free, rec, dynamics) - theirs[0]).max() > 0.1  # the stops were hit


def test_a_joint_that_starts_beyond_a_stop_is_pushed_back():
    robot = load(LIMITED, stiffness=[0.0], damping=[0.5])
    rec = chirp(robot, position=np.full((480, 1), 0.3), feedforward=np.zeros((480, 1)))
    dynamics = candidates(robot, bias=np.zeros((1, 1)), friction=0).replace(armature=[[0.05]])
    ours, theirs = both(robot, rec, dynamics)
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-12)
    assert theirs[0][0, -1, 0] < np.deg2rad(6.5)


def test_friction_of_mujocos_direct_solref_form_is_mujocos_too():
    text = SHAFT.replace('axis="0 0 1"', 'axis="0 0 1" solreffriction="-400 -30" solimpfriction="0.7 0.9 0.001 0.5 2"')
    robot = load(text, stiffness=[40.0], damping=[1.0])
    ours, theirs = both(robot, chirp(robot, amplitude=0.03), candidates(robot, 2, friction=4.0), Physics(timestep=0.005))
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-13)
