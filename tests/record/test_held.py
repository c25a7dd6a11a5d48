"""Held samples: lost packets are found, standing still is not mistaken for them."""

import numpy as np

from surefoot.record.held import held, resolution
from surefoot.record.recording import Recording

TIME = np.arange(4000) / 400.0
COUNT = 2 * np.pi / 4096


def sine(frequency=2.0, noise=0.0):
    values = 0.3 * np.sin(2 * np.pi * frequency * TIME) + noise * np.random.default_rng(0).normal(size=len(TIME))
    return np.round(values / COUNT) * COUNT


def test_a_run_of_lost_packets_is_marked_exactly():
    values = sine()
    values[1010:1016] = values[1009]
    assert np.flatnonzero(held(values)).tolist() == list(range(1010, 1016))


def test_a_slow_quantised_motion_repeats_counts_but_holds_nothing():
    for frequency in (0.05, 0.5, 3.0, 10.0):
        assert held(sine(frequency)).mean() < 2e-3, frequency
        assert held(sine(frequency, noise=COUNT)).mean() < 2e-3, frequency


def test_a_joint_that_stands_between_steps_holds_nothing():
    position = np.repeat([0.0, 0.4, -0.2, 0.1], 1000)
    smooth = np.convolve(np.pad(position, 50, mode="edge"), np.hanning(101) / np.hanning(101).sum(), mode="valid")
    assert not held(np.round(smooth / COUNT) * COUNT).any()


def test_every_sample_that_a_slow_sensor_repeats_is_held_while_the_joint_is_fast():
    values = np.repeat(sine()[::4], 4)
    fast = np.abs(np.cos(2 * np.pi * 2.0 * TIME)) > 0.6
    fresh = np.arange(len(values)) % 4 == 0
    found = held(values)
    assert not found[fresh].any()
    assert found[fast & ~fresh].mean() > 0.9


def test_mark_held_keeps_what_was_invalid_and_adds_the_held():
    values = sine()
    values[1010:1016] = values[1009]
    position = np.stack([values, sine(3.0)], axis=1)
    valid = np.ones(position.shape, bool)
    valid[:100] = False
    recording = Recording(
        joints=("a", "b"), time=TIME, target=position, position=position, stiffness=[1, 1], damping=[0, 0], valid=valid
    )
    marked = recording.mark_held().valid
    assert marked is not None
    assert not marked[:100].any()
    assert not marked[1010:1016, 0].any()
    assert marked[1010:1016, 1].all()


def test_resolution_is_the_encoder_count():
    assert abs(resolution(sine()) / COUNT - 1) < 1e-6
    assert resolution(np.zeros(50)) == 0.0
