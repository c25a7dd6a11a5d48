"""A recording laid along the physics steps: which command is due when, and which stamps fall into which step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import savgol_filter

from surefoot.errors import SurefootError
from surefoot.record.held import held
from surefoot.record.recording import Recording
from surefoot.simulate.physics import Physics

Array = np.ndarray
SMOOTHING = 0.03  # [s] of prescribed motion that one cubic runs through
GRID = 1e-9  # [s] stamps this close to a physics step lie on it, or as close as their clock can tell


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Step i runs from i h to (i+1) h after the first stamp."""

    steps: int
    since: Array  # time of each stamp since the first [s], shape (T,)
    on_grid: bool  # every step has one stamp, at its start
    first: Array  # stamps first[i] .. first[i+1] fall into step i, shape (steps + 1,)
    fraction: Array  # time of each stamp since the start of its step [s], shape (T,)
    start_position: Array  # encoder reading at the first stamp [rad], shape (n,)
    start_velocity: Array  # [rad/s], shape (n,)
    given: Array  # bool, shape (n,): prescribed joints
    motion: Array  # (q, q̇, q̈) of prescribed joints at each step, shape (steps, 3, n)
    enabled: Array | None  # drive on at each step, shape (steps, n)

    @classmethod
    def of(cls, recording: Recording, physics: Physics) -> Schedule:
        """Lay a recording along steps of `physics.timestep`."""
        h = physics.timestep
        since, near = _since(recording.time, h)
        steps = int(np.floor((since[-1] + near) / h)) + 1
        if steps < 2:
            raise SurefootError(
                f"recording '{recording.name}' lasts {since[-1]:g} s, less than two physics steps of {h:g} s; record longer."
            )
        index = np.floor((since + near) / h).astype(np.int64)
        given = np.array([joint in recording.prescribed for joint in recording.joints])
        grid = np.arange(steps) * h
        enabled = None
        if recording.enabled is not None:
            newest = np.clip(np.searchsorted(since, grid + near, side="right") - 1, 0, len(since) - 1)
            enabled = recording.enabled[newest].astype(float)
        return cls(
            steps=steps,
            since=since,
            on_grid=len(index) == steps and bool((np.abs(since - grid) < GRID).all()),
            first=np.searchsorted(index, np.arange(steps + 1)).astype(np.int64),
            fraction=np.maximum(since - index * h, 0.0),
            start_position=recording.position[0],
            start_velocity=start_velocity(recording),
            given=given,
            motion=_motion(recording, since, grid, h, given),
            enabled=enabled,
        )


def _since(time: Array, h: float) -> tuple[Array, float]:
    """Seconds since the first stamp, put on the physics steps where they are as near as the clock can tell; and how near that is.

    Seconds since 1970 are rounded to 0.2 µs: their differences must not fall now before, now after the step they belong to.
    """
    near = max(GRID, 4 * np.finfo(float).eps * float(np.abs(time).max()))
    since = time - time[0]
    grid = np.round(since / h) * h
    snapped = np.where(np.abs(since - grid) < near, grid, since)
    return (snapped, near) if (np.diff(snapped) > 0).all() else (since, GRID)


def start_velocity(recording: Recording) -> Array:
    """Joint velocity at the first stamp [rad/s]: measured, or the slope of the first positions of a robot that is already moving.

    A recording normally starts at rest. A slope counts as motion where it stands out of its own scatter and is a tenth of the
    motion's usual speed while the command moves too, or half of it while the command stands still.
    """
    if recording.velocity is not None:
        return recording.velocity[0].copy()
    few = min(10, len(recording.time))
    t = recording.time[:few] - recording.time[0]
    design = np.vander(t, 3, increasing=True)
    coefficients = np.linalg.lstsq(design, recording.position[:few], rcond=None)[0]
    residual = recording.position[:few] - design @ coefficients
    spread = np.sqrt((residual**2).sum(0) / (few - 3) * np.linalg.inv(design.T @ design)[1, 1])
    stride = max(1, len(recording.time) // 400)
    speeds = np.abs(np.diff(recording.position[::stride], axis=0) / np.diff(recording.time[::stride])[:, None])
    slope, usual = coefficients[1], np.percentile(speeds, 90, axis=0)
    commanded = np.abs(recording.target[few - 1] - recording.target[0]) / t[-1] > 0.1 * usual
    return np.where(np.abs(slope) > np.maximum(4 * spread, np.where(commanded, 0.1, 0.5) * usual), slope, 0.0)


def _motion(recording: Recording, since: Array, grid: Array, h: float, given: Array) -> Array:
    """Position, velocity and acceleration of the prescribed joints: a cubic through 30 ms (11 steps at least) around each.

    Held samples of lost packets are bridged: a motion that stops and jumps would throw every joint that hangs on it.
    """
    motion = np.zeros((len(grid), 3, recording.n))
    window = max(11, int(SMOOTHING / h) | 1)
    window = min(window, len(grid) - 1 + len(grid) % 2)
    for j in np.flatnonzero(given):
        fresh = ~held(recording.position[:, j])
        q = np.interp(grid, since[fresh], recording.position[fresh, j])
        for order in range(3):
            motion[:, order, j] = (
                savgol_filter(q, window, min(3, window - 1), deriv=order, delta=h) if window > 2 else q * (order == 0)
            )
    return motion
