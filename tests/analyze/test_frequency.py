"""Frequency responses against closed forms and scipy: what is exact, what noise does to it, what is refused."""

import numpy as np
import pytest
from scipy import signal

from surefoot import Robot, SurefootError
from surefoot.analyze import frequency_response, joint_response, joint_transfer
from surefoot.record import Recording

RATE = 400.0
JOINT = {"inertia": 0.06, "viscous": 0.1, "stiffness": 60.0, "damping": 2.0}


def sweep(duration=20.0, low=0.1, high=10.0, ramp=1.0):
    """Times and a linear chirp from rest to rest."""
    t = np.arange(round(duration * RATE)) / RATE
    envelope = np.clip(t / ramp, 0, 1) * np.clip((duration - t) / ramp, 0, 1)
    return t, 0.2 * envelope * signal.chirp(t, low, duration, high, phi=-90)


def answer(x, transfer):
    """The periodic output of H(f): exact for a motion that ends as it began."""
    return np.fft.irfft(np.fft.rfft(x) * transfer(np.fft.rfftfreq(len(x), 1 / RATE)), len(x))


def through_joint(delay):
    return lambda f: joint_transfer(f, **JOINT, delay=delay)


def test_a_clean_chirp_gives_the_closed_form():
    t, x = sweep()
    padded = np.concatenate([x, np.zeros(800)])  # the joint comes to rest
    t = np.arange(len(padded)) / RATE
    found = frequency_response(t, padded, answer(padded, through_joint(0.004)), resolution=0.25, band=(0.3, 9.5))
    truth = joint_transfer(found.frequency, **JOINT, delay=0.004)
    assert np.abs(found.response / truth - 1).max() < 0.01
    assert found.coherence.min() > 0.995
    np.testing.assert_allclose(found.phase, np.unwrap(np.angle(truth)), atol=0.01)
    np.testing.assert_allclose(found.magnitude, 20 * np.log10(np.abs(truth)), atol=0.09)


def test_the_deviation_is_the_scatter_of_repeated_measurements():
    t, x = sweep()
    y = answer(x, through_joint(0.0))
    rng = np.random.default_rng(0)
    runs = [frequency_response(t, x, y + 0.01 * rng.standard_normal(len(t)), resolution=0.5, band=(1, 9)) for _ in range(60)]
    scatter = np.std([np.abs(r.response) for r in runs], axis=0) / np.abs(np.mean([r.response for r in runs], axis=0))
    promised = np.sqrt(np.mean([r.deviation**2 for r in runs], axis=0))
    assert np.median(scatter / promised) == pytest.approx(1.0, abs=0.15)


def test_the_coherence_is_the_share_of_the_motion_in_the_power():
    t, x = sweep()
    y = x + 0.5 * np.random.default_rng(1).standard_normal(len(t))  # more noise than motion
    found = frequency_response(t, x, y, resolution=1.0, band=(1, 9))
    power = np.median(np.abs(np.fft.rfft(x)[20:180]) ** 2)
    assert np.median(found.coherence) == pytest.approx(power / (power + 0.25 * len(t)), abs=0.06)  # S_xx / (S_xx + S_nn)


def test_a_chirp_from_rest_to_rest_leaks_less_than_through_welchs_windows():
    t, x = sweep()
    x = np.concatenate([x, np.zeros(800)])
    t = np.arange(len(x)) / RATE
    y = answer(x, through_joint(0.004))
    ours = frequency_response(t, x, y, resolution=0.5, band=(1, 9))
    f, s_xy = signal.csd(x, y, RATE, nperseg=800)
    welch = (s_xy / signal.welch(x, RATE, nperseg=800)[1])[(f > 1) & (f < 9)]
    f = f[(f > 1) & (f < 9)]
    off_ours = np.abs(ours.response / joint_transfer(ours.frequency, **JOINT, delay=0.004) - 1).max()
    off_welch = np.abs(welch / joint_transfer(f, **JOINT, delay=0.004) - 1).max()
    assert off_ours < 0.5 * off_welch


def test_of_steady_noise_it_agrees_with_welch():
    rng = np.random.default_rng(2)
    x = rng.standard_normal(40_000)
    b, a = signal.butter(2, 0.2)
    y = signal.lfilter(b, a, x) + 0.3 * rng.standard_normal(len(x))
    ours = frequency_response(np.arange(len(x)) / RATE, x, y, resolution=2.0, band=(5, 150))
    f, s_xy = signal.csd(x, y, RATE, nperseg=400)
    _, s_xx = signal.welch(x, RATE, nperseg=400)
    _, coherence = signal.coherence(x, y, RATE, nperseg=400)
    off = np.abs(ours.response) - np.interp(ours.frequency, f, np.abs(s_xy / s_xx))
    assert np.sqrt(np.mean(off**2)) < 0.03
    assert np.abs(ours.coherence - np.interp(ours.frequency, f, coherence)).mean() < 0.03


def test_unrelated_signals_are_incoherent():
    rng = np.random.default_rng(3)
    found = frequency_response(np.arange(8000) / RATE, rng.standard_normal(8000), rng.standard_normal(8000), resolution=1.0)
    assert found.averages == 20
    assert found.coherence.mean() == pytest.approx(2 / 20, abs=0.02)


def test_a_jittering_clock_and_a_drift_do_not_matter():
    t, x = sweep()
    y = answer(x, through_joint(0.0))
    rng = np.random.default_rng(4)
    shaken = t + np.r_[0.0, rng.uniform(-0.3, 0.3, len(t) - 2), 0.0] / RATE
    x2, y2 = np.interp(shaken, t, x), np.interp(shaken, t, y)
    level = frequency_response(t, x, y, resolution=0.5, band=(1, 8))
    other = frequency_response(shaken, x2 + 0.5 + 0.01 * shaken, y2 + 0.5 + 0.01 * shaken, resolution=0.5, band=(1, 8))
    assert np.abs(other.response / level.response - 1).max() < 0.01


def test_a_recording_gives_its_joints_response():
    t, x = sweep()
    robot = Robot.load("single_drive")
    y = answer(x, through_joint(0.0))
    good = np.ones((len(t), 1), dtype=bool)
    good[1000:1004] = False
    y[1000:1004] = 9.0  # lost samples
    rec = Recording(
        joints=robot.joints, time=t, target=x[:, None], position=y[:, None], stiffness=np.array([60.0]),
        damping=np.array([2.0]), valid=good,
    )  # fmt: skip
    found = joint_response(rec, "drive", resolution=0.5, band=(1, 9))
    truth = joint_transfer(found.frequency, **JOINT, delay=0.0)
    assert np.abs(found.response / truth - 1).max() < 0.02
    off = np.ones((len(t), 1), dtype=bool)
    off[500:600] = False
    with pytest.raises(SurefootError, match=r"drive of joint drive is off.*between"):
        joint_response(rec.replace(enabled=off), "drive", resolution=0.5)
    with pytest.raises(SurefootError, match="valid: drive"):
        joint_response(rec, "knee", resolution=0.5)


def test_what_cannot_be_estimated_is_refused():
    t, x = sweep(duration=4.0)
    with pytest.raises(SurefootError, match=r"needs a motion of 40 s; this one lasts 4 s\. Give a resolution of 1 Hz"):
        frequency_response(t, x, x, resolution=0.1)
    with pytest.raises(SurefootError, match="the input never changes"):
        frequency_response(t, 0 * x, x, resolution=1.0)
    with pytest.raises(SurefootError, match="the output holds numbers that are not finite"):
        frequency_response(t, x, np.where(t > 1, np.nan, x), resolution=1.0)
    with pytest.raises(SurefootError, match="expected the same"):
        frequency_response(t, x[:-1], x, resolution=1.0)
    with pytest.raises(SurefootError, match="time must increase"):
        frequency_response(np.where(t == t[5], t[4], t), x, x, resolution=1.0)
    with pytest.raises(SurefootError, match="no value between 300 and 400 Hz"):
        frequency_response(t, x, x, resolution=1.0, band=(300, 400))
    with pytest.raises(SurefootError, match=r"with a coherence of at least 1\.1"):
        frequency_response(t, x, x, resolution=1.0).coherent(1.1)
