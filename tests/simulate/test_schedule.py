import numpy as np
import pytest
from rigs import chirp, shaft, tree

from surefoot.errors import SurefootError
from surefoot.simulate.physics import Physics
from surefoot.simulate.schedule import Schedule, start_velocity


def test_at_the_physics_rate_every_step_has_one_stamp_at_its_start():
    schedule = Schedule.of(chirp(shaft()), Physics())
    assert schedule.on_grid
    assert schedule.steps == 480
    assert (np.diff(schedule.first) == 1).all()
    assert schedule.fraction.max() < 1e-9


def test_rounding_of_the_clock_does_not_move_a_stamp_into_the_step_before():
    recording = chirp(shaft(), time=1e5 + np.arange(480) * 0.0025)  # seconds since boot, 1e-11 of rounding
    assert Schedule.of(recording, Physics()).on_grid


@pytest.mark.parametrize("boot", [1e5, 1.7e9])
def test_stamps_on_the_steps_are_found_there_whenever_the_clock_began(boot):
    """Seconds since 1970 carry 2e-7 s of rounding."""
    schedule = Schedule.of(chirp(shaft(), time=boot + np.arange(480) * 0.0025), Physics())
    assert schedule.on_grid
    assert (np.diff(schedule.first) == 1).all()
    np.testing.assert_array_equal(schedule.since, np.arange(480) * 0.0025)
    coarse = Schedule.of(chirp(shaft(), time=boot + np.arange(480) * 0.0025), Physics(timestep=0.005))
    assert (np.diff(coarse.first) == 2).all()


def test_every_stamp_falls_into_exactly_one_step():
    time = np.cumsum(np.random.default_rng(0).uniform(0.0004, 0.009, 200))
    schedule = Schedule.of(chirp(shaft(), time=time, seconds=1.0), Physics())
    assert not schedule.on_grid
    assert (schedule.first[0], schedule.first[-1]) == (0, 200)
    step = np.searchsorted(schedule.first, np.arange(200), side="right") - 1
    np.testing.assert_allclose(step * 0.0025 + schedule.fraction, time - time[0], atol=1e-9)
    assert (schedule.fraction < 0.0025).all()


def test_a_recording_shorter_than_two_steps_is_refused():
    recording = chirp(shaft(), time=np.arange(20) * 1e-4)
    with pytest.raises(SurefootError, match="record longer"):
        Schedule.of(recording, Physics(timestep=0.005))


def test_a_drive_stays_as_it_was_switched_until_the_next_stamp():
    time = np.arange(40) * 0.01
    enabled = (np.arange(40) % 2 == 0)[:, None]
    schedule = Schedule.of(chirp(shaft(), time=time, enabled=enabled), Physics(timestep=0.0025))
    assert schedule.enabled[:8, 0].tolist() == [1, 1, 1, 1, 0, 0, 0, 0]


def test_a_recording_at_rest_starts_at_rest_however_noisy_its_encoder():
    noise = np.random.default_rng(0).normal(size=(480, 1)) * 1e-3
    recording = chirp(shaft())
    still = recording.replace(position=np.where(recording.time[:, None] < 0.1, 0.0, recording.position) + noise)
    assert start_velocity(still).tolist() == [0.0]


def test_a_recording_that_begins_in_motion_starts_with_that_speed():
    time = np.arange(480) / 400
    recording = chirp(shaft(), position=0.3 * np.sin(4 * time)[:, None] + np.random.default_rng(0).normal(size=(480, 1)) * 1e-5)
    assert start_velocity(recording)[0] == pytest.approx(1.2, rel=0.05)


def test_a_measured_velocity_is_believed():
    recording = chirp(shaft(), velocity=np.full((480, 1), 0.7))
    assert start_velocity(recording).tolist() == [0.7]


def test_the_motion_of_a_prescribed_joint_is_its_position_velocity_and_acceleration():
    robot = tree()
    time = np.arange(480) / 400
    position = np.tile((0.3 * np.sin(5 * time))[:, None], (1, 5))
    motion = Schedule.of(chirp(robot, position=position, prescribed=("pitch",)), Physics()).motion
    inner = slice(10, -10)
    np.testing.assert_allclose(motion[inner, 0, 1], 0.3 * np.sin(5 * time)[inner], atol=1e-6)
    np.testing.assert_allclose(motion[inner, 1, 1], 1.5 * np.cos(5 * time)[inner], atol=1e-3)
    np.testing.assert_allclose(motion[inner, 2, 1], -7.5 * np.sin(5 * time)[inner], atol=2e-2)
    assert not motion[:, :, [0, 2, 3, 4]].any()


def test_lost_packets_do_not_jerk_a_prescribed_joint():
    robot = tree()
    time = np.arange(480) / 400
    true = 0.3 * np.sin(5 * time)
    logged = true.copy()
    for lost in (100, 140, 300):
        logged[lost : lost + 12] = true[lost - 1]
    position = np.tile(logged[:, None], (1, 5))
    motion = Schedule.of(chirp(robot, position=position, prescribed=("pitch",)), Physics()).motion
    assert np.abs(motion[10:-10, 2, 1] + 25 * true[10:-10]).max() < 10  # held, then jumping, it would be several times that
