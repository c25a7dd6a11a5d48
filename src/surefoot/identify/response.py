"""A quick look at one joint alone, before any fit: how late it answers and how heavy it feels.

With coupling ignored and gravity reduced to a constant and a spring, a position drive obeys

    u(t − T) + (D u̇ + τ_ff)(t − T) / P = q + (D/P) q̇ + a q̈ + b q̇ + c sign q̇ + e₀ + e₁ q,
    a = I/P,  b = d/P,  c = τ_f/P,

linear in everything but T. Scanning T and solving with a, b, c ≥ 0 separates the delay from damping and friction, which
a plain cross-correlation mixes.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

import numpy as np

from surefoot.identify.finding import Case
from surefoot.record.validation import Array

EARLIEST, LATEST = -0.1, 0.2  # [s] of the delays that are tried
SCAN = 0.002  # [s] step of the scan, rounded to whole samples
HEALTHY_DELAY = (-0.004, 0.05)  # [s]; outside, command and measurement do not share a clock


@dataclass(frozen=True, kw_only=True)
class Response:
    """The best explanation of one joint's tracking."""

    delay: float  # T [s]
    inertia: float  # I [kg·m²]
    explained: float  # share of the tracking error's variance that the equation explains
    inertial: float  # rms of the inertial term over the rms of the tracking error


@functools.lru_cache(maxsize=64)
def responses(case: Case) -> list[Response | None]:
    """One per joint; None where the joint did not move, was hardly driven, or has no stiffness."""
    return [_response(case, k) for k in range(case.recording.n)]


def _response(case: Case, k: int) -> Response | None:
    rec, stiffness = case.recording, case.recording.stiffness[k]
    lag = range(round(EARLIEST / case.dt), round(LATEST / case.dt) + 1, max(1, round(SCAN / case.dt)))
    edge = max(abs(lag[0]), abs(lag[-1])) + 1
    inner = slice(edge, len(case.grid) - edge)
    driven = case.used[inner, k]
    if not case.excited[k] or stiffness == 0 or np.count_nonzero(driven) < 200:
        return None
    command = case.target[:, k]
    if rec.target_velocity is not None:
        command = command + rec.damping[k] / stiffness * case.on_grid(rec.target_velocity)[:, k]
    if rec.feedforward is not None:
        command = command + case.on_grid(rec.feedforward)[:, k] / stiffness
    cutoff = float(np.clip(2.5 * case.top_frequency[k], 5.0, 30.0))
    q, u = case.low_pass(np.stack([case.position[:, k], command], axis=1), cutoff).T
    v = np.gradient(q, case.dt)
    a = np.gradient(v, case.dt)
    still = 0.02 * np.abs(v).max() + 1e-12
    terms = np.stack([a, v, np.tanh(v / still), np.ones_like(q), q], axis=1)[inner][driven]
    answer = (q + rec.damping[k] / stiffness * v)[inner][driven]
    left = np.stack([u[edge - s : len(u) - edge - s][driven] for s in lag], axis=1) - answer[:, None]
    left, terms = left[:: len(left) // 8000 + 1], terms[:: len(terms) // 8000 + 1]
    misfit, solution = _smallest_misfit(terms, left)
    best = int(np.argmin(misfit))
    error = u[inner][driven] - q[inner][driven]
    variance = float(np.var(error))
    if variance == 0.0:
        return None
    return Response(
        delay=float(_refined(misfit, best, lag) * case.dt),
        inertia=float(solution[0, best] * stiffness),
        explained=1.0 - float(misfit[best]) / variance,
        inertial=float(solution[0, best] * np.std(terms[:, 0]) / np.sqrt(variance)),
    )


def _smallest_misfit(terms: Array, left: Array) -> tuple[Array, Array]:
    """Mean square misfit per tried delay, shape (L,), and the solution, shape (5, L), with the first three terms >= 0.

    Normal equations on scaled columns: every set of active terms is a small solve for all delays at once.
    """
    scale = np.sqrt(np.mean(terms**2, axis=0)) + 1e-300
    x = terms / scale
    # sums, not BLAS products: those wait for each other when the cores are busy
    gram, against, total = np.einsum("tk,tl->kl", x, x), np.einsum("tk,tl->kl", x, left), np.einsum("tl,tl->l", left, left)
    misfit, solution = np.full(left.shape[1], np.inf), np.zeros((5, left.shape[1]))
    for kept in itertools.product((True, False), repeat=3):
        use = [*np.flatnonzero(kept), 3, 4]
        found = np.linalg.lstsq(gram[np.ix_(use, use)], against[use], rcond=1e-12)[0]
        rest = np.maximum(total - np.einsum("kl,kl->l", found, against[use]), 0.0) / len(left)
        better = (found[: sum(kept)] >= 0).all(axis=0) & (rest < misfit)
        misfit[better] = rest[better]
        solution[:, better] = 0.0
        solution[np.ix_(use, np.flatnonzero(better))] = found[:, better]
    return misfit, solution / scale[:, None]


def _refined(misfit: Array, best: int, lag: range) -> float:
    """The minimum of the parabola through the best delay and its neighbours, in samples."""
    if best in (0, len(misfit) - 1):
        return float(lag[best])
    before, here, after = misfit[best - 1 : best + 2]
    return lag[best] + lag.step * 0.5 * (before - after) / max(before - 2 * here + after, 1e-300)
