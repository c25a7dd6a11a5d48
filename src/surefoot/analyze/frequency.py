"""Frequency response of a motion: what a joint, or a current loop, makes of each frequency that it was asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.errors import SurefootError
from surefoot.record.recording import Recording

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

LEAST_AVERAGES = 4  # lines; with fewer the coherence says nothing
JITTER = 1e-3  # of a period; stamps that deviate more are put on an even grid


@dataclass(frozen=True, kw_only=True, eq=False)
class FrequencyResponse:
    """The ratio H(f) of an output to an input, measured at F frequencies."""

    frequency: Array  # [Hz], shape (F,), increasing
    response: Complex  # H, in the output's unit over the input's, shape (F,)
    coherence: Array  # γ² [-], shape (F,): share of the output's power that the input explains linearly
    averages: int  # spectral lines m behind each value; of signals without any relation γ² is about 2 / m

    @property
    def magnitude(self) -> Array:
        """|H| [dB], shape (F,)."""
        return 20 * np.log10(np.abs(self.response))

    @property
    def phase(self) -> Array:
        """arg H [rad], shape (F,), without jumps of 2π; negative: the output is late."""
        return np.unwrap(np.angle(self.response))

    @property
    def deviation(self) -> Array:
        """Relative standard deviation of |H|, and that of arg H in rad, shape (F,): √((1 − γ²) / (2 (m − 2) γ²))."""
        return np.sqrt((1 - self.coherence) / (2 * (self.averages - 2) * np.maximum(self.coherence, 1e-12)))

    def between(self, low: float, high: float) -> FrequencyResponse:
        """The frequencies low <= f <= high [Hz]."""
        return self._keep((self.frequency >= low) & (self.frequency <= high), f"between {low:g} and {high:g} Hz")

    def coherent(self, least: float) -> FrequencyResponse:
        """The frequencies where the coherence is at least this."""
        return self._keep(self.coherence >= least, f"with a coherence of at least {least:g}")

    def _keep(self, keep: NDArray[np.bool_], what: str) -> FrequencyResponse:
        if not keep.any():
            low, high = self.frequency[[0, -1]]
            raise SurefootError(
                f"the frequency response has no value {what}; it goes from {low:.4g} to {high:.4g} Hz, with a coherence of up "
                f"to {self.coherence.max():.3g}."
            )
        return FrequencyResponse(
            frequency=self.frequency[keep], response=self.response[keep], coherence=self.coherence[keep], averages=self.averages
        )


def frequency_response(
    time: ArrayLike, given: ArrayLike, answer: ArrayLike, *, resolution: float, band: tuple[float, float] | None = None
) -> FrequencyResponse:
    """Estimate H(f) of an input x = `given` and an output y = `answer`, a value for each stretch of `resolution` [Hz].

    Over the m = resolution · T lines X, Y of a stretch, H is a straight line about f₀, where the input's power has its centre,
    fitted by least squares:

        H(f₀) = Σ X*Y / Σ|X|²,   H'(f₀) = Σ (f − f₀) X*Y / Σ (f − f₀)²|X|²
        γ² = (|H(f₀)|² Σ|X|² + |H'(f₀)|² Σ (f − f₀)²|X|²) / Σ|Y|²

    `band` = (low, high) [Hz] is the part to report. The lines are those of the whole motion, less the straight line from its
    first sample to its last: a motion from rest to rest, as a chirp is, then needs no window and leaks nothing, and any other
    one little.
    """
    t, x, y = _even(time, given, answer)
    duration = len(t) * (t[1] - t[0])
    m = round(resolution * duration)
    if m < LEAST_AVERAGES:
        raise SurefootError(
            f"a frequency response with a resolution of {resolution:g} Hz needs a motion of {LEAST_AVERAGES / resolution:g} s; "
            f"this one lasts {duration:.4g} s. Give a resolution of {LEAST_AVERAGES / duration:.3g} Hz or more."
        )
    x_lines, y_lines = (np.fft.rfft(_from_rest(signal))[1:] for signal in (x, y))
    blocks = len(x_lines) // m
    lines = (np.arange(blocks * m) + 1).reshape(blocks, m) / duration
    x_lines, y_lines = (signal[: blocks * m].reshape(blocks, m) for signal in (x_lines, y_lines))
    s_xx, s_yy = (np.sum(np.abs(s) ** 2, axis=1) for s in (x_lines, y_lines))
    there = (s_xx > 1e-24 * s_xx.max()) & (s_yy > 0)
    x_lines, y_lines, lines, s_xx, s_yy = (value[there] for value in (x_lines, y_lines, lines, s_xx, s_yy))
    f0 = np.sum(lines * np.abs(x_lines) ** 2, axis=1) / s_xx
    off = lines - f0[:, None]
    s_xy, slope_xy = (np.sum(w * np.conj(x_lines) * y_lines, axis=1) for w in (1.0, off))
    slope_xx = np.sum(off**2 * np.abs(x_lines) ** 2, axis=1)
    explained = np.abs(s_xy) ** 2 / s_xx + np.abs(slope_xy) ** 2 / np.maximum(slope_xx, 1e-300)
    low, high = band or (0.0, np.inf)
    whole = FrequencyResponse(frequency=f0, response=s_xy / s_xx, coherence=np.minimum(explained / s_yy, 1.0), averages=m)
    return whole.between(low, high)


def joint_response(
    recording: Recording, joint: str, *, resolution: float, band: tuple[float, float] | None = None
) -> FrequencyResponse:
    """H_q: from the commanded to the measured position of one joint. Samples that are not valid are bridged."""
    alone = recording.select([joint])
    if alone.enabled is not None and not alone.enabled.all():
        raise SurefootError(
            f"the drive of joint {joint} is off in a part of this recording, where its position answers no command; "
            "cut the part out with recording.between(start, end)."
        )
    position = alone.position[:, 0]
    if alone.valid is not None:
        good = alone.valid[:, 0]
        position = np.interp(alone.time, alone.time[good], position[good])
    return frequency_response(alone.time, alone.target[:, 0], position, resolution=resolution, band=band)


def _even(time: ArrayLike, given: ArrayLike, answer: ArrayLike) -> tuple[Array, Array, Array]:
    """Both signals on evenly spaced stamps: the given ones, or linear between them where they are irregular."""
    t, x, y = (np.asarray(value, dtype=float) for value in (time, given, answer))
    if t.ndim != 1 or len(t) < 2 or x.shape != t.shape or y.shape != t.shape:
        raise SurefootError(f"time, input and output have shapes {t.shape}, {x.shape}, {y.shape}; expected the same (T,).")
    for name, value in (("time", t), ("the input", x), ("the output", y)):
        if not np.isfinite(value).all():
            raise SurefootError(f"{name} holds numbers that are not finite; cut them out first.")
    if not (np.diff(t) > 0).all():
        raise SurefootError("time must increase from sample to sample.")
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        raise SurefootError(f"the {'input' if np.ptp(x) == 0 else 'output'} never changes, so it has no frequency response.")
    period = float(np.median(np.diff(t)))
    even = t[0] + period * np.arange(int((t[-1] - t[0]) / period + 0.5) + 1)
    if len(even) == len(t) and np.abs(t - even).max() <= JITTER * period:
        return even, x, y
    return even, np.interp(even, t, x), np.interp(even, t, y)


def _from_rest(signal: Array) -> Array:
    """Without the straight line between its ends."""
    return signal - np.linspace(signal[0], signal[-1], len(signal))
