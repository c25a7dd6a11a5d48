"""A better motion under the same limits: amplitudes, centres, band and gains are moved until the worst interval is narrowest.

CMA-ES on the logarithms of amplitudes, gains and the band's ends, and on the centres, of the joints that lead (their mirror
images follow); the cost is the logarithm of the widest relative interval, and what `examine` finds wrong is added to it. What
comes out is examined as carefully as any motion, and planned with the fit's own intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from surefoot.errors import SurefootError
from surefoot.identify.plan import Encoders, Outcome, Plan, plan
from surefoot.record.excitation.motion import LEAST, leaders
from surefoot.record.excitation.recipe import Recipe
from surefoot.record.excitation.shapes import BANDED
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.robot.symmetry import symmetries
from surefoot.simulate.safety.examine import Safety, examine
from surefoot.simulate.safety.reach import largest_safe
from surefoot.simulate.safety.wrench import Stand

Array = np.ndarray
WIDEST = 1.0  # [rad] largest amplitude that is tried
GAINS = 2.0  # factor within which gains are tried
SHIFT = 0.6  # of the room from the posture to a joint limit that a centre may move by, and of 1 rad
LOWEST = 0.05  # [Hz] lowest start of a band
SIGMA = 0.3  # first step of the search, of the cube [-1, 1]
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
        return float(self.before.relative[self.before.worst] / self.after.relative[self.after.worst])


def optimise(
    robot: Robot, recipe: Recipe, *, dynamics: JointDynamics | None = None, encoders: Encoders | None = None,
    stand: Stand | None = None, top_hz: float = 25.0, keep_gains: bool = False, evaluations: int = 160, seed: int = 0,
    tell: Callable[[int, int, float], None] | None = None,
) -> Improvement:  # fmt: skip
    """Search around a recipe that is safe; kind and duration stay as they are, the band stays below `top_hz`."""
    from cmaes import CMA

    encoders = encoders or Encoders()
    ways = _Ways(robot, recipe, top_hz, keep_gains)
    before = plan(robot, recipe.targets(robot), dynamics=dynamics, encoders=encoders, seed=seed)
    if not np.isfinite(before.relative).any():
        raise SurefootError("this motion identifies no parameter at all; choose another kind or larger amplitudes first.")
    seen = np.isfinite(before.relative) & (before.relative < 1e3)  # what no motion of this robot shows is not waited for
    best, lowest, done = recipe, _cost(robot, recipe, dynamics, encoders, stand, seen), 0
    search = CMA(mean=ways.start, sigma=SIGMA, bounds=np.tile([-1.0, 1.0], (len(ways.start), 1)), seed=seed)
    while done < evaluations:
        points = []
        for _ in range(search.population_size):
            x = search.ask()
            candidate = ways.recipe(x)
            cost = _cost(robot, candidate, dynamics, encoders, stand, seen)
            if cost < lowest:
                best, lowest = candidate, cost
            points.append((x, cost))
            done += 1
            if tell:
                tell(done, evaluations, float(np.exp(lowest)))
        search.tell(points)
    best, safety = largest_safe(robot, best, dynamics=dynamics, stand=stand)
    after = plan(robot, best.targets(robot), dynamics=dynamics, encoders=encoders, seed=seed)
    if after.relative[seen].max() >= before.relative[seen].max():  # careful examination took back what was won
        best, after = recipe, before
        safety = examine(robot, best.targets(robot), dynamics=dynamics, stand=stand)
    return Improvement(recipe=best, safety=safety, before=before, after=after, evaluations=done)


def _cost(
    robot: Robot, recipe: Recipe, dynamics: JointDynamics | None, encoders: Encoders, stand: Stand | None, seen: Array
) -> float:  # fmt: skip
    """Logarithm of the widest relative interval, raised by what is not safe."""
    targets = recipe.targets(robot)
    found = examine(robot, targets, dynamics=dynamics, stand=stand, coarse=True)
    wrong = sum(np.log1p(min(b.excess, 1e6)) for b in found.breaches) + UNSAFE * bool(found.breaches)
    if any(b.what == "divergence" for b in found.breaches):
        return 1e3
    outcome = Outcome(robot, targets, dynamics=dynamics)
    return float(np.log(outcome.relative(1.96 * outcome.white(encoders))[seen].max()) + wrong)


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
        self.band = np.log([[LOWEST, max(1.0, 2 * LOWEST)], [2.0, max(top, 2.5)]])
        self.gains = not keep_gains
        m = len(self.first)
        amplitude = self._inverse(np.log(np.maximum(recipe.amplitude[self.first], LEAST / 4)), self.low, self.high)
        centre = (recipe.centre - robot.posture)[self.first] / np.maximum(self.shift, 1e-9)
        band = self._inverse(np.log([max(recipe.start_hz, LOWEST), recipe.stop_hz]), *self.band.T) if self.bands else np.zeros(0)
        start = np.concatenate([amplitude, centre, band, np.zeros(2 * m * self.gains)])
        self.start = np.clip(start, -0.95, 0.95)

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
            start, stop = np.exp(self.band[:, 0] + (x[2 * m : 2 * m + 2] + 1) / 2 * (self.band[:, 1] - self.band[:, 0]))
            changes |= {"start_hz": float(start), "stop_hz": float(stop)}
        if self.gains:
            p, d = x[-2 * m : -m], x[-m:]
            changes |= {"stiffness": self.base.stiffness * GAINS ** p[which], "damping": self.base.damping * GAINS ** d[which]}
        return self.base.replace(**changes)
