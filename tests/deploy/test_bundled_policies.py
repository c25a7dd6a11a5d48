"""The policies that come with the package: whole, for the robots of today, and able to walk on machines they have not seen."""

import re

import numpy as np
import pytest

from surefoot.analyze.run import fell
from surefoot.analyze.walking import base_motion, walking
from surefoot.deploy import Policy, bundled_policies, find_policy
from surefoot.deploy.controller import Controller
from surefoot.deploy.estimator import Estimator
from surefoot.deploy.steering import Script
from surefoot.deploy.walk import walk
from surefoot.robot import Robot
from surefoot.simulate.feet import Feet
from surefoot.simulate.virtual.hardware import VirtualHardware

WALKING = ("anymal", "tytan")


def test_what_comes_is_what_is_said_to_come():
    assert bundled_policies() == WALKING


@pytest.mark.parametrize("name", WALKING)
def test_it_fits_the_robot_and_says_where_it_comes_from(name):
    """Gains, posture and joints are those of the robot.toml of today; seed, fit, commit and marks are inside."""
    spec = Policy.load(find_policy(name)).spec
    robot = Robot.load(name)
    spec.check(robot)
    np.testing.assert_array_equal(spec.lower, robot.lower)
    np.testing.assert_array_equal(spec.upper, robot.upper)
    made = spec.training
    assert made["seed"] >= 0
    assert re.fullmatch(r"[0-9a-f]{16}", made["origin"]["fit_hash"])
    assert re.fullmatch(r"[0-9a-f]{12}\+?", made["versions"]["commit"])
    assert spec.evaluation["velocity_error"] < 0.10  # [m/s]
    assert spec.evaluation["standing"] > 0.95


@pytest.mark.parametrize("name", WALKING)
def test_it_walks_on_a_machine_that_it_has_not_seen(name):
    """Forward, zero-shot, with the estimator in the loop: on its feet after six seconds, and near the speed it was told."""
    robot, policy = Robot.load(name), Policy.load(find_policy(name))
    machine = VirtualHardware(robot, 3, place="ground")
    controller = Controller(robot, policy, Estimator(Feet(robot), policy.spec.dynamics))
    run = walk(machine, controller, Script.held([0.6, 0.0, 0.0]), seconds=6.0)
    assert not fell(run)
    rows = walking(run)
    rows &= run.time > run.time[rows][0] + 2.0
    assert base_motion(run)[rows, 0].mean() == pytest.approx(0.6, abs=0.25)
