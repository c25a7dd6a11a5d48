"""Motion for a page: trajectories thinned and packed, and the paper's delta phase portrait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.signal import savgol_filter

from surefoot.identify.fit import Fit, Score
from surefoot.identify.motion import WINDOW
from surefoot.report.page import exact, packed

Array = np.ndarray
SAMPLES = 400_000  # joint samples that a page holds, over all recordings: four numbers of two bytes each
DOTS = 1500  # of a phase portrait, per joint


def recordings(fit: Fit) -> list[dict[str, Any]]:
    """Every recording: time, target, measured, and how far fitted and no model are from it, thinned alike."""
    scores = [*fit.recordings, *fit.held_out]
    every = max(1, int(np.ceil(sum(score.measured.size for score in scores) / SAMPLES)))
    return [_recording(score, every, i >= len(fit.recordings)) for i, score in enumerate(scores)]


def _recording(score: Score, every: int, held_out: bool) -> dict[str, Any]:
    rows = slice(None, None, every)
    out = {
        "name": score.name,
        "held_out": held_out,
        "every": every,
        "start": float(score.time[0]),
        "time": exact(score.time[rows] - score.time[0]),
        "measured": packed(score.measured[rows].T),
        "error": packed((score.simulated - score.measured)[rows].T),
        "no_model": packed((score.no_model - score.measured)[rows].T),
    }
    if score.target.size:
        out["target"] = packed(score.target[rows].T)
    return out


def portrait(fit: Fit, baseline: Fit | None) -> list[dict[str, Any]]:
    """Δq = real − simulated, Δq̇ of each recording: no model, baseline where it has the same recording, fitted."""
    others = {s.hash: s for s in (*baseline.recordings, *baseline.held_out)} if baseline else {}
    out = []
    for score in (*fit.recordings, *fit.held_out):
        clouds = {"no model": score.no_model, "fitted": score.simulated}
        other = others.get(score.hash)
        if other is not None and other.joints == score.joints:
            clouds = {"no model": score.no_model, "baseline": other.simulated, "fitted": score.simulated}
        out.append({name: _cloud(score.time, score.measured - simulated) for name, simulated in clouds.items()})
    return out


def _cloud(time: Array, gap: Array) -> dict[str, Any]:
    """A thinned (Δq, Δq̇) by a cubic through a short window, shape (n, K) each."""
    grid, (delta, rate) = derivative(time, gap)
    rows = np.linspace(0, len(grid) - 1, min(DOTS, len(grid))).astype(int)
    return {"q": packed(delta[rows].T), "v": packed(rate[rows].T)}


def even(time: Array, values: Array) -> tuple[Array, Array]:
    """A uniform grid [s] at the median rate, and the values there, shape (N, n); what is not finite counts as zero."""
    dt = float(np.median(np.diff(time)))
    grid = time[0] + dt * np.arange(int((time[-1] - time[0]) / dt + 1e-6) + 1)
    values = np.where(np.isfinite(values), values, 0.0)
    return grid, np.stack([np.interp(grid, time, column) for column in values.T], axis=1)


def derivative(time: Array, values: Array, orders: Sequence[int] = (0, 1)) -> tuple[Array, list[Array]]:
    """A uniform grid [s] and smoothed derivatives of the given orders there, shape (N, n) each: a cubic through `WINDOW`."""
    grid, gridded = even(time, values)
    dt = grid[1] - grid[0]
    window = min(max(5, int(WINDOW / dt) | 1), (len(grid) - 1) | 1)
    window -= 2 * (window > len(grid))
    return grid, [np.asarray(savgol_filter(gridded, window, min(3, window - 1), deriv=k, delta=dt, axis=0)) for k in orders]
