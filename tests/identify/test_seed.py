"""Regression guesses: close enough to start from, and never a crash."""

import numpy as np
import pytest
from machines import FINGER, LEGS, PENDULUM, SHAFT, SLIDE, errors, hidden, machine, pendulum, recorded

from surefoot.identify.bounds import default_bounds
from surefoot.identify.problem import Problem
from surefoot.identify.seed import seeds
from surefoot.identify.unknowns import Unknowns, make_space
from surefoot.simulate.physics import Physics


def space_of(robot, rec, **unknowns):
    bounds = default_bounds(robot, [rec], np.zeros(robot.n))
    return make_space(rec.joints, rec.prescribed, Unknowns(**unknowns), bounds)


@pytest.mark.parametrize("text", [PENDULUM, SHAFT, SLIDE, FINGER, LEGS])
def test_on_clean_data_a_guess_is_near_the_truth(text):
    robot = machine(text)
    truth = hidden(robot)
    rec = recorded(robot, truth)
    space = space_of(robot, rec)
    found = seeds(robot, [rec], space, Physics())
    gap = errors(space.decode(found[:1]).lane(0), truth)
    assert gap["armature"] < 0.6
    assert gap["damping"] < 0.2
    assert gap["delay"] < 0.3
    loss = Problem(robot, [rec], space, Physics()).loss(np.vstack([found[:1], np.zeros(space.size)]))
    assert loss[0] < loss[1] / 100


def test_guesses_lie_in_the_cube_and_cover_the_delays():
    robot, _, rec = pendulum()
    space = space_of(robot, rec, bounds={"delay": (0.002, 0.012)})
    found = seeds(robot, [rec], space, Physics(), delays=5)
    assert found.shape == (5, 5)
    assert np.abs(found).max() <= 1
    np.testing.assert_allclose(np.sort(space.decode(found).delay[:, 0]), np.linspace(0.002, 0.012, 5))


def test_a_setpoint_bias_is_guessed_from_the_constant_torque():
    robot, truth, _ = pendulum()
    physics = Physics(bias_form="setpoint")
    rec = recorded(robot, truth, physics=physics)
    space = space_of(robot, rec)
    found = space.decode(seeds(robot, [rec], space, physics)).bias
    assert np.abs(found - truth.bias).min() < 0.2 * abs(truth.bias[0])


def test_samples_without_drive_are_left_out():
    """The drive is off for the second half, where the joint is dragged about by hand."""
    robot, truth, rec = pendulum()
    space = space_of(robot, rec)
    enabled = np.ones(rec.position.shape, bool)
    enabled[800:] = False
    dragged = rec.position.copy()
    dragged[800:, 0] += 0.3 * (1 - np.cos(np.arange(800) / 20))
    given = {"off": rec.replace(enabled=enabled, position=dragged), "unsaid": rec.replace(position=dragged)}
    gap = {key: errors(space.decode(seeds(robot, [r], space, Physics())[0]).lane(0), truth) for key, r in given.items()}
    for name in ("armature", "damping"):
        assert gap["off"][name] < 0.8
        assert gap["off"][name] < 0.8 * gap["unsaid"][name]


def test_the_shortest_recording_gives_guesses_too():
    robot, _, rec = pendulum()
    tiny = rec.between(1.0, 1.0 + 16.5 / 400)
    assert len(tiny.time) in (16, 17)
    assert np.isfinite(seeds(robot, [tiny], space_of(robot, tiny), Physics())).all()


def test_samples_that_are_not_valid_do_not_mislead_the_guess_or_the_bounds():
    robot, _, rec = pendulum()
    valid = np.arange(len(rec.time))[:, None] % 200 < 180
    filled = rec.replace(valid=valid, position=np.where(valid, rec.position, 7.0))
    clean, ruined = (default_bounds(robot, [r], np.zeros(1)) for r in (rec, filled))
    for name, (_, high) in clean.items():
        np.testing.assert_allclose(ruined[name][1], high, rtol=0.3)
    space = space_of(robot, rec)
    clean, ruined = (space.decode(seeds(robot, [r], space, Physics())[:1]).lane(0) for r in (rec, filled))
    np.testing.assert_allclose(ruined.armature, clean.armature, rtol=0.6)
    np.testing.assert_allclose(ruined.damping, clean.damping, rtol=0.2)
