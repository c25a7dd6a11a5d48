"""Power and what it is made of, by hand."""

import numpy as np
import pytest

from surefoot.errors import SurefootError
from surefoot.robot import MOTOR, Robot
from surefoot.robot.energy import (
    GRAVITY,
    cost_of_transport,
    electrical_power,
    joule_constant,
    mechanical_power,
    potential_power,
    regeneration,
    total_power,
)

TYTAN, ANYMAL = Robot.load("tytan"), Robot.load("anymal")


def test_the_coils_of_a_hip_drive_heat_as_its_motor_says():
    """Tytan's hip: k_i = 0.59, r = 5.6, R = 1.04: one N·m at the joint is 1 / 3.304 A, so 1.04 / 3.304² W."""
    hip = TYTAN.index("LF_HAA")
    assert joule_constant(TYTAN, TYTAN.posture)[hip] == pytest.approx(1.04 / 3.304**2)
    torque = np.zeros(12)
    torque[hip] = 10.0
    assert electrical_power(TYTAN, torque, TYTAN.posture) == pytest.approx(100 * 1.04 / 3.304**2)


def test_a_lever_changes_what_a_torque_costs():
    """Tytan's bent knee turns 9 times slower than its motor, the straight one 0.8 times; the cost goes with the square."""
    knee = TYTAN.index("LF_KFE")
    q = np.stack([TYTAN.posture, TYTAN.posture])
    q[:, knee] = [-2.4, -0.2]
    bent, straight = joule_constant(TYTAN, q)[:, knee]
    assert bent == pytest.approx(1.71 / (9 * 1.25) ** 2)
    assert straight / bent == pytest.approx((9 / 0.8) ** 2)


def test_an_undisclosed_motor_is_one_number():
    assert joule_constant(ANYMAL, ANYMAL.posture) == pytest.approx(0.05)
    assert electrical_power(ANYMAL, np.full((3, 12), 2.0), ANYMAL.posture) == pytest.approx(np.full(3, 12 * 4 * 0.05))


def test_a_motor_that_nobody_knows_is_named_with_what_to_type():
    bare = ANYMAL.replace(motor=dict(ANYMAL.motor) | {"joule_constant": np.where(np.arange(12) == 4, np.nan, 0.05)})
    with pytest.raises(SurefootError, match=r"joint RF_HFE is not known.*motor\.joule_constant"):
        joule_constant(bare, bare.posture)


def test_braking_gives_back_its_share():
    """Pushing costs τᵀq̇ whole; braking returns k_regen of it: 0.3 for tytan, nothing for anymal."""
    torque, velocity = np.array([[3.0] + [0.0] * 11, [-3.0] + [0.0] * 11]), np.full(12, 2.0)
    assert mechanical_power(TYTAN, torque, velocity) == pytest.approx([6.0, -1.8])
    assert mechanical_power(ANYMAL, torque, velocity) == pytest.approx([6.0, 0.0])


def test_joints_share_one_bus():
    """One joint that brakes feeds another that pushes before anything is lost: 6 W - 4 W = 2 W."""
    torque = np.zeros(12)
    torque[:2] = 3.0, -2.0
    assert mechanical_power(TYTAN, torque, np.full(12, 2.0)) == pytest.approx(2.0)
    mixed = TYTAN.replace(motor=dict(TYTAN.motor) | {"regeneration": np.linspace(0, 1, 12)})
    with pytest.raises(SurefootError, match=r"one number for all joints.*regeneration = 0\.0"):
        regeneration(mixed)


def test_climbing_is_credited_and_descending_is_charged():
    """A 50 kg robot that rises 0.2 m/s stores 98.1 W; the text of the paper rewards it, whatever the drives spent."""
    climb, descend = potential_power(50.0, [0.2, -0.2])
    assert climb == pytest.approx(50 * GRAVITY * 0.2)
    level = total_power(100.0, 300.0, 0.0)
    assert total_power(100.0, 300.0, climb) == pytest.approx(level - 98.1)
    assert total_power(100.0, 300.0, descend) == pytest.approx(level + 98.1)


def test_free_fall_costs_nothing_but_what_it_gives_up():
    """Without a drive at work P_total is the loss of potential power: m g v downward."""
    assert total_power(0.0, 0.0, potential_power(2.0, -3.0)) == pytest.approx(2 * GRAVITY * 3)


def test_cost_of_transport_has_no_unit():
    assert cost_of_transport(500.0, 52.3, 0.978) == pytest.approx(500 / (52.3 * 9.81 * 0.978))


def test_a_robot_without_motors_still_has_all_their_keys():
    bare = ANYMAL.replace(motor={})
    assert set(bare.motor) == set(MOTOR)
    assert all(np.isnan(row).all() for row in bare.motor.values())
