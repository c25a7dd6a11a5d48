"""Motions to excite the joints with: the paper's chirp, and the random steps it validates on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefoot.errors import SurefootError
from surefoot.record.validation import Array
from surefoot.robot.spec import Robot


@dataclass(frozen=True, kw_only=True, eq=False)
class Excitation:
    """Position targets over time."""

    joints: tuple[str, ...]
    time: Array  # [s], shape (T,)
    target: Array  # [rad], shape (T, n)
    name: str = ""


def chirp(
    robot: Robot, *, duration: float = 20.0, start_hz: float = 0.1, stop_hz: float = 10.0, amplitude: ArrayLike | None = None,
    centre: ArrayLike | None = None, rate: float = 400.0, ramp: float = 1.0,
) -> Excitation:  # fmt: skip
    """All joints at once through a linear chirp, sin 2π(f₀ t + (f₁ − f₀) t² / 2T), that grows from and fades to rest.

    The joints of one leg move in opposite senses in turn, so that no two neighbours do the same.
    """
    if not 0 <= start_hz < stop_hz < rate / 2:
        raise SurefootError(f"the band {start_hz:g}-{stop_hz:g} Hz does not lie between 0 and half the rate, {rate / 2:g} Hz.")
    time = np.arange(round(duration * rate)) / rate
    phase = 2 * np.pi * (start_hz * time + (stop_hz - start_hz) / (2 * duration) * time**2)
    envelope = np.clip(time / ramp, 0, 1) * np.clip((duration - time) / ramp, 0, 1) if ramp > 0 else 1.0
    sense = np.where(np.arange(robot.n) % 2, -1.0, 1.0)
    motion = (np.sin(phase) * envelope)[:, None] * sense * _amplitude(robot, amplitude)
    return Excitation(joints=robot.joints, time=time, target=_centre(robot, centre) + motion, name="chirp")


def steps(
    robot: Robot, *, duration: float = 20.0, dwell: float = 0.5, amplitude: ArrayLike | None = None,
    centre: ArrayLike | None = None, rate: float = 400.0, seed: int = 0,
) -> Excitation:  # fmt: skip
    """Independent random targets for every joint, each held for `dwell` seconds; the first one is the centre."""
    time = np.arange(round(duration * rate)) / rate
    level = np.random.default_rng(seed).uniform(-1, 1, (int(duration / dwell) + 1, robot.n))
    level[0] = 0.0
    held = level[np.minimum((time / dwell).astype(int), len(level) - 1)]
    return Excitation(
        joints=robot.joints, time=time, target=_centre(robot, centre) + held * _amplitude(robot, amplitude), name="steps"
    )


def _centre(robot: Robot, centre: ArrayLike | None) -> Array:
    return robot.posture if centre is None else np.broadcast_to(np.asarray(centre, float), (robot.n,))


def _amplitude(robot: Robot, amplitude: ArrayLike | Sequence[float] | None) -> Array:
    """The amplitude asked for, or 0.2 rad, or less where a joint limit is near its centre."""
    if amplitude is not None:
        return np.broadcast_to(np.asarray(amplitude, float), (robot.n,))
    room = np.minimum(robot.posture - robot.lower, robot.upper - robot.posture)
    return np.clip(0.6 * np.maximum(room, 0.0), 0.02, 0.2)
