"""A better motion under the same limits: amplitudes, centres, band and gains are moved until the worst interval is narrowest.

A pattern search over the logarithms of amplitudes, gains and the band's ends, and over the centres, of the joints that lead
(their mirror images follow): along each direction a step is tried, forth and back; it grows where it helps and halves where it
does not. The cost is the logarithm of a mean of the relative intervals that leans to the widest, and what `examine` finds wrong
is added to it. What comes out is examined as carefully as any motion, and planned with the fit's own intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.identify.plan import Z95, Encoders, Outcome, Plan, plan
from surefoot.record.excitation.motion import LEAST, leaders
from surefoot.record.excitation.recipe import Recipe
from surefoot.record.excitation.shapes import BANDED
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.robot.symmetry import symmetries
from surefoot.simulate.safety.examine import MARGIN, Safety, examine
from surefoot.simulate.safety.reach import largest_safe
from surefoot.simulate.safety.wrench import Stand

Array = np.ndarray
WIDEST = 1.0  # [rad] largest amplitude that is tried
GAINS = 3.0  # factor within which gains are tried
SHIFT = 0.6  # of the room from the posture to a joint limit that a centre may move by, and of 1 rad
LOWEST = 0.05  # [Hz] lowest start of a band
STEP, SMALLEST = 0.4, 0.02  # first step of the search and the least that is worth a try, of the cube [-1, 1]
LEAN = 8.0  # power of the mean over the intervals: 1 is the mean, infinity the widest alone
UNSAFE = 3.0  # cost of a motion with something wrong, before how wrong it is


@dataclass(frozen=True, kw_only=True, eq=False)
class Improvement:
    """What an optimisation changed."""

    recipe: Recipe
    safety: Safety
    before: Plan
    after: Plan
    evaluations: int

    @property
    def gain(self) -> float:
        """How many times narrower the worst relative interval is."""
        return float(self.before.relative[self.before.seen].max() / self.after.relative[self.before.seen].max())


def optimise(
    robot: Robot, recipe: Recipe, *, dynamics: JointDynamics | None = None, encoders: Encoders | None = None,
    stand: Stand | None = None, margin: float = MARGIN, top_hz: float = 25.0, keep_gains: bool = False, evaluations: int = 160,
    seed: int = 0, tell: Callable[[int, int, float], None] | None = None,
) -> Improvement:  # fmt: skip
    """Search around a recipe that is safe; kind and duration stay as they are, the band stays below `top_hz`."""
    encoders = encoders or Encoders()
    ways = _Ways(robot, recipe, top_hz, keep_gains)
    before = plan(robot, recipe.targets(robot), dynamics=dynamics, encoders=encoders, seed=seed)
    if not (seen := before.seen).any():
        raise SurefootError("this motion identifies no parameter at all; choose another kind or larger amplitudes first.")
    limits: dict[str, Any] = {"dynamics": dynamics, "stand": stand, "margin": margin}
    cost = lambda r: _cost(robot, r, encoders, seen, **limits)  # noqa: E731
    x, done = ways.start, 0
    lowest, steps = cost(recipe), np.full(len(ways.directions), STEP)
    while done < evaluations and steps.max() > SMALLEST:
        for i in np.flatnonzero(steps > SMALLEST):
            for sign in (1.0, -1.0):
                trial = np.clip(x + sign * steps[i] * ways.directions[i], -1, 1)
                if done >= evaluations or not (trial != x).any():
                    continue
                done += 1
                if (found := cost(ways.recipe(trial))) < lowest:
                    ways.directions[i] *= sign  # this way first, next time
                    x, lowest, steps[i] = trial, found, 1.5 * steps[i]
                    break
            else:
                steps[i] /= 2
            if tell:
                tell(done, evaluations, float(np.exp(lowest)))
    best = ways.recipe(x) if (x != ways.start).any() else recipe
    best, safety = largest_safe(robot, best, **limits)
    after = plan(robot, best.targets(robot), dynamics=dynamics, encoders=encoders, seed=seed)
    if after.relative[seen].max() >= before.relative[seen].max():  # careful examination took back what was won
        best, after = recipe, before
        safety = examine(robot, best.targets(robot), **limits)
    return Improvement(recipe=best, safety=safety, before=before, after=after, evaluations=done)


def _cost(robot: Robot, recipe: Recipe, encoders: Encoders, seen: Array, **limits: Any) -> float:
    """Logarithm of the mean that leans to the widest relative interval, raised by what is not safe."""
    targets = recipe.targets(robot)
    found = examine(robot, targets, coarse=True, **limits)
    wrong = sum(np.log1p(min(b.excess, 1e6)) for b in found.breaches) + UNSAFE * bool(found.breaches)
    if any(b.what == "divergence" for b in found.breaches):
        return 1e3
    outcome = Outcome(robot, targets, dynamics=limits["dynamics"])
    relative = outcome.relative(Z95 * outcome.white(encoders))[seen]
    return float(np.log(np.mean(relative**LEAN)) / LEAN + wrong)


class _Ways:
    """What may be changed about a recipe, as a cube [-1, 1]^d."""

    def __init__(self, robot: Robot, recipe: Recipe, top_hz: float, keep_gains: bool) -> None:
        self.robot, self.base = robot, recipe
        self.lead = leaders(robot, symmetries(robot) if recipe.mirror else ())
        self.first = np.unique(self.lead.of)
        room = np.minimum(np.minimum(robot.posture - robot.lower, robot.upper - robot.posture), 1.0)[self.first]
        self.shift = SHIFT * np.maximum(room, 0.0)
        wide = np.minimum(np.maximum(robot.upper - robot.lower, 0) / 2, WIDEST)[self.first]
        self.low, self.high = np.log(np.full(len(self.first), LEAST / 4)), np.log(np.maximum(wide, LEAST))
        self.bands = recipe.kind in BANDED
        top = min(top_hz, 0.4 * recipe.rate)
        self.band = np.log([[LOWEST, 1.0], [2.0, max(top, 2.5)], [0.1, max(top, 2.5)]])  # start, stop, corner
        self.gains = not keep_gains
        m = len(self.first)
        amplitude = self._inverse(np.log(np.maximum(recipe.amplitude[self.first], LEAST / 4)), self.low, self.high)
        centre = (recipe.centre - robot.posture)[self.first] / np.maximum(self.shift, 1e-9)
        ends = [max(recipe.start_hz, LOWEST), recipe.stop_hz, min(recipe.corner_hz, top)]
        band = self._inverse(np.log(ends), *self.band.T) if self.bands else np.zeros(0)
        start = np.concatenate([amplitude, centre, band, np.zeros(2 * m * self.gains)])
        self.start = np.clip(start, -1, 1)
        self.directions = self._directions(m)

    def _directions(self, m: int) -> Array:
        """All amplitudes together, all stiffnesses, all dampings; then everything on its own. Shape (directions, d)."""
        d = len(self.start)
        blocks = [np.arange(m), *((np.arange(d - 2 * m, d - m), np.arange(d - m, d)) if self.gains else ())]
        together = [np.isin(np.arange(d), block).astype(float) for block in blocks] if m > 1 else []
        return np.array([*together, *np.eye(d)])

    @staticmethod
    def _inverse(y: Array, low: Array, high: Array) -> Array:
        return 2 * (y - low) / (high - low) - 1

    def recipe(self, x: Array) -> Recipe:
        """The recipe of a point."""
        m, which = len(self.first), np.searchsorted(self.first, self.lead.of)
        amplitude = np.exp(self.low + (x[:m] + 1) / 2 * (self.high - self.low))
        centre = self.shift * x[m : 2 * m]
        changes = {"amplitude": amplitude[which], "centre": self.robot.posture + self.lead.sign * centre[which]}
        if self.bands:
            ends = np.exp(self.band[:, 0] + (x[2 * m : 2 * m + 3] + 1) / 2 * (self.band[:, 1] - self.band[:, 0]))
            changes |= dict(zip(("start_hz", "stop_hz", "corner_hz"), map(float, ends), strict=True))
        if self.gains:
            p, d = x[-2 * m : -m], x[-m:]
            changes |= {"stiffness": self.base.stiffness * GAINS ** p[which], "damping": self.base.damping * GAINS ** d[which]}
        return self.base.replace(**changes)
