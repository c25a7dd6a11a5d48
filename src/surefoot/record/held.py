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
    out = np.zeros(len(values), bool)
    fresh = values[np.concatenate([[True], step != 0])]
    if len(fresh) in (len(values), *range(8)):
        return out
    noise = float(np.median(np.abs(np.diff(fresh, n=4)))) / 5.6  # of one sample: the fourth difference amplifies it
    bend = float(np.median(np.abs(np.diff(fresh, n=2))))
    threshold = max(2.5 * resolution(values), 7.0 * noise, 0.5 * bend)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], step == 0, [0]]).astype(int)))
    for start, stop in zip(edges[::2], edges[1::2], strict=True):  # samples start+1..stop repeat sample start
        if stop >= len(step) or abs(step[stop]) <= threshold:
            continue
        before = values[start] - values[max(start - 5, 0)]
        moving = abs(before) / 5 > 0.5 * abs(step[stop]) / (stop - start + 1)
        turns = start > 0 and step[start - 1] * step[stop] < 0
        if moving and (stop - start > 2 or not turns):
            out[start + 1 : stop + 1] = True
    return out


def resolution(values: Array) -> float:
    """The smallest step between the levels of one series: an encoder count, or tiny when nothing is quantised."""
    levels = np.diff(np.unique(values))
    levels = np.asarray(levels[levels > 1e-6 * np.ptp(values)], dtype=float)  # rounding is not a step
    return float(np.quantile(levels, 0.05)) if levels.size else 0.0
