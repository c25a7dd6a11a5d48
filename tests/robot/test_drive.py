import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.robot import Robot, drive_torque, gear_ratio, safe_target, torque_bounds


@pytest.fixture(scope="module")
def two() -> Robot:
    """Two joints: one with an envelope and limits, one with a gear table and none."""
    return Robot(
        name="two", source="test", model="", joints=("plain", "geared"), kinds=("hinge", "hinge"),
        stiffness=[50.0, 50.0], damping=[1.0, 1.0], torque_limit=[10.0, 2.0], stall_torque=[20.0, 4.0],
        no_load_speed=[8.0, 30.0], gear_position=[[0.0, 1.0], [-1.0, 1.0]], gear_ratio=[[np.nan, np.nan], [2.0, 6.0]],
        geared=[False, True], lower=[-1.0, -np.inf], upper=[1.0, np.inf], soft_band=[0.1, 0.1], posture=[0.0, 0.0],
        motor={},
    )  # type: ignore[arg-type]  # fmt: skip


def at(value: float) -> np.ndarray:
    return np.array([value, 0.0])


def test_at_standstill_the_torque_limit_holds(two):
    low, high = torque_bounds(two, [0.0, 0.0], [0.0, 0.0])
    assert high.tolist() == [10.0, 4.0 * 2.0]  # the geared joint: ratio 4 at q = 0, motor limit 2
    assert (low == -high).all()


def test_back_emf_takes_torque_away_in_the_direction_of_motion_only(two):
    low, high = torque_bounds(two, at(0.0), at(6.0))
    assert high[0] == pytest.approx(20.0 * (1 - 6.0 / 8.0))
    assert low[0] == -10.0


def test_beyond_the_no_load_speed_a_drive_can_brake_but_not_push(two):
    low, high = torque_bounds(two, at(0.0), at(9.0))
    assert high[0] == 0.0
    assert low[0] == -10.0
    low, high = torque_bounds(two, at(0.0), at(-9.0))
    assert low[0] == 0.0
    assert high[0] == 10.0


def test_a_gear_trades_speed_for_torque(two):
    q = np.array([0.0, 1.0])  # ratio 6
    assert torque_bounds(two, q, [0.0, 0.0])[1][1] == 12.0
    assert torque_bounds(two, q, [0.0, 4.9])[1][1] == pytest.approx(24.0 * (1 - 4.9 / 5.0))  # no load at 30 / 6 rad/s


def test_the_gear_table_is_linear_inside_and_constant_outside(two):
    q = np.array([[0.0, -5.0], [0.0, -1.0], [0.0, 0.5], [0.0, 9.0]])
    assert gear_ratio(two, q)[:, 1].tolist() == [2.0, 2.0, 5.0, 6.0]


@settings(deadline=None)
@given(st.floats(-4, 4), st.floats(-60, 60))
def test_zero_torque_is_always_possible(q, v):
    low, high = torque_bounds(Robot.load("tytan"), np.full(12, q), np.full(12, v))
    assert (low <= 0.0).all()
    assert (high >= 0.0).all()


def test_a_drive_without_limits_gives_whatever_is_asked(two):
    free = two.replace(torque_limit=[np.inf] * 2, stall_torque=[np.inf] * 2, no_load_speed=[np.inf] * 2)
    torque = drive_torque(free, [100.0, 100.0], [0.0, 0.0], [0.0, 0.0], stiffness=50.0, damping=1.0)
    assert torque.tolist() == [5000.0, 5000.0]


def test_the_drive_sees_its_encoder_and_not_the_joint(two):
    # encoder = q − q_b = 0.3 − 0.1; P (0.25 − 0.2) = 2.5
    torque = drive_torque(two, at(0.25), at(0.3), at(0.0), stiffness=50.0, damping=1.0, bias=at(0.1))
    assert torque[0] == pytest.approx(2.5)


def test_damping_acts_on_the_velocity_error_and_feedforward_adds(two):
    # 50·0.1 + 2·(0.5 − 1.5) + 0.25 = 3.25
    gains = {"stiffness": 50.0, "damping": 2.0, "target_velocity": 0.5, "feedforward": 0.25}
    assert drive_torque(two, at(0.1), at(0.0), at(1.5), **gains)[0] == pytest.approx(3.25)


def test_a_filtered_velocity_changes_the_damping_but_not_the_envelope(two):
    gains = {"stiffness": 50.0, "damping": 2.0}
    assert drive_torque(two, at(0.1), at(0.0), at(1.0), filtered_velocity=at(0.0), **gains)[0] == pytest.approx(5.0)
    # at the true 7 rad/s the envelope leaves 20 (1 − 7/8) = 2.5, whatever the filter says
    assert drive_torque(two, at(9.0), at(0.0), at(7.0), filtered_velocity=at(0.0), **gains)[0] == pytest.approx(2.5)


def test_a_disabled_drive_gives_no_torque(two):
    torque = drive_torque(two, [1.0, 1.0], [0.0, 0.0], [0.0, 0.0], stiffness=5.0, damping=0.0, enabled=[False, True])
    assert torque.tolist() == [0.0, 5.0]


def test_lanes_and_samples_broadcast(two):
    target, gains = np.ones((7, 1, 2)), np.ones((3, 2))
    torque = drive_torque(two, target, np.zeros((7, 3, 2)), np.zeros(2), stiffness=gains, damping=0.0)
    assert torque.shape == (7, 3, 2)
    assert (torque == 1.0).all()


def test_at_the_hard_limit_no_torque_toward_the_limit_is_asked(two):
    assert safe_target(two, at(1.7), at(1.0))[0] == pytest.approx(1.0)
    assert safe_target(two, at(-1.7), at(-1.0))[0] == pytest.approx(-1.0)


def test_beyond_the_hard_limit_the_target_stays_the_limit(two):
    assert safe_target(two, at(1.7), at(1.3))[0] == pytest.approx(1.0)


def test_halfway_into_the_soft_band_half_of_the_excess_is_taken_away(two):
    assert safe_target(two, at(1.6), at(0.95))[0] == pytest.approx(1.3)  # 1.6 − 0.5 (1.6 − 1.0)
    assert safe_target(two, at(-1.6), at(-0.95))[0] == pytest.approx(-1.3)


def test_targets_inside_the_limits_or_away_from_them_pass_unchanged(two):
    assert safe_target(two, at(0.99), at(0.99))[0] == 0.99
    assert safe_target(two, at(-1.6), at(0.99))[0] == -1.6
    assert safe_target(two, at(1.6), at(0.5))[0] == 1.6


def test_a_joint_without_limits_has_every_target(two):
    assert safe_target(two, np.array([0.0, 1e3]), np.array([0.0, 1e3]))[1] == 1e3
