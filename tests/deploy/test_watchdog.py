"""The watchdog stops what must not go on, and lets everything else pass."""

import numpy as np
import pytest
from policies import ROBOT

from surefoot.deploy.watchdog import Bounds, Tripped, Watchdog
from surefoot.errors import SurefootError
from surefoot.robot.hardware import State

ONE = np.ones(3)


def dog(**bounds):
    return Watchdog(ROBOT, Bounds(**bounds), -ONE, ONE)


def state(time, position=None, **more):
    q = ROBOT.posture + 1e-3 * np.sin(time) if position is None else position
    more = {"imu_angular_velocity": np.zeros(3), "imu_acceleration": np.array([0, 0, 9.81]), "bus_voltage": [48.0]} | more
    return State(time=time, position=q, velocity=np.zeros(12), more=more)


def test_a_sound_robot_is_left_alone():
    watch = dog()
    for k in range(400):
        now = state(0.0025 * k)
        watch.state(now)
        watch.base(np.array([0.1, 0.0, -0.995]))
        watch.command(np.array([1.0, -1.0, 2.0]))
        watch.target(ROBOT.posture + 0.3 * np.sin(0.1 * k), now)


def test_states_that_stay_away_are_noticed():
    watch = dog()
    watch.state(state(0.0))
    watch.state(state(0.05))
    with pytest.raises(Tripped, match="no state came for 51 ms"):
        watch.state(state(0.101))


def test_a_number_that_is_none_is_named():
    with pytest.raises(Tripped, match="IMU gives nan, nan, nan as angular_velocity"):
        dog().state(state(0.0, imu_angular_velocity=np.full(3, np.nan)))
    with pytest.raises(Tripped, match="IMU gives inf"):
        dog().state(state(0.0, imu_acceleration=np.full(3, np.inf)))
    bad = np.where(np.arange(12) == 5, np.nan, ROBOT.posture)
    with pytest.raises(Tripped, match="encoder of RF_KFE is nan"):
        dog().state(state(0.0, bad))


def test_a_base_that_leans_by_more_than_60_degrees_is_falling():
    lean = lambda degrees: np.array([np.sin(np.radians(degrees)), 0.0, -np.cos(np.radians(degrees))])  # noqa: E731
    dog().base(lean(59))
    with pytest.raises(Tripped, match="leans by 62°"):
        dog().base(lean(62))


def test_a_command_that_nobody_can_mean_is_no_command():
    dog().command(10 * ONE)
    for wild in (10.1, 1e9, -1e9, np.nan, np.inf):
        with pytest.raises(Tripped, match="the command is"):
            dog().command(np.array([0.0, 0.0, wild]))


def test_a_bus_may_dip_but_not_sag():
    """48 V nominal: 31.2 V is the least, for at most 20 ms."""
    watch = dog()
    for k, volts in enumerate([48, 25, 25, 25, 48, 25, 25, 25, 25]):
        watch.state(state(0.005 * k, bus_voltage=[volts]))
    with pytest.raises(Tripped, match=r"down to 25\.0 V \(limit 31\.2 V\)"):
        watch.state(state(0.045, bus_voltage=[25.0]))


def test_a_robot_whose_voltage_is_not_known_is_not_watched_for_it():
    unknown = ROBOT.replace(motor={name: np.full(12, np.nan) for name in ROBOT.motor})
    watch = Watchdog(unknown, Bounds(), -ONE, ONE)
    for k in range(20):
        watch.state(state(0.005 * k, bus_voltage=[1.0]))


def stuck_after(move, joint=2, seconds=1.0):
    """When the encoder of a joint that repeats itself is found out, if its target moves by so much at 0.1 s."""
    watch = dog()
    for k in range(int(400 * seconds)):
        q = ROBOT.posture + 1e-3 * np.sin(k)
        q[joint] = ROBOT.posture[joint]
        target = ROBOT.posture + (move if k >= 40 else 0.0)
        try:
            watch.target(target, state(0.0025 * k, q))
        except Tripped as found:
            return 0.0025 * k if ROBOT.joints[joint] in str(found) else None
    return None


def test_an_encoder_that_stays_while_its_target_goes_is_stuck():
    assert stuck_after(0.3) == pytest.approx(0.1 + 0.15, abs=0.006)
    assert stuck_after(0.05) is None  # a joint that is asked for nothing may rest


def test_a_joint_that_rested_is_not_stuck_when_its_target_leaves():
    """It has stood for ten seconds, then its target jumps, and it follows 50 ms later."""
    watch = dog()
    for k in range(4200):
        q = ROBOT.posture + (1e-3 * k if k > 4020 else 0.0)
        watch.target(ROBOT.posture + (1.0 if k > 4000 else 0.0), state(0.0025 * k, q))


def test_bounds_are_above_zero():
    with pytest.raises(SurefootError, match="tilt of the watchdog is 0; it must be above 0"):
        Bounds(tilt=0.0)
