"""A battery's log to a cost of transport: energy."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from surefoot.commands.common import console
from surefoot.commands.options import load_robot, warn
from surefoot.errors import SurefootError

if TYPE_CHECKING:
    from rich.table import Table

    from surefoot.analyze.battery_log import BatteryLog
    from surefoot.analyze.energy import Transport
    from surefoot.robot import Robot


def energy(
    log: Annotated[Path, tyro.conf.Positional], robot: str = "", mass: float | None = None, off: str = "", rest: str = "",
    distance: float | None = None, capacity: float | None = None, flip_current: bool = False,
    output: Annotated[Path | None, tyro.conf.arg(name="json")] = None,
) -> int:  # fmt: skip
    """Account for the energy of a walk from the battery's log: cost of transport and its parts.

    Args:
        log: CSV with time, voltage and current (or power), and distance, speed, or x and y; units in the header.
        robot: a bundled name or a robot.toml: its mass, and what it draws at rest.
        mass: of the robot [kg], instead of the robot's.
        off: power with drives disabled [W], or the log of such a test; default: the robot's.
        rest: power with drives enabled but idle [W], or the log of such a test; default: the robot's.
        distance: of the walk [m], for a log that does not say.
        capacity: of the battery [Wh], for its charge over the distance; default: the robot's.
        flip_current: the log counts a discharge negative.
        output: file for the figures.

    """
    from surefoot.analyze.battery_log import BatteryLog
    from surefoot.analyze.energy import decompose

    machine = load_robot(robot) if robot else None
    walk = BatteryLog.load(log, flip_current=flip_current)
    for note in walk.notes:
        warn(f"{walk.name}: {note}")
    kilograms = _mass(machine, mass)
    idle, enabled = _standby(machine, off, rest, flip_current)
    way = _way(walk, distance)
    parts = decompose(
        energy=walk.energy, duration=walk.duration, distance=way, mass=kilograms, off=idle, rest=enabled
    )  # fmt: skip
    figures = {
        "duration": walk.duration, "distance": way, "speed": way / walk.duration, "energy": walk.energy, "power": walk.mean_power,
        "off": idle, "rest": enabled, "mass": kilograms, **parts.to_dict(),
    }  # fmt: skip
    console().print(account(walk, way, parts))
    volume = capacity or (machine.battery.get("capacity") if machine else None)
    if volume is not None and not volume > 0:
        raise SurefootError(f"--capacity is {volume:g} Wh; expected a number above 0.")
    if walk.distance is not None and (volume or walk.charge is not None):
        console().print(laps(walk, volume or math.inf))
    if output is not None:
        output.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        console().print(f"wrote {output}", markup=False, soft_wrap=True)
    return 0


def _mass(machine: Robot | None, mass: float | None) -> float:
    found = mass if mass is not None else machine.mass if machine else math.nan
    if not (math.isfinite(found) and found > 0):
        raise SurefootError("a cost of transport needs the robot's mass: pass --robot NAME, or --mass with its kilograms.")
    return found


def _standby(machine: Robot | None, off: str, rest: str, flip: bool) -> tuple[float, float]:
    """P_off and P_rest [W]: numbers, logs, or the robot's."""
    from surefoot.analyze.battery_log import BatteryLog
    from surefoot.analyze.energy import standby

    found = []
    for name, text in (("off", off), ("rest", rest)):
        if not text:
            if machine is None:
                raise SurefootError(
                    f"--{name} is missing: the power [W] of the robot with its drives "
                    f"{'disabled' if name == 'off' else 'enabled but idle'}, the log of such a test, or --robot NAME."
                )
            found.append(standby(machine)[("off", "rest").index(name)])
            continue
        try:
            found.append(float(text))
        except ValueError:
            found.append(BatteryLog.load(text, flip_current=flip).mean_power)
    return found[0], found[1]


def _way(walk: BatteryLog, distance: float | None) -> float:
    if distance is not None:
        return distance
    if walk.distance is None:
        raise SurefootError(
            f"{walk.name} says nothing of the way: pass --distance in metres, or add a column distance [m], speed [m/s], or "
            "x [m] and y [m]."
        )
    return float(walk.distance[-1])


def account(walk: BatteryLog, way: float, parts: Transport) -> Table:
    """One walk, and what its energy went into."""
    from rich.table import Table

    table = Table(title=f"{walk.name}: {way:.0f} m in {walk.duration / 60:.1f} min, {way / walk.duration:.3f} m/s")
    for head in ("", "\\[Wh]", "\\[W]", "cost of transport", "share"):
        table.add_column(head, justify="left" if not head else "right")
    rows = (("electronics (CoE)", parts.electronics), ("drives, idle (CoD)", parts.drives),
            ("locomotion (CoL)", parts.locomotion), ("whole (CoT)", parts.total))  # fmt: skip
    for name, cost in rows:
        share = cost / parts.total
        table.add_row(
            name, f"{share * walk.energy / 3600:.1f}", f"{share * walk.mean_power:.0f}", f"{cost:.2f}", f"{100 * share:.0f} %"
        )
    return table


def laps(walk: BatteryLog, capacity: float) -> Table:
    """Charge of the battery lap by lap."""
    from rich.table import Table

    from surefoot.analyze.track import LAP

    own = walk.charge is not None
    table = Table(title=f"state of charge {'as the battery says' if own else f'of {capacity:g} Wh, full at the start'}")
    for head in ("lap", "distance \\[m]", "SoC \\[%]"):
        table.add_column(head, justify="right")
    for at, charge in zip(*walk.charge_over_distance(capacity, LAP), strict=True):
        table.add_row(f"{at / LAP:.4g}", f"{at:.0f}", f"{100 * charge:.1f}")
    return table
