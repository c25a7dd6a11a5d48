"""Samples that repeat the one before although the joint moved: lost packets and sensors slower than the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.record.validation import Array, Flags

if TYPE_CHECKING:
    from surefoot.record.recording import Recording


def held_samples(recording: Recording) -> Flags:
    """Which samples are held, shape (T, n): the encoder did not change, and then it jumped."""
    return np.stack([held(column) for column in recording.position.T], axis=1)


def held(values: Array) -> Flags:
    """Samples of one series, shape (T,), that equal the one before, in runs that end in a jump no motion explains.

    A joint that stands still also repeats its count, but it leaves by a count or two, gently; one whose packets were
    lost was moving and has moved on. The jump must exceed encoder steps, noise, and half the ordinary change of speed,
    and a short run must not sit on a turning point, where a fast joint may show one value twice.
    """
    step = np.diff(values)
    fresh = values[np.concatenate([[True], step != 0])]
    if len(fresh) in (len(values), *range(8)):
        return np.zeros(len(values), bool)
    noise = float(np.median(np.abs(np.diff(fresh, n=4)))) / 5.6  # of one sample: the fourth difference amplifies it
    bend = float(np.median(np.abs(np.diff(fresh, n=2))))
    threshold = max(2.5 * resolution(values), 7.0 * noise, 0.5 * bend)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], step == 0, [0]]).astype(int)))
    ends = edges[1::2] < len(step)
    start, stop = edges[::2][ends], edges[1::2][ends]  # samples start+1..stop repeat sample start
    jump, before = np.abs(step[stop]), np.abs(values[start] - values[np.maximum(start - 5, 0)])
    moving = before / 5 > 0.5 * jump / (stop - start + 1)
    turns = (start > 0) & (step[start - 1] * step[stop] < 0)
    lost = (jump > threshold) & moving & ((stop - start > 2) | ~turns)
    mark = np.zeros(len(values) + 1, int)
    mark[start[lost] + 1] += 1
    mark[stop[lost] + 1] -= 1
    return np.cumsum(mark[:-1]) > 0


def resolution(values: Array) -> float:
    """The smallest step between the levels of one series: an encoder count, or tiny when nothing is quantised."""
    levels = np.diff(np.unique(values))
    levels = np.asarray(levels[levels > 1e-6 * np.ptp(values)], dtype=float)  # rounding is not a step
    return float(np.quantile(levels, 0.05)) if levels.size else 0.0
