"""The shapes of motion, each between −1 and 1 for m joints that lead: what `Recipe` scales, centres and mirrors.

Sweeps move neighbours in opposite senses; the others give every joint a motion of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from surefoot.errors import SurefootError
from surefoot.record.excitation.motion import envelope, refuse_band
from surefoot.record.validation import Array

CLIP = 0.95  # of the peak that one round of the crest factor's reduction cuts at
ROUNDS = 200


def linear_phase(time: Array, duration: float, start_hz: float, stop_hz: float) -> Array:
    """φ(t) = 2π (f₀ t + (f₁ − f₀) t² / 2T) of a sweep whose frequency rises linearly [rad]."""
    return 2 * np.pi * (start_hz * time + (stop_hz - start_hz) / (2 * duration) * time**2)


def logarithmic_phase(time: Array, duration: float, start_hz: float, stop_hz: float) -> Array:
    """φ(t) = 2π f₀ T/ln k (k^(t/T) − 1), k = f₁/f₀, of a sweep that spends the same time in every octave [rad]."""
    if start_hz <= 0:
        raise SurefootError(f"a logarithmic chirp starts above 0 Hz, not at {start_hz:g} Hz; try --from-hz 0.1.")
    k = stop_hz / start_hz
    return 2 * np.pi * start_hz * duration / np.log(k) * (k ** (time / duration) - 1)


def senses(m: int) -> Array:
    """+1, −1, +1, ...: no two neighbours do the same."""
    return np.where(np.arange(m) % 2, -1.0, 1.0)


def fall(frequency: Array, corner_hz: float) -> Array:
    """Amplitude over frequency, min(1, f_c / f): beyond its corner a motion has the same speed everywhere."""
    return np.minimum(1.0, corner_hz / np.maximum(frequency, 1e-12))


def multisine(time: Array, m: int, start_hz: float, stop_hz: float, corner_hz: float = np.inf) -> Array:
    """Every multiple of 1/T in the band, with phases of a low crest factor, shape (T, m).

    Schroeder's phases φ_k = −2π Σ_{l<k} (k − l) p_l, p the share of each line in the power, are where the search starts; each
    round cuts the peaks off and keeps the phases of what is left (Van der Ouderaa et al., 1988). One signal serves all: joint i
    has it i/m of the period later.
    """
    count = len(time)
    rate = 1.0 / (time[1] - time[0])
    lines = np.fft.rfftfreq(count, 1.0 / rate)
    used = np.flatnonzero((lines >= start_hz) & (lines <= stop_hz) & (lines > 0))
    if len(used) < 2:
        raise SurefootError(
            f"the band {start_hz:g}-{stop_hz:g} Hz holds {len(used)} multiples of 1/duration ({rate / count:g} Hz); a multisine "
            "needs two or more: widen the band or lengthen the motion."
        )
    size = fall(lines[used], corner_hz)
    phase = -2 * np.pi * np.cumsum(np.cumsum(size**2 / np.sum(size**2)))
    best, lowest = np.zeros(count), np.inf
    for _ in range(ROUNDS):
        spectrum = np.zeros(len(lines), complex)
        spectrum[used] = size * np.exp(1j * phase)
        signal = np.fft.irfft(spectrum, count)
        peak = float(np.abs(signal).max())
        if peak < lowest:
            best, lowest = signal / peak, peak
        phase = np.angle(np.fft.rfft(np.clip(signal, -CLIP * peak, CLIP * peak))[used])
    return np.stack([np.roll(best, i * count // m) for i in range(m)], axis=1)


def levels(time: Array, m: int, dwell: float, rng: np.random.Generator, *, last_at_rest: bool = True) -> Array:
    """Random levels, each held for `dwell` seconds, from 0 and back to 0, shape (T, m)."""
    if not dwell > 0:
        raise SurefootError(f"--dwell is {dwell:g} s; give a time above 0.")
    duration = len(time) * (time[1] - time[0])
    if last_at_rest and 3 * dwell > duration * (1 + 1e-9):
        raise SurefootError(
            f"--dwell is {dwell:g} s, and {duration:g} s between rests hold no level so long; shorten it or lengthen --seconds."
        )
    count = int(duration / dwell) + 1
    level = rng.uniform(-1, 1, (count, m))
    level[0] = 0.0
    at = np.minimum((time / dwell).astype(int), count - 1)
    if last_at_rest:
        level[at[-1]] = 0.0
    return level[at]


def holds(time: Array, m: int, dwell: float, rng: np.random.Generator) -> Array:
    """Random levels as in `levels`, with a smooth way (3x² − 2x³ over a quarter of the dwell) from each to the next."""
    jumps = levels(time, m, dwell, rng)
    before = levels_before(jumps)
    x = np.clip((time % dwell) / (0.25 * dwell), 0.0, 1.0)[:, None]
    return before + (jumps - before) * x * x * (3 - 2 * x)


def levels_before(jumps: Array) -> Array:
    """At each instant the level before the present one; the first has itself."""
    changed = np.flatnonzero(np.any(np.diff(jumps, axis=0) != 0, axis=1)) + 1
    starts = np.concatenate([[0], changed])
    which = np.searchsorted(starts, np.arange(len(jumps)), side="right") - 1
    return jumps[starts[np.maximum(which - 1, 0)]]


def noise(
    time: Array, m: int, start_hz: float, stop_hz: float, rng: np.random.Generator, corner_hz: float = np.inf
) -> Array:  # fmt: skip
    """Gaussian noise of the band, each joint's scaled to a peak of 1, shape (T, m)."""
    lines = np.fft.rfftfreq(len(time), time[1] - time[0])
    inside = ((lines >= start_hz) & (lines <= stop_hz) & (lines > 0))[:, None]
    if not inside.any():
        raise SurefootError(
            f"the band {start_hz:g}-{stop_hz:g} Hz is too narrow for {time[-1]:g} s; widen it or lengthen the motion."
        )
    strength = inside * fall(lines, corner_hz)[:, None]
    spectrum = strength * (rng.standard_normal((len(lines), m)) + 1j * rng.standard_normal((len(lines), m)))
    signal = np.fft.irfft(spectrum, len(time), axis=0)
    return signal / np.abs(signal).max(axis=0)


@dataclass(frozen=True, kw_only=True)
class Band:
    """Which frequencies a motion has, how long its levels last, and what draws it."""

    start_hz: float
    stop_hz: float
    corner_hz: float
    dwell: float
    seed: int

    @property
    def rng(self) -> np.random.Generator:
        """A fresh generator of the seed."""
        return np.random.default_rng(self.seed)


def _swept(phase: Callable[[Array, float, float, float], Array]) -> Callable[[Array, int, Band], Array]:
    def shape(time: Array, m: int, band: Band) -> Array:
        turns = phase(time, len(time) * (time[1] - time[0]), band.start_hz, band.stop_hz)
        size = fall(np.gradient(turns, time) / (2 * np.pi), band.corner_hz)
        return (size * np.sin(turns))[:, None] * senses(m)

    return shape


SHAPES: dict[str, Callable[[Array, int, Band], Array]] = {
    "chirp": _swept(linear_phase),
    "log-chirp": _swept(logarithmic_phase),
    "multisine": lambda time, m, band: multisine(time, m, band.start_hz, band.stop_hz, band.corner_hz),
    "steps": lambda time, m, band: levels(time, m, band.dwell, band.rng),
    "holds": lambda time, m, band: holds(time, m, band.dwell, band.rng),
    "noise": lambda time, m, band: noise(time, m, band.start_hz, band.stop_hz, band.rng, band.corner_hz),
}
"""The kinds of motion by name: (time, joints that lead, band) -> (T, m)."""
DRAWN = ("steps", "holds", "noise")  # the kinds that a seed decides
BANDED = ("chirp", "log-chirp", "multisine", "noise")  # the kinds that a band decides


def shaped(kind: str, time: Array, m: int, band: Band, ramp: float) -> Array:
    """The shape of a kind, from rest and back to rest, shape (T, m)."""
    if kind not in SHAPES:
        raise SurefootError(f"kind is {kind!r}; valid: {', '.join(SHAPES)}.")
    rate, duration = 1.0 / (time[1] - time[0]), len(time) * (time[1] - time[0])
    if kind in BANDED:
        refuse_band(band.start_hz, band.stop_hz, rate)
    if not band.corner_hz > 0:
        raise SurefootError(f"--corner-hz is {band.corner_hz:g} Hz; give a frequency above 0, or leave it out.")
    if not 0 <= ramp <= duration / 2:
        raise SurefootError(f"--ramp is {ramp:g} s; give a time from 0 to half the duration, {duration / 2:g} s.")
    motion = SHAPES[kind](time, m, band)
    return motion * envelope(time, duration - 1.0 / rate, ramp)[:, None] if kind in BANDED else motion
