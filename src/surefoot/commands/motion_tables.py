"""Plans, safety and advice as a terminal shows them."""

from __future__ import annotations

import numpy as np
from rich.table import Table

from surefoot.commands.terminal import number
from surefoot.identify.advise import Advice
from surefoot.identify.plan import Plan
from surefoot.record.excitation import Recipe
from surefoot.robot.dynamics import PARAMETERS
from surefoot.robot.spec import Robot
from surefoot.simulate.safety import Safety, Stand


def intervals(robot: Robot, plan: Plan) -> Table:
    """Every joint's parameters as expected, ± half of the 95 % interval that they would get."""
    slide = robot.kinds[0] == "slide"
    per_joint = [
        n for n in dict.fromkeys(plan.names) if all(j for j, own in zip(plan.joints, plan.names, strict=True) if own == n)
    ]
    table = Table(title=f"{plan.robot}: what a fit would find, expected value ± half of its 95 % interval")
    table.add_column("joint")
    for name in per_joint:
        unit = PARAMETERS[name].slide_unit if slide else PARAMETERS[name].unit
        table.add_column(f"{name}\n\\[{unit}]", justify="right")
    table.add_column("widest,\nrelative", justify="right")
    for joint in robot.joints:
        at = {plan.names[k]: k for k, own in enumerate(plan.joints) if own == joint}
        cells = [_value(plan, at[name]) if name in at else "" for name in per_joint]
        widest = max(at.values(), key=lambda k: plan.relative[k]) if at else None
        table.add_row(joint, *cells, _relative(plan, widest) if widest is not None else "")
    return table


def _value(plan: Plan, k: int) -> str:
    half = plan.half_width[k]
    return f"{number(plan.value[k])} ± {half:.2g}" if np.isfinite(half) else f"{number(plan.value[k])} (not seen)"


def _relative(plan: Plan, k: int) -> str:
    share = plan.relative[k]
    return f"{100 * share:.2g} % {plan.names[k]}" if np.isfinite(share) else f"{plan.names[k]} not seen"


def shared(plan: Plan) -> list[str]:
    """The parameters that joints share, and the worst of all."""
    lines = [f"{plan.labels[k]}: {_value(plan, k)} {PARAMETERS[plan.names[k]].unit}" for k, j in enumerate(plan.joints) if not j]
    seen = np.where(np.isfinite(plan.relative), plan.relative, -1.0)
    lines.append(
        f"widest relative interval: {plan.labels[int(np.argmax(seen))]}, {100 * seen.max():.2g} % of what it is a part of"
    )
    lost = [label for label, share in zip(plan.labels, plan.relative, strict=True) if not np.isfinite(share)]
    if lost:
        lines.append(f"not seen by this motion: {', '.join(lost)}")
    lines.append(f"expected joint dynamics: {plan.origin}")
    return lines


def safety(robot: Robot, recipe: Recipe, found: Safety) -> Table:
    """What each joint is asked for at worst, over all simulations."""
    table = Table(
        title=f"{robot.name}: {recipe.kind}, {recipe.duration:g} s; the worst of {len(found.outlook.names)} simulations"
    )
    heads = (
        "joint",
        "centre\n\\[rad]",
        "amplitude\n\\[rad]",
        "P, D",
        "room to\nlimit \\[rad]",
        "torque\nof its limit",
        "speed\nof no-load",
    )
    for head in heads:
        table.add_column(head, justify="left" if head == "joint" else "right")
    for j, joint in enumerate(robot.joints):
        room = number(found.room[j]) if np.isfinite(found.room[j]) else "no limit"
        gains = f"{number(recipe.stiffness[j])}, {number(recipe.damping[j])}"
        speed = f"{100 * found.speed[j]:.0f} %" if np.isfinite(robot.no_load_speed[j]) else "none known"
        torque = f"{100 * found.torque[j]:.0f} %" if np.isfinite(robot.torque_limit[j]) else "none known"
        table.add_row(joint, number(recipe.centre[j]), number(recipe.amplitude[j]), gains, room, torque, speed)
    return table


def wrench(found: Safety, stand: Stand | None) -> Table:
    """Force and moment on the base over frequency."""
    table = Table(title="what the legs do to the stand, beyond what they weigh")
    for head in ("band \\[Hz]", "force \\[N]", "moment \\[N·m]"):
        table.add_column(head, justify="right")
    for low, high, force, moment in found.wrench.bands():
        table.add_row(f"{low:g}-{high:g}", number(force), number(moment))
    table.add_row("all together", *(number(x) for x in found.wrench.peaks))
    if stand is not None:
        table.add_row("the stand bears", *(number(x) if np.isfinite(x) else "not given" for x in (stand.force, stand.moment)))
    return table


def advice(given: Advice) -> Table:
    """Gains against the band, friction and delay."""
    table = Table(title="how low are low gains?")
    heads = (
        "joint", "inertia\n\\[kg·m²]", "natural\nfrequency \\[Hz]", "damping\nratio", "P", "P from\n(friction)",
        "P up to\n(band)", "sag \\[mrad]", "largest delay\nin the loop \\[ms]",
    )  # fmt: skip
    for head in heads:
        table.add_column(head, justify="left" if head == "joint" else "right")
    for j, joint in enumerate(given.joints):
        numbers = (
            given.inertia[j], given.frequency[j], given.damping_ratio[j], given.stiffness[j], given.lowest[j], given.highest[j],
            1e3 * given.sag[j], 1e3 * given.delay[j],
        )  # fmt: skip
        table.add_row(joint, *(number(float(x)) for x in numbers))
    return table
