"""What walking costs: energy balance, Joule scale, the energy reward against none, and the running track beside the paper's.

  python benchmarks/energy.py                                              balance, Joule scale, the paper's tables
  python benchmarks/energy.py --policies anymal=runs/a tytan=runs/t        and the track: laps at 1 m/s until the battery is low
  python benchmarks/energy.py --policies anymal=runs/a --without anymal=runs/no_energy     and the reward against the same without

The track is not walked whole: the robot walks --seconds at each of a few states of charge, and the battery is run down by what it
drew there (surefoot.analyze.track). Rest and off are walked on the same machine: drives enabled without gains, and disabled.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from common import header
from surefoot import Robot
from surefoot.analyze.energy import PUBLISHED, Transport, joule_scale, published_cost
from surefoot.analyze.run import fell
from surefoot.analyze.track import Stretch, Track, run_down
from surefoot.analyze.walking import base_motion, walking
from surefoot.deploy.controller import Controller
from surefoot.deploy.estimator import Estimator
from surefoot.deploy.policy import Policy
from surefoot.deploy.steering import Script
from surefoot.deploy.walk import CutShort, walk
from surefoot.robot.hardware import Command
from surefoot.simulate.feet import Feet
from surefoot.simulate.virtual.hardware import VirtualHardware
from surefoot.simulate.virtual.ledger import TERMS, Ledger

console = Console(width=170, highlight=False)
CLOSED = 0.01  # largest gap of the balance, over what is left after electronics and idle inverters
CHARGES = (0.98, 0.5, 0.05)  # states of charge that are walked; the first and the last are the track's ends
SETTLED = 5.0  # [s] of a walk that are not counted: a second of standing, one at half the speed, three at the whole
WALKS = 0.5  # [m/s] a robot that is slower does not run laps
START, FLOOR = CHARGES[0], CHARGES[-1]


def treading(name: str, seconds: float = 2.0) -> Ledger:
    """A machine of a robot on the ground, treading without a policy."""
    robot = Robot.load(name)
    machine = VirtualHardware(robot, 3, place="ground")
    machine.set_gains(robot.stiffness, robot.damping)
    ledger = machine.keep_accounts()
    for _ in range(round(seconds / machine.period)):
        state = machine.read()
        machine.write(Command(target=robot.posture + 0.2 * np.sin(10 * state.time) * np.tile([0.3, 1.0, -1.5], 4)))
    return ledger


def balance(ledgers: dict[str, Ledger]) -> bool:
    """Where every joule went."""
    table = Table(title="energy balance of virtual robots: shares of what the battery gave, and what is not found again")
    for head in ("", "battery [J]", *TERMS, "gap", "gap of what moves", f"target {100 * CLOSED:g} %"):
        table.add_column(head.replace("[", "\\["), justify="right" if head else "left")
    good = True
    for name, ledger in ledgers.items():
        account = ledger.account()
        moving = ledger.given - account["electronics"] - account["switching"]
        gap = abs(ledger.gap) * ledger.given / moving
        good &= gap < CLOSED
        shares = [f"{100 * account[term] / ledger.given:.1f} %" for term in TERMS]
        verdict = "met" if gap < CLOSED else "MISSED"
        table.add_row(name, f"{ledger.given:.1f}", *shares, f"{100 * ledger.gap:.2f} %", f"{100 * gap:.2f} %", verdict)
    console.print(table)
    return good


def joule() -> None:
    """The paper's bar chart."""
    table = Table(title="Joule-heating scale at the robot's posture (anymal's is an estimate: its motor is not published)")
    for head in ("robot", "mass \\[kg]", "HAA", "HFE", "KFE \\[W/(N·m)²]", "heat of the weight on 10 cm \\[W]"):
        table.add_column(head, justify="left" if head == "robot" else "right")
    for name in ("anymal", "tytan", "minimal"):
        scale = joule_scale(Robot.load(name))
        pairs = list(zip(scale.joints, scale.constant, strict=True))
        kinds = [np.mean([c for joint, c in pairs if joint.endswith(kind)]) for kind in ("HAA", "HFE", "KFE")]
        table.add_row(name, f"{scale.mass:.1f}", *(f"{x:.4g}" for x in kinds), f"{scale.weighed:.3g}")
    console.print(table)


def stand_by(robot: Robot, seed: int, *, enabled: bool, seconds: float = 1.0) -> float:
    """P_rest (drives enabled, no torque, in the air) or P_off (drives disabled, on the ground) of a machine [W]."""
    machine = VirtualHardware(robot, seed, place="stand" if enabled else "ground")
    if enabled:
        machine.set_gains(np.zeros(robot.n), np.zeros(robot.n))
    powers = [float(machine.read().more["battery_power"][0]) for _ in range(round(seconds / machine.period))]
    return float(np.mean(powers[len(powers) // 2 :]))


def stretch(robot: Robot, folder: Path, seed: int, charge: float, seconds: float) -> tuple[Stretch | None, Ledger]:
    """Walk 1 m/s at a state of charge; None where the robot fell."""
    policy = Policy.load(folder)
    machine = VirtualHardware(robot, seed, place="ground")
    machine.bus.charge = charge
    ledger = machine.keep_accounts()
    controller = Controller(robot, policy, Estimator(Feet(robot), robot.dynamics or policy.spec.dynamics))
    try:
        run = walk(
            machine,
            controller,
            Script([0.0, 1.0, 2.0], [[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [1.0, 0.0, 0.0]]),
            seconds=seconds + SETTLED,
        )
    except CutShort as error:
        console.print(f"{robot.name}, {folder}: {error}", markup=False)
        return None, ledger
    if fell(run):
        console.print(f"{robot.name}, {folder}: fell", markup=False)
        return None, ledger
    rows = walking(run)
    rows &= run.time > run.time[rows][0] + SETTLED
    speed = float(base_motion(run)[rows, 0].mean())
    if speed < WALKS:
        console.print(f"{robot.name}, {folder}: told 1 m/s, it made {speed:.3f} m/s: no walk", markup=False)
        return None, ledger
    return Stretch(charge=charge, power=float(run["battery_power"][rows].mean()), speed=speed), ledger


def track(name: str, folder: Path, options: argparse.Namespace) -> tuple[Track | None, Transport | None, dict[str, Ledger]]:
    """The battery of one robot, run down."""
    robot = Robot.load(name)
    walked = [stretch(robot, folder, options.machine, charge, options.seconds) for charge in CHARGES]
    ledgers = {f"{name} at {100 * charge:g} %": ledger for charge, (_, ledger) in zip(CHARGES, walked, strict=True)}
    if any(one is None for one, _ in walked):
        return None, None, ledgers
    off, rest = (stand_by(robot, options.machine, enabled=enabled) for enabled in (False, True))
    laps = run_down([one for one, _ in walked if one], capacity=robot.battery["capacity"], start=START, floor=FLOOR)
    return laps, laps.cost(robot.mass, off, rest), ledgers


def columns(found: dict[str, tuple[Track, Transport]]) -> None:
    """The paper's two tables with ours beside them."""
    table = Table(title="the running track: the paper's columns, and ours (virtual robots; see docs/energy.md)")
    table.add_column("")
    for name in (*(c.name for c in PUBLISHED), *(f"virtual {name}" for name in found)):
        table.add_column(name, justify="right")
    ours = [*found.values()]
    reach = PUBLISHED[0].distance / (PUBLISHED[0].discharge.first - PUBLISHED[0].discharge.last)

    def efficiency(t: Track) -> str:
        """Distance for each share of the battery, over ANYmal C's."""
        return f"{100 * t.distance[-1] / (t.charge[0] - t.charge[-1]) / reach:.0f}"

    rows = [
        ("rounds", [f"{c.rounds:g}" for c in PUBLISHED], [f"{t.rounds:.2f}" for t, _ in ours]),
        ("distance [m]", [f"{c.distance:g}" for c in PUBLISHED], [f"{t.distance[-1]:.0f}" for t, _ in ours]),
        ("SoC [%]", [f"{100 * c.discharge.first:g} to {100 * c.discharge.last:g}" for c in PUBLISHED],
         [f"{100 * t.charge[0]:g} to {100 * t.charge[-1]:g}" for t, _ in ours]),
        ("time [min]", [f"{c.discharge.duration / 60:g}" for c in PUBLISHED], [f"{t.duration / 60:.0f}" for t, _ in ours]),
        ("commanded [m/s]", ["1"] * len(PUBLISHED), ["1"] * len(ours)),
        ("average [m/s]", [f"{c.speed:g}" for c in PUBLISHED], [f"{t.speed:.3f}" for t, _ in ours]),
        ("efficiency [%]", [f"{100 * c.efficiency:.0f}" for c in PUBLISHED], [efficiency(t) for t, _ in ours]),
        ("power [W]", [f"{c.power:g}" for c in PUBLISHED], [f"{t.power:.0f}" for t, _ in ours]),
    ]  # fmt: skip
    for part, name in (("electronics", "CoE"), ("drives", "CoD"), ("locomotion", "CoL"), ("total", "CoT")):
        printed = [f"{getattr(c.cost, part):.2f}" if c.cost else "-" for c in PUBLISHED]
        rows.append((name, printed, [f"{getattr(cost, part):.2f}" for _, cost in ours]))
    rows.append(("CoT by its formula", [f"{x:.2f}" if np.isfinite(x := published_cost(c)) else "-" for c in PUBLISHED],
                 [f"{cost.total:.2f}" for _, cost in ours]))  # fmt: skip
    for what, theirs, mine in rows:
        table.add_row(what.replace("[", "\\["), *theirs, *mine)
    console.print(table)


def rewarded(found: dict[str, tuple[Track, Transport]], without: dict[str, tuple[Track, Transport]]) -> None:
    """The energy reward against the same policy without it."""
    table = Table(title="the energy reward: cost of transport at 1 m/s with it and without it")
    for head in ("robot", "", "CoT", "CoE", "CoD", "CoL", "m/s", "W"):
        table.add_column(head, justify="right" if head not in ("robot", "") else "left")
    for name, plain in without.items():
        for label, (laps, cost) in (("with", found[name]), ("without", plain)):
            parts = (cost.total, cost.electronics, cost.drives, cost.locomotion)
            table.add_row(name, label, *(f"{x:.2f}" for x in parts), f"{laps.speed:.3f}", f"{laps.power:.0f}")
    console.print(table)


def named(words: list[str]) -> dict[str, Path]:
    return {name: Path(folder) for name, _, folder in (word.partition("=") for word in words)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policies", nargs="*", default=[], help="ROBOT=FOLDER")
    parser.add_argument("--without", nargs="*", default=[], help="ROBOT=FOLDER of the same training without the energy reward")
    parser.add_argument("--seconds", type=float, default=20.0, help="of walking at each state of charge")
    parser.add_argument("--machine", type=int, default=100, help="seed of the hidden robot")
    options = parser.parse_args()
    header(console, __file__)
    ledgers = {f"{name} treading": treading(name) for name in ("anymal", "tytan", "minimal")}
    found, without = {}, {}
    for paths, into in ((named(options.policies), found), (named(options.without), without)):
        for name, folder in paths.items():
            laps, cost, more = track(name, folder, options)
            if into is found:
                ledgers |= more
            if laps and cost:
                into[name] = (laps, cost)
    good = balance(ledgers)
    joule()
    columns(found)
    if both := {name: pair for name, pair in without.items() if name in found}:
        rewarded(found, both)
    walked = len(found) == len(options.policies) and len(without) == len(options.without)
    console.print(f"balance closes within {100 * CLOSED:g} %: {'met' if good else 'MISSED'}")
    if options.policies:
        console.print(f"every robot walked to the floor of its battery: {'met' if walked else 'MISSED'}")
    return 0 if good and walked else 1


if __name__ == "__main__":
    sys.exit(main())
