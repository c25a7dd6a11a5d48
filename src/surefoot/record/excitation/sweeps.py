"""The paper's two motions: the chirp that it fits, and the random steps that it validates on. No leg mirrors another here."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from surefoot.record.excitation.motion import Excitation, amplitudes, centres, refuse_band
from surefoot.record.excitation.shapes import levels, linear_phase, senses
from surefoot.robot.spec import Robot


def chirp(
    robot: Robot, *, duration: float = 20.0, start_hz: float = 0.1, stop_hz: float = 10.0, amplitude: ArrayLike | None = None,
    centre: ArrayLike | None = None, rate: float = 400.0, ramp: float = 1.0,
) -> Excitation:  # fmt: skip
    """All joints at once through a linear chirp, sin 2π(f₀ t + (f₁ − f₀) t² / 2T), that grows from and fades to rest.

    The joints of one leg move in opposite senses in turn, so that no two neighbours do the same.
    """
    refuse_band(start_hz, stop_hz, rate)
    time = np.arange(round(duration * rate)) / rate
    phase = linear_phase(time, duration, start_hz, stop_hz)
    fade = np.clip(time / ramp, 0, 1) * np.clip((duration - time) / ramp, 0, 1) if ramp > 0 else 1.0
    motion = (np.sin(phase) * fade)[:, None] * senses(robot.n) * amplitudes(robot, amplitude)
    return Excitation(joints=robot.joints, time=time, target=centres(robot, centre) + motion, name="chirp")


def steps(
    robot: Robot, *, duration: float = 20.0, dwell: float = 0.5, amplitude: ArrayLike | None = None,
    centre: ArrayLike | None = None, rate: float = 400.0, seed: int = 0,
) -> Excitation:  # fmt: skip
    """Independent random targets for every joint, each held for `dwell` seconds; the first one is the centre."""
    time = np.arange(round(duration * rate)) / rate
    held = levels(time, robot.n, dwell, np.random.default_rng(seed), last_at_rest=False)
    target = centres(robot, centre) + held * amplitudes(robot, amplitude)
    return Excitation(joints=robot.joints, time=time, target=target, name="steps")
