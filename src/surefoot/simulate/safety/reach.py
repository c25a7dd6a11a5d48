"""The largest motion of a kind that is safe: amplitudes that nobody chose are made smaller until nothing is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.record.excitation.motion import leaders
from surefoot.record.excitation.recipe import Recipe
from surefoot.robot.spec import Robot
from surefoot.robot.symmetry import symmetries
from surefoot.simulate.safety.examine import Safety, examine

ROUNDS = 30
SHRINK = 0.85  # of the amplitudes of joints that are in the way of something


def largest_safe(robot: Robot, recipe: Recipe, **options: Any) -> tuple[Recipe, Safety]:
    """The recipe with the amplitudes that `examine` (whose options these are) finds nothing wrong with, and its verdict."""
    lead = leaders(robot, symmetries(robot) if recipe.mirror else ())
    worst: object = ""
    coarse = True  # quick looks first; what they find nothing wrong with is looked at with care
    for _ in range(ROUNDS):
        found = examine(robot, recipe.targets(robot), coarse=coarse, **options)
        if not found.breaches:
            if not coarse:
                return recipe, found
            coarse = False
            continue
        worst = found.breaches[0]
        if any(b.what == "divergence" or (b.what == "links" and b.time == 0) for b in found.breaches):
            break  # no smaller motion would help
        factor = np.ones(robot.n)
        for breach in found.breaches:
            group = np.isin(lead.of, lead.of[robot.select(breach.joints)])
            wanted = SHRINK if breach.what == "links" else np.clip(1 / (1 + breach.excess), 0.5, 0.95)
            factor[group] = np.minimum(factor[group], wanted)
        recipe = recipe.replace(amplitude=recipe.amplitude * factor)
    raise SurefootError(
        f"no amplitude of this {recipe.kind} is safe for {robot.name}: {worst} Or change --to-hz, --stiffness or --damping."
    )
