"""The measured motion, smoothed: position, velocity and acceleration for what needs them before any simulation."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.signal import savgol_filter

from surefoot.record.recording import Recording

Array = np.ndarray
WINDOW = 0.03  # [s] of samples that a cubic is laid through
RATE = 1000.0  # [Hz] a faster log is thinned to: no joint moves faster


def bridged(recording: Recording) -> Array:
    """Measured positions, drawn straight over samples that are not valid [rad], shape (T, n)."""
    if recording.valid is None:
        return recording.position
    columns = zip(recording.position.T, recording.valid.T, strict=True)
    bridge = lambda column, seen: np.interp(recording.time, recording.time[seen], column[seen]) if seen.any() else 0 * column  # noqa: E731
    return np.stack([bridge(column, seen) for column, seen in columns], axis=1)


@lru_cache(maxsize=16)
def smoothed(recording: Recording) -> tuple[Array, Array, Array, Array]:
    """Times on a uniform grid [s], and q, q̇, q̈ there, shape (N, n), by a cubic through `WINDOW` around each."""
    thin = max(1, int(recording.rate / RATE))
    rate = recording.rate / thin
    time = np.arange(recording.time[0], recording.time[-1], 1 / rate)
    measured = bridged(recording)
    if thin > 1:  # the mean of the samples that fall together, not one of them
        measured = np.apply_along_axis(np.convolve, 0, measured, np.full(thin, 1 / thin), "same")
    raw = np.stack([np.interp(time, recording.time, measured[:, j]) for j in range(recording.n)], axis=1)
    window = min(max(5, int(WINDOW * rate) | 1), (len(time) - 1) | 1)
    window -= 2 * (window > len(time))
    order = min(3, window - 1)
    q, v, a = (np.asarray(savgol_filter(raw, window, order, deriv=k, delta=1 / rate, axis=0)) for k in range(3))
    for array in (time, q, v, a):  # kept for the next who asks
        array.setflags(write=False)
    return time, q, v, a


def commanded(recording: Recording, time: Array, channel: str, late: float = 0.0) -> Array:
    """A command as it was `late` seconds before each of some times, shape (N, n); zero where the channel is absent."""
    values = getattr(recording, channel)
    if values is None:
        return np.zeros((len(time), recording.n))
    return np.stack([np.interp(time - late, recording.time, values[:, j]) for j in range(recording.n)], axis=1)


def drive_demand(recording: Recording, motion: tuple[Array, Array, Array, Array], late: float = 0.0) -> Array:
    """Torque that the drives were asked for along a smoothed motion [N·m], shape (N, n): P(û − q) + D(û̇ − q̇) + feed-forward."""
    time, q, v, _ = motion
    sample = lambda channel: commanded(recording, time, channel, late)  # noqa: E731
    torque = recording.stiffness * (sample("target") - q) + recording.damping * (sample("target_velocity") - v)
    return torque + sample("feedforward")
