"""Levenberg-Marquardt inside the cube of bounds: several damping factors are tried at once, one lane each.

(JᵀJ + λ diag(JᵀJ)) δ = −Jᵀr        on the variables that no bound holds,  x⁺ = clip(x + δ)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from surefoot.identify.problem import Linear, Problem
from surefoot.identify.stop import Stop
from surefoot.robot.dynamics import JointDynamics

Array = np.ndarray
SPREAD = 10.0 ** np.arange(-3, 5)  # damping factors tried at once, around the last good one
SEEN = 1e-9  # length of a variable's Jacobian column, relative to the longest, below which it is rounding
LEAST = 1e-6  # damping around which factors are tried at the least, so that a longer reach gets to short steps
TOLERANCE = 1e-9  # relative decrease of the sum of squares that still counts as progress: a hundredth of an interval
REACH = 0.5  # the farthest that one step may move a variable, as a part of half the bounds' width
NEARLY = 1e-5  # a gain that no step realises is rounding, or the corners of dry friction, as long as it is this small
EXACT = 1e-12  # [rad] rms error at which a fit of noise-free data is done


@dataclass(frozen=True, kw_only=True)
class Progress:
    """One line of the search's story."""

    stage: str
    iteration: int
    loss: float  # [rad²]
    limit: int
    x: Array | None = None  # the best point so far, in the cube
    dynamics: JointDynamics | None = None  # what it stands for


@dataclass(frozen=True, kw_only=True)
class Solution:
    """Where a search ended, and why."""

    x: Array
    loss: float  # [rad²]
    stop: Stop
    history: tuple[float, ...]  # loss of each iteration or generation
    around: Linear | None = None  # derivatives at x, where the search has them anyway


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
    squares, last = np.inf, None
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
                tell(Progress(stage="least squares", iteration=iteration, loss=history[-1], limit=limit, x=x))
            last = around
            if squares < EXACT**2 * problem.samples or _gain(around) <= tolerance * squares:
                stop = Stop.CONVERGED
                break
            for reach in (1.0, SPREAD[-1] / SPREAD[0]):  # where all of these steps are too long, shorter ones
                factors = damping * reach * SPREAD
                steps = np.array([_step(around, factor) for factor in factors])
                values = problem.squares(steps).sum(axis=(1, 2))
                best = int(np.argmin(values))
                if values[best] < squares * (1 - tolerance):
                    break
            if not values[best] < squares * (1 - tolerance):
                stop = Stop.CONVERGED if _gain(around) <= NEARLY * squares else Stop.NO_PROGRESS
                break
            x, damping, squares, last = steps[best], max(factors[best], LEAST), float(values[best]), None
    except KeyboardInterrupt:
        stop = Stop.INTERRUPTED
    return Solution(x=x, loss=squares / problem.samples, stop=stop, history=tuple(history), around=last)


def _step(around: Linear, factor: float) -> Array:
    """The damped Gauss-Newton step, no farther than `REACH` and the bounds.

    A variable that the step would take farther is put there, and the others are solved again for that; one that a bound holds
    or that the data do not see stays where it is.
    """
    x, hessian, gradient = around.x, around.hessian, around.gradient
    diagonal = np.diag(hessian)
    scale = diagonal + 1e-12 * np.max(diagonal, initial=1e-300)
    low, high = np.maximum(-1 - x, -REACH), np.minimum(1 - x, REACH)
    seen = diagonal > SEEN**2 * np.max(diagonal, initial=0.0)
    free = seen & ~(((x <= -1) & (gradient > 0)) | ((x >= 1) & (gradient < 0)))
    step = np.zeros_like(x)
    while free.any():
        k, fixed = np.flatnonzero(free), np.flatnonzero(~free)
        pull = gradient[k] + hessian[np.ix_(k, fixed)] @ step[fixed]
        step[k] = -np.linalg.solve(hessian[np.ix_(k, k)] + factor * np.diag(scale[k]), pull)
        beyond = free & ((step < low) | (step > high))
        step = np.clip(step, low, high)
        if not beyond.any():
            break
        free &= ~beyond
    return x + step


def _gain(around: Linear) -> float:
    """What the best length of a step, undamped or damped, would take off the sum of squares if the problem were linear.

    A step that bounds cut short need not lead downhill; the most damped one always does.
    """
    best = 0.0
    for factor in (1e-9, 1.0, 1e4):
        step = _step(around, factor) - around.x
        slope, curve = float(-around.gradient @ step), float(step @ around.hessian @ step)
        along = min(1.0, slope / curve) if curve > 0 else 1.0
        best = max(best, 2 * along * slope - along**2 * curve)
    return best
