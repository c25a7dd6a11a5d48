"""Levenberg-Marquardt inside the cube of bounds: several damping factors are tried at once, one lane each.

(JᵀJ + λ diag(JᵀJ)) δ = −Jᵀr        on the variables that no bound holds,  x⁺ = clip(x + δ)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from surefoot.identify.problem import Linear, Problem
from surefoot.identify.stop import Stop

Array = np.ndarray
SPREAD = 10.0 ** np.arange(-3, 5)  # damping factors tried at once, around the last good one
TOLERANCE = 1e-9  # relative decrease of the sum of squares that still counts as progress


@dataclass(frozen=True, kw_only=True)
class Progress:
    """One line of the search's story."""

    stage: str
    iteration: int
    loss: float  # [rad²]
    limit: int


@dataclass(frozen=True, kw_only=True)
class Solution:
    """Where a search ended, and why."""

    x: Array
    loss: float  # [rad²]
    stop: Stop
    history: tuple[float, ...]  # loss of each iteration or generation


def least_squares(
    problem: Problem,
    start: Array,
    *,
    limit: int = 60,
    tolerance: float = TOLERANCE,
    tell: Callable[[Progress], None] | None = None,
) -> Solution:
    """The nearest minimum of the sum of squares."""
    x, damping, history = np.clip(start, -1, 1), 1e-3, []
    squares = np.inf
    stop = Stop.LIMIT
    try:
        for iteration in range(limit):
            around = problem.linearise(x)
            if not np.isfinite(around.squares):
                stop = Stop.DIVERGED
                break
            squares = around.squares
            history.append(squares / problem.samples)
            if tell:
                tell(Progress(stage="least squares", iteration=iteration, loss=history[-1], limit=limit))
            factors = np.maximum(damping * SPREAD, 1e-12)
            steps = np.array([_step(around, factor) for factor in factors])
            values = problem.squares(steps).sum(axis=(1, 2))
            best = int(np.argmin(values))
            if not values[best] < squares * (1 - tolerance):
                stop = Stop.CONVERGED if _stationary(around) else Stop.NO_PROGRESS
                break
            x, damping, squares = steps[best], factors[best], float(values[best])
            if squares < 1e-30 * problem.samples:
                stop = Stop.CONVERGED
                break
    except KeyboardInterrupt:
        stop = Stop.INTERRUPTED
    return Solution(x=x, loss=squares / problem.samples, stop=stop, history=tuple(history))


def _step(around: Linear, factor: float) -> Array:
    """The damped Gauss-Newton step on the free variables; those that it pushes against a bound are held and it is solved again."""
    x, hessian, gradient = around.x, around.hessian, around.gradient
    scale = np.diag(hessian) + 1e-12 * np.max(np.diag(hessian), initial=1e-300)
    free = ~(((x <= -1) & (gradient > 0)) | ((x >= 1) & (gradient < 0)))
    for _ in range(4):
        step = np.zeros_like(x)
        k = np.flatnonzero(free)
        if len(k) == 0:
            return x
        step[k] = -np.linalg.solve(hessian[np.ix_(k, k)] + factor * np.diag(scale[k]), gradient[k])
        beyond = free & (np.abs(x + step) > 1) & (np.abs(x) >= 1)
        if not beyond.any():
            break
        free &= ~beyond
    return np.clip(x + step, -1, 1)


def _stationary(around: Linear) -> bool:
    """Whether the undamped step would gain less than a millionth of the sum of squares."""
    step = _step(around, 1e-9) - around.x
    gain = -(2 * around.gradient @ step + step @ around.hessian @ step)
    return bool(gain <= 1e-6 * around.squares)
