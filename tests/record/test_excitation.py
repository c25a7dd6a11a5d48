"""Motions to excite the joints with: their band, their size, their ends."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import stft

from surefoot.errors import SurefootError
from surefoot.record.excitation import chirp, steps
from surefoot.robot.spec import Robot

ANYMAL = Robot.load("anymal")


def test_a_chirp_begins_and_ends_at_rest_in_the_default_posture():
    motion = chirp(ANYMAL)
    speed = np.gradient(motion.target, motion.time, axis=0)
    for end in (0, -1):
        np.testing.assert_allclose(motion.target[end], ANYMAL.posture, atol=2e-4)
        assert np.abs(speed[end]).max() < 0.1
    assert motion.joints == ANYMAL.joints
    assert motion.name == "chirp"


def test_a_chirp_sweeps_its_band_linearly():
    motion = chirp(ANYMAL, duration=20.0, start_hz=0.5, stop_hz=8.0, ramp=0.0)
    f, t, power = stft(motion.target[:, 0] - ANYMAL.posture[0], 400, nperseg=1600)
    loudest = f[np.abs(power).argmax(axis=0)]
    inside = (t > 2.5) & (t < 17.5)
    np.testing.assert_allclose(loudest[inside], 0.5 + 7.5 * t[inside] / 20, atol=0.4)


def test_time_is_uniform_at_the_rate_asked_for():
    for motion in (chirp(ANYMAL, duration=3.0, rate=250.0), steps(ANYMAL, duration=3.0, rate=250.0)):
        np.testing.assert_allclose(motion.time, np.arange(750) / 250)
        assert motion.target.shape == (750, 12)


def test_the_amplitude_and_the_centre_are_those_asked_for():
    motion = chirp(ANYMAL, amplitude=np.linspace(0.05, 0.3, 12), centre=0.1, ramp=0.0)
    np.testing.assert_allclose(np.abs(motion.target - 0.1).max(axis=0), np.linspace(0.05, 0.3, 12), rtol=1e-3)


def test_neighbours_move_in_opposite_senses():
    motion = chirp(ANYMAL)
    away = motion.target - ANYMAL.posture
    assert ((away[:, :-1] * away[:, 1:]).sum(axis=0) < 0).all()


def test_near_a_joint_limit_the_default_amplitude_shrinks_and_stays_inside():
    tight = ANYMAL.replace(lower=ANYMAL.posture - 0.1, upper=ANYMAL.posture + 1.0)
    for motion in (chirp(tight), steps(tight)):
        assert (motion.target > tight.lower).all()
        assert np.abs(motion.target - tight.posture).max() <= 0.06 + 1e-12


def test_without_limits_the_default_amplitude_is_a_fifth_of_a_radian():
    free = ANYMAL.replace(lower=np.full(12, -np.inf), upper=np.full(12, np.inf))
    np.testing.assert_allclose(np.abs(chirp(free).target - free.posture).max(), 0.2, rtol=1e-3)


def test_steps_hold_each_level_and_begin_at_the_centre():
    motion = steps(ANYMAL, duration=5.0, dwell=0.5, seed=3)
    levels = motion.target.reshape(10, 200, 12)
    assert (levels == levels[:, :1]).all()
    np.testing.assert_array_equal(levels[0, 0], ANYMAL.posture)
    assert len(np.unique(levels[:, 0, 0])) == 10


def test_the_same_seed_gives_the_same_steps_and_another_others():
    one, two, other = (steps(ANYMAL, seed=s).target for s in (1, 1, 2))
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


@pytest.mark.parametrize("band", [(5.0, 5.0), (8.0, 2.0), (-1.0, 5.0), (0.1, 200.0)])
def test_a_band_that_cannot_be_swept_is_said_in_a_sentence(band):
    with pytest.raises(SurefootError, match="half the rate"):
        chirp(ANYMAL, start_hz=band[0], stop_hz=band[1])


def test_two_excitations_are_told_apart_by_identity_and_can_be_replaced():
    motion = chirp(ANYMAL, duration=1.0)
    assert replace(motion, name="mine").name == "mine"
