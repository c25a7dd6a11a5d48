"""A Dynamixel XL330 that swings 0.49 kg on a 0.1 m arm (Rhoban's BAM): 16 runs of 6 s, 4 firmware gains by 4 trajectories.

The firmware turns the position error into a duty cycle, which drives the motor from the supply:

    duty = clip(kp 4096 / 2π / (256 · 885) e, ±1)        τ = kt V duty / R − kt²/R q̇

so that P = 0.0213 kp kt/R and D = kt²/R, and full duty is a torque-speed envelope with stall torque V kt/R and no-load speed
V/kt. kt/R is not known: one `gain_scale` for all runs, and the envelope scaled with it by fitting again a few times.
kt itself is chosen from a short list by the fitted error. The data sheet's numbers are the start: 0.52 N·m at 1.47 A and 5 V.
Where the torque was switched off the drive does nothing.

Cross-validation: the runs of one firmware gain are held out, the other twelve are fitted; four times. This decides.
Whole trajectories held out are a harder question, printed beside it. The published figure is of parameters fitted to all 16
runs, none held out.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
from rich.console import Console
from rich.table import Table

from reality.tables import mean_error
from surefoot import Fit, JointDynamics, Recording, Robot, Unknowns, compare, identify
from surefoot.identify import Ranked, Score, score, verdict
from surefoot.identify.unknowns import EXTRA
from surefoot.simulate import Physics

PUBLISHED = 0.066  # [rad], mean absolute error
SUPPLY = 7.4  # [V]
KT, RESISTANCE = 0.52 / 1.47, 5.0 / 1.47  # [N·m/A], [Ω] of the data sheet
CONSTANTS = (0.6 * KT, 0.8 * KT, KT)  # kt that are tried
PHYSICS = Physics(timestep=0.0025)
PENDULUM = """<mujoco model="xl330_pendulum"><worldbody><body name="arm"><joint name="hinge" axis="0 1 0"/>
<inertial pos="0 0 -0.1" mass="0.49" diaginertia="1e-6 1e-6 1e-6"/></body></worldbody></mujoco>"""


def run(folder: Path, console: Console) -> list[str]:
    """Four folds of the paper's model, and of it with friction that grows with the load."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "xl330.xml"
        file.write_text(PENDULUM, encoding="utf-8")
        robot = Robot.load(file)
    runs = [json.loads(file.read_text(encoding="utf-8")) for file in sorted((folder / "raw").glob("*.json"))]
    extras: list[tuple[str, ...]] = [()]
    extras += [("load_friction",)] if "load_friction" in EXTRA else []
    reached, columns, folds = 0.0, {}, []
    for extra in extras:
        folds = folds_by("kp", robot, runs, extra)
        name = " and ".join(("paper's model", *extra))
        columns[name] = {s.name: mean_error(s) for f in folds for s in f.held_out}
        reached = summary(console, name, folds)
    other = [(f.name, mean_error(s)) for f in folds_by("trajectory", robot, runs, extras[-1]) for s in f.held_out]
    means = ", ".join(f"{n} {np.mean([e for m, e in other if m == n]):.3f}" for n in dict.fromkeys(n for n, _ in other))
    console.print(f"with whole trajectories held out instead, no target: MAE {np.mean([e for _, e in other]):.4f} rad ({means})")
    m1 = [json.loads(file.read_text(encoding="utf-8")) for file in sorted((folder / "params").glob("*_m1.json"))]
    known = [published(robot, runs, p) for p in m1]
    columns["best published m1, fitted to all"] = min(known, key=lambda errors: sum(errors.values()))
    by_run(console, columns)
    ranked = rank(robot, runs, float(np.mean([f.ratio for f in folds])))
    console.print("compare, kp 400 held out: " + ", ".join(f"{r.variant.name} {1e3 * r.held_out:.0f}" for r in ranked) + " mrad")
    console.print(f"compare: {verdict(ranked)}")
    missed = f"bam_xl330: mean absolute error held out {reached:.4f} rad, published {PUBLISHED:.3f} rad"
    return [] if reached < PUBLISHED else [missed]


def driven(robot: Robot, runs: list[dict], kt: float, ratio: float) -> tuple[Robot, list[Recording]]:
    """The drive and its recordings for a torque constant and a ratio kt/R."""
    drive = robot.replace(stall_torque=np.array([SUPPLY * ratio]), no_load_speed=np.array([SUPPLY / kt]))
    return drive, [recorded(r, kt, ratio) for r in runs]


def recorded(r: dict, kt: float, ratio: float) -> Recording:
    """One run."""
    column = lambda key: np.array([[entry[key]] for entry in r["entries"]])  # noqa: E731
    return Recording(
        joints=("hinge",),
        time=column("timestamp")[:, 0],
        target=column("goal_position"),
        position=column("position"),
        enabled=column("torque_enable"),
        stiffness=np.array([0.0213 * r["kp"] * ratio]),
        damping=np.array([kt * ratio]),
        name=f"kp {r['kp']} {r['trajectory']}",
    )


@dataclass(frozen=True, kw_only=True)
class Fold:
    """One part held out; all errors are of the drive whose envelope has the fitted kt/R."""

    name: str  # what is held out
    fit: Fit
    ratio: float  # kt/R [N·m/V]
    loss: float  # mean squared error of the fitted runs [rad²]
    fitted: list[Score]
    held_out: list[Score]


def folds_by(key: Literal["kp", "trajectory"], robot: Robot, runs: list[dict], extra: tuple[str, ...]) -> list[Fold]:
    """Hold out the runs of each firmware gain, or of each trajectory, in turn."""
    return [
        fold(robot, runs, [r[key] == value for r in runs], f"{key} {value}", extra) for value in sorted({r[key] for r in runs})
    ]


def fold(robot: Robot, runs: list[dict], out: list[bool], name: str, extra: tuple[str, ...]) -> Fold:
    """Fit the other runs; kt by their error, kt/R as one scale that the envelope follows."""
    others, mine = ([r for r, held in zip(runs, out, strict=True) if held is side] for side in (False, True))
    unknowns = Unknowns(extra=("gain_scale", *extra))

    def attempt(kt: float, scale: float, method: Literal["least-squares", "hybrid"]) -> tuple[Fold, float, float]:
        nominal = KT / RESISTANCE
        drive, fitted = driven(robot, others, kt, scale * nominal)[0], driven(robot, others, kt, nominal)[1]
        fit = identify(drive, fitted, physics=PHYSICS, unknowns=unknowns, method=method)
        scale = float(fit.dynamics.gain_scale[0])
        drive, held = driven(robot, others, kt, scale * nominal)[0], driven(robot, mine, kt, nominal)[1]
        scores = [[score(drive, rec, fit.dynamics, PHYSICS) for rec in part] for part in (fitted, held)]
        loss = float(np.mean([s.rmse[0] ** 2 for s in scores[0]]))
        return Fold(name=name, fit=fit, ratio=scale * nominal, loss=loss, fitted=scores[0], held_out=scores[1]), kt, scale

    tried = []
    for kt, scale in product(CONSTANTS, (0.8, 1.2)):
        for _ in range(3):
            tried.append(attempt(kt, scale, "least-squares"))
            scale = tried[-1][2]
    for _ in range(2):
        _, kt, scale = min(tried, key=lambda t: t[0].loss)
        tried.append(attempt(kt, scale, "hybrid"))
    return min(tried, key=lambda t: t[0].loss)[0]


def summary(console: Console, name: str, folds: list[Fold]) -> float:
    """A line per fold; the mean absolute error over all held-out runs [rad]."""
    parameters = folds[0].fit.parameters[:-1]  # without gain_scale
    table = Table(title=f"XL330, {name}: the runs of one firmware gain held out")
    for head in ("held out", "MAE [rad]", "rmse [rad]", "no model", "fitted MAE", "kt/R [N·m/V]", *parameters):
        table.add_column(head.replace("[", "\\["), justify="right")
    for f in folds:
        cells = []
        for p in parameters:
            value, low, high = (float(getattr(d, p)[0]) for d in (f.fit.dynamics, f.fit.low, f.fit.high))
            cells.append(f"{value:.2g} \\[{low:.2g}, {high:.2g}]")
        held, fitted = (np.mean([mean_error(s) for s in part]) for part in (f.held_out, f.fitted))
        rmse, none = (np.mean([getattr(s, key)[0] for s in f.held_out]) for key in ("rmse", "rmse_no_model"))
        table.add_row(f.name, f"{held:.4f}", f"{rmse:.4f}", f"{none:.3f}", f"{fitted:.4f}", f"{f.ratio:.4f}", *cells)
    console.print(table)
    every = [s for f in folds for s in f.held_out]
    mean, rmse = float(np.mean([mean_error(s) for s in every])), float(np.mean([s.rmse[0] for s in every]))
    console.print(f"{name}: mean over {len(every)} held-out runs: MAE {mean:.4f} rad, rmse {rmse:.4f} rad")
    console.print(f"published, fitted to all runs: MAE {PUBLISHED} rad")
    return mean


def rank(robot: Robot, runs: list[dict], ratio: float) -> list[Ranked]:
    """Which model does this drive need? Asked with the envelope that the folds found."""
    drive, _ = driven(robot, runs, KT, ratio)
    fitted, held = (driven(robot, [r for r in runs if (r["kp"] == 400) is out], KT, KT / RESISTANCE)[1] for out in (False, True))
    return compare(drive, fitted, held_out=held, physics=PHYSICS, unknowns=Unknowns(extra=("gain_scale",)))


def published(robot: Robot, runs: list[dict], p: dict) -> dict[str, float]:
    """Published Coulomb-and-viscous parameters (m1) in this engine: mean absolute error of each run [rad]."""
    drive, recordings = driven(robot, runs, p["kt"], p["kt"] / p["R"])
    one = lambda key: np.array([p[key]])  # noqa: E731
    dynamics = JointDynamics(
        joints=("hinge",), armature=one("armature"), damping=one("friction_viscous"), friction=one("friction_base"),
        bias=one("q_offset"), delay=np.zeros(1),
    )  # fmt: skip
    return {rec.name: mean_error(score(drive, rec, dynamics, PHYSICS)) for rec in recordings}


def by_run(console: Console, columns: dict[str, dict[str, float]]) -> None:
    """Mean absolute error of every run when it was held out, beside published parameters that were fitted to it."""
    table = Table(title="mean absolute error of each run [rad]".replace("[", "\\["))
    table.add_column("run")
    for name in columns:
        table.add_column(name, justify="right")
    for name in next(iter(columns.values())):
        table.add_row(name, *(f"{column[name]:.3f}" for column in columns.values()))
    table.add_row("mean", *(f"{np.mean(list(column.values())):.4f}" for column in columns.values()))
    console.print(table)
