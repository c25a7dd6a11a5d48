"""Options that say how a robot is to be moved, what it is safe from, and what its encoders do."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from surefoot.commands.options import warn
from surefoot.commands.words import again, gains
from surefoot.errors import SurefootError

if TYPE_CHECKING:
    from surefoot.record.excitation import Recipe
    from surefoot.robot import JointDynamics, Robot
    from surefoot.simulate.safety import Safety, Stand

Kind = Literal["chirp", "log-chirp", "multisine", "steps", "holds", "noise"]


@dataclass(frozen=True, kw_only=True)
class Motion:
    """How the joints move, all at once."""

    kind: Kind = "chirp"
    """chirp, log-chirp, multisine, steps, holds or noise."""
    seconds: float = 20.0
    """How long the motion takes [s]."""
    rate: float = 400.0
    """Commands per second [Hz]."""
    from_hz: float = 0.1
    """Where the band of a chirp, multisine or noise begins [Hz]."""
    to_hz: float = 10.0
    """Where it ends [Hz]."""
    corner_hz: float = math.inf
    """From here on the amplitude falls as 1/f [Hz]; default: nowhere."""
    dwell: float = 0.5
    """Time on each level of steps and holds [s]."""
    ramp: float = 1.0
    """In from rest and out to rest [s]."""
    amplitude: tuple[str, ...] = ()
    """[rad]: one number, one per joint, or PATTERN=NUMBER. Default: the largest safe one up to 0.2 rad."""
    centre: tuple[str, ...] = ()
    """Middle of the motion [rad], likewise. Default: the robot's posture."""
    stiffness: tuple[str, ...] = ()
    """P gain of the drives [N·m/rad], likewise. Default: the robot's."""
    damping: tuple[str, ...] = ()
    """D gain of the drives [N·m·s/rad], likewise."""
    mirror: bool = True
    """Legs move as mirror images, so that they push the base as little as can be."""
    seed: int = 0
    """Draws steps, holds and noise."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What the motion must keep to, beside the limits of the joints."""

    stand_force: float = math.inf
    """Largest change of force that the stand bears [N]."""
    stand_moment: float = math.inf
    """Largest change of moment that the stand bears [N·m]."""
    link_margin: float = 0.01
    """Least distance between links [m]."""
    dynamics: Path | None = None
    """Folder of a fit whose joint dynamics are expected. Default: the robot's published ones, or a guess."""


@dataclass(frozen=True, kw_only=True)
class Sensing:
    """What the encoders do to a position."""

    noise: float = 3e-4
    """Standard deviation of the encoders' noise [rad]."""
    colour: float = 0.0
    """Correlation of the noise from one sample to the next: 0 is white."""
    resolution: float = 2 * math.pi / 2**15
    """Step of the encoders [rad]; default 2π/2^15."""


Move = Annotated[Motion, tyro.conf.arg(name="")]
Safe = Annotated[Limits, tyro.conf.arg(name="")]
Sense = Annotated[Sensing, tyro.conf.arg(name="")]


def recipe_of(robot: Robot, motion: Motion) -> Recipe:
    """The recipe that was typed, completed from the robot."""
    from surefoot.record.excitation import recipe

    if motion.seed < 0:
        raise SurefootError(f"--seed is {motion.seed}; expected a whole number >= 0.")
    words: dict[str, Any] = {
        name: gains(getattr(motion, name), f"--{name}") for name in ("amplitude", "centre", "stiffness", "damping")
    }
    return recipe(
        robot, kind=motion.kind, duration=motion.seconds, rate=motion.rate, start_hz=motion.from_hz, stop_hz=motion.to_hz,
        corner_hz=motion.corner_hz, dwell=motion.dwell, ramp=motion.ramp, mirror=motion.mirror, seed=motion.seed, **words,
    )  # fmt: skip


def safe_recipe(robot: Robot, motion: Motion, limits: Limits) -> tuple[Recipe, Safety]:
    """What was typed, examined: amplitudes that were typed are kept or refused, others are made as small as is safe."""
    from surefoot.record.excitation.motion import leaders
    from surefoot.robot import symmetries
    from surefoot.simulate.safety import examine, largest_safe

    wanted = recipe_of(robot, motion)
    options: dict[str, Any] = {"stand": stand(limits), "margin": limits.link_margin, "dynamics": expected(robot, limits)}
    if motion.amplitude:
        found = examine(robot, wanted.targets(robot), **options)
        found.refuse(leaders(robot, symmetries(robot) if wanted.mirror else ()))
        return wanted, found
    made, found = largest_safe(robot, wanted, **options)
    if (made.amplitude < 0.999 * wanted.amplitude).any():
        warn(f"no --amplitude was given, and {wanted.amplitude.max():.2g} rad is not safe everywhere: the table shows what is.")
    return made, found


def stand(limits: Limits) -> Stand | None:
    """The stand's limits; nothing where none was typed."""
    from surefoot.simulate.safety import Stand

    for name, value in (("--stand-force", limits.stand_force), ("--stand-moment", limits.stand_moment)):
        if not value > 0:
            raise SurefootError(f"{name} is {value:g}; give a number above 0, or leave it out.")
    if not limits.link_margin >= 0:
        raise SurefootError(f"--link-margin is {limits.link_margin:g} m; give at least 0.")
    known = math.isfinite(limits.stand_force) or math.isfinite(limits.stand_moment)
    return Stand(force=limits.stand_force, moment=limits.stand_moment) if known else None


def expected(robot: Robot, limits: Limits) -> JointDynamics | None:
    """The dynamics of a fit, in the robot's order; nothing where none was typed."""
    from surefoot.identify import Fit

    return None if limits.dynamics is None else Fit.load(limits.dynamics).dynamics.ordered_for(robot.joints)


def typed(motion: Motion, limits: Limits) -> str:
    """The options again, as they are typed, with a blank before them."""
    return again(motion) + again(limits)


def spelled(robot: Robot, recipe: Recipe, motion: Motion) -> str:
    """The options that make this recipe, with a blank before them."""
    import numpy as np

    from surefoot.record.excitation.motion import leaders
    from surefoot.robot import symmetries

    lead = leaders(robot, symmetries(robot) if recipe.mirror else ())
    words: list[str] = ["--kind", recipe.kind, "--seconds", f"{recipe.duration:g}", "--rate", f"{recipe.rate:g}"]
    for name, value, usual in (
        ("from-hz", recipe.start_hz, 0.1), ("to-hz", recipe.stop_hz, 10.0), ("corner-hz", recipe.corner_hz, math.inf),
        ("dwell", recipe.dwell, 0.5), ("ramp", recipe.ramp, 1.0), ("seed", recipe.seed, 0),
    ):  # fmt: skip
        words += [f"--{name}", f"{value:.6g}"] if value != usual else []
    for name, usual in (
        ("amplitude", None),
        ("centre", robot.posture),
        ("stiffness", robot.stiffness),
        ("damping", robot.damping),
    ):
        row = getattr(recipe, name)
        if usual is not None and np.array_equal(row, usual):
            continue
        shown = np.unique(lead.of) if name in ("amplitude", "centre") else np.arange(robot.n)
        words += [f"--{name}", *(f"{robot.joints[j]}={row[j]:.6g}" for j in shown)]
    return " " + shlex.join(words + ([] if motion.mirror else ["--no-mirror"]))
