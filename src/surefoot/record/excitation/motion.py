"""What every excitation shares: where its joints move, how far, how it begins and ends, and which legs mirror which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefoot.errors import SurefootError
from surefoot.record.validation import Array
from surefoot.robot.spec import Robot
from surefoot.robot.symmetry import Symmetry

LARGEST = 0.2  # [rad] default amplitude where the joint limits leave the room
LEAST = 0.02  # [rad]
SHARE = 0.6  # of the room to the nearer joint limit


@dataclass(frozen=True, kw_only=True, eq=False)
class Excitation:
    """Position targets over time."""

    joints: tuple[str, ...]
    time: Array  # [s], shape (T,)
    target: Array  # [rad], shape (T, n)
    name: str = ""


def instants(duration: float, rate: float) -> Array:
    """Times of the commands [s], shape (T,)."""
    if not (np.isfinite(duration) and np.isfinite(rate) and duration > 0 and rate > 0 and duration * rate >= 16):
        raise SurefootError(
            f"{duration:g} s at {rate:g} Hz make no motion; give at least 16 commands, for example 20 s at 400 Hz."
        )
    return np.arange(round(duration * rate)) / rate


def refuse_band(start_hz: float, stop_hz: float, rate: float) -> None:
    """A band lies between zero and half the rate of the commands."""
    if not 0 <= start_hz < stop_hz < rate / 2:
        raise SurefootError(f"the band {start_hz:g}-{stop_hz:g} Hz does not lie between 0 and half the rate, {rate / 2:g} Hz.")


def centres(robot: Robot, centre: ArrayLike | None) -> Array:
    """The middle of the motion asked for, or the posture, shape (n,)."""
    return robot.posture if centre is None else np.broadcast_to(np.asarray(centre, float), (robot.n,))


def amplitudes(robot: Robot, amplitude: ArrayLike | Sequence[float] | None, centre: ArrayLike | None = None) -> Array:
    """The amplitude asked for, or 0.2 rad, or less where a joint limit is near the centre, shape (n,)."""
    if amplitude is not None:
        return np.broadcast_to(np.asarray(amplitude, float), (robot.n,))
    middle = centres(robot, centre)
    room = np.minimum(middle - robot.lower, robot.upper - middle)
    return np.clip(SHARE * np.maximum(room, 0.0), LEAST, LARGEST)


def envelope(time: Array, duration: float, ramp: float) -> Array:
    """From rest and back to it: 0 … 1 … 0 along 3x² − 2x³ over `ramp` seconds at either end, shape (T,)."""
    if ramp <= 0:
        return np.ones_like(time)
    x = np.clip(np.minimum(time, duration - time) / ramp, 0.0, 1.0)
    return x * x * (3 - 2 * x)


@dataclass(frozen=True, kw_only=True, eq=False)
class Leaders:
    """Which joints a mirrored motion is free to choose: joint j does what joint `of[j]` does, times `sign[j]`."""

    of: np.ndarray  # int, shape (n,)
    sign: Array  # ±1, shape (n,)

    @property
    def count(self) -> int:
        """Number of joints that lead."""
        return len(np.unique(self.of))

    def spread(self, values: Array) -> Array:
        """Motions of the leaders, in their order, as motions of all joints: (..., count) to (..., n)."""
        return self.sign * values[..., np.searchsorted(np.unique(self.of), self.of)]


def leaders(robot: Robot, planes: Sequence[Symmetry]) -> Leaders:
    """The first joint of every set of mirror images leads the others; without planes every joint leads itself.

    A joint in a mirror plane that would have to stand still (the yaw of a waist) moves all the same: it is to be identified.
    """
    of, sign = np.arange(robot.n), np.ones(robot.n)
    for j in range(robot.n):
        if of[j] != j:
            continue
        open_ = [j]
        while open_:
            i = open_.pop()
            for plane in planes:
                k = int(plane.permutation[i])
                if of[k] == k and k != j:
                    of[k], sign[k] = j, plane.sign[k] * sign[i]
                    open_.append(k)
    return Leaders(of=of, sign=sign)
