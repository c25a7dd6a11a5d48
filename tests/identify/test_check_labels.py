"""Whole joints under each other's names: seen where gravity betrays them, and only there."""

import functools

import numpy as np
import pytest

from surefoot.demo import hidden_robot
from surefoot.identify.check import check
from surefoot.identify.check_labels import exchanged, misfit
from surefoot.identify.finding import Case
from surefoot.robot.spec import Robot


@functools.cache
def hung(name="anymal"):
    hidden = hidden_robot(name, seed=3)
    return hidden.robot, hidden.fitted


def named_as(rec, exchange):
    """The same joints, under each other's names where `exchange` says so."""
    names = {a: b for pair in exchange for a, b in (pair, pair[::-1])}
    return rec.rename(names).ordered_for(rec.joints)


def legs(*pairs):
    return [(f"{a}_{joint}", f"{b}_{joint}") for a, b in pairs for joint in ("HAA", "HFE", "KFE")]


def stops(robot, rec):
    return [finding for finding in check(robot, [rec]) if finding.level == "stop"]


@pytest.mark.parametrize("name", ["anymal", "tytan", "minimal"])
def test_right_names_raise_no_suspicion(name):
    robot, rec = hung(name)
    assert list(exchanged(Case(robot=robot, recording=rec))) == []


@pytest.mark.parametrize("pairs", [[("LF", "RF")], [("LF", "RF"), ("LH", "RH")]])
def test_legs_under_each_others_names_are_named_and_the_remedy_puts_them_right(pairs):
    robot, rec = hung()
    wrong = named_as(rec, legs(*pairs))
    (finding,) = stops(robot, wrong)
    assert finding.subject == "joint names"
    for a, b in pairs:
        assert {f"{a}_HAA", f"{b}_HAA"} <= set(finding.joint.split(", "))
    told = finding.remedy.split("--rename ")[1].split(" exchanges")[0]
    repaired = wrong.rename(dict(pair.split("=") for pair in told.split())).ordered_for(rec.joints)
    assert np.array_equal(repaired.position, rec.position)
    assert stops(robot, repaired) == []


def test_one_exchanged_pair_is_not_taken_for_a_leg():
    robot, rec = hung()
    (finding,) = stops(robot, named_as(rec, [("LF_HAA", "RF_HAA")]))
    assert "--rename LF_HAA=RF_HAA RF_HAA=LF_HAA exchanges" in finding.remedy


def test_a_leg_without_its_other_side_cannot_be_under_the_wrong_name():
    robot, rec = hung()
    left = rec.select([joint for joint in rec.joints if joint.startswith("LF")])
    assert list(exchanged(Case(robot=robot, recording=left))) == []


def test_a_joint_that_was_never_driven_takes_no_part():
    robot, rec = hung()
    idle = np.ones(rec.position.shape, bool)
    idle[:, 0] = False
    assert misfit(robot, rec.replace(enabled=idle), 0.0075)[0] == 1.0


def test_a_robot_without_sides_is_left_alone():
    robot = Robot.load("single_drive")
    rec = hidden_robot("anymal", seed=3).fitted
    one = rec.select(rec.joints[:1]).rename({rec.joints[0]: robot.joints[0]})
    assert list(exchanged(Case(robot=robot, recording=one))) == []
