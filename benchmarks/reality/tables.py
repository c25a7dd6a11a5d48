"""What the three sets share: the choice of a structure, and tables of errors and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from rich.console import Console
from rich.table import Table

from surefoot import Fit, Recording, Robot, Unknowns, identify
from surefoot.identify import Score
from surefoot.simulate import Physics

WORTH = 0.05  # relative reduction of the validation error that makes a richer structure worth its parameters


@dataclass(frozen=True, kw_only=True)
class Structure:
    """A model of the drives: how it is asked for."""

    name: str
    physics: Physics
    unknowns: Unknowns = field(default_factory=Unknowns)
    hold: bool = False  # the command is held between stamps


def choose(
    console: Console, robot: Robot, fitted: Recording, validation: Recording, structures: Sequence[Structure], **options: object
) -> Structure:
    """Fit every structure and keep the first that no later one beats by more than WORTH on the validation part."""
    table = Table(title=f"structures, fitted to '{fitted.name}', judged on '{validation.name}' (both inside the fitted part)")
    for head in ("structure", "free", "fitted \\[mrad]", "validation \\[mrad]", "seconds"):
        table.add_column(head, justify="left" if head == "structure" else "right")
    best, least = structures[0], np.inf
    for s in structures:
        a, b = (rec.replace(command_hold=s.hold) for rec in (fitted, validation))
        fit = identify(robot, [a], held_out=[b], physics=s.physics, unknowns=s.unknowns, **options)  # type: ignore[arg-type]
        error = fit.held_out[0].total
        if error < (1 - WORTH) * least:
            best, least = s, error
        free = sum(flag != "fixed" for name in fit.parameters for flag in fit.flags[name])
        table.add_row(s.name, str(free), mrad(fit.recordings[0].total), mrad(error), f"{fit.seconds:.1f}")
    console.print(table)
    console.print(f"kept: {best.name} (a richer one must lower the validation error by {100 * WORTH:.0f} %)")
    return best


def errors(console: Console, title: str, rows: Sequence[tuple[str, np.ndarray]], joints: Sequence[str]) -> None:
    """Errors per joint, a line each [mrad]."""
    table = Table(title=title)
    table.add_column("\\[mrad]")
    for joint in joints:
        table.add_column(joint, justify="right")
    for name, values in rows:
        table.add_row(name, *(mrad(x) for x in values))
    console.print(table)


def intervals(console: Console, fit: Fit, joints: Sequence[str]) -> None:
    """Every parameter with its 95 % interval."""
    table = Table(title="parameters and 95 % intervals")
    table.add_column("")
    for joint in joints:
        table.add_column(joint, justify="right")
    shared = []
    for name in fit.parameters:
        value, low, high = (getattr(d, name) for d in (fit.dynamics, fit.low, fit.high))
        if len(value) != len(fit.joints):
            shared += [f"{name} {v:.4g} [{lo:.4g}, {hi:.4g}]" for v, lo, hi in zip(value, low, high, strict=True)]
            continue
        at = [fit.joints.index(j) for j in joints]
        table.add_row(name, *(f"{value[i]:.4g} \\[{low[i]:.4g}, {high[i]:.4g}]" for i in at))
    console.print(table)
    if shared:
        console.print("; ".join(shared), markup=False)


def residual(score: Score, joint: int) -> np.ndarray:
    """Measured minus simulated motion of one joint [rad]."""
    return score.measured[:, joint] - score.simulated[:, joint]


def mean_error(score: Score) -> float:
    """Mean absolute error over all joints and samples [rad]."""
    return float(np.abs(score.measured - score.simulated).mean())


def mrad(x: float) -> str:
    """Milliradians with three significant digits."""
    return f"{1e3 * x:.3g}" if np.isfinite(x) else "-"
