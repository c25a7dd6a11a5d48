"""IGRIS-C, a humanoid whose legs hang in the air (PACE's protocol on real hardware): a linear chirp, 0.1-10 Hz in 60 s, 300 Hz.

Known: the model, and configured gains that nobody logged. Waist and ankles are four-bar mechanisms whose targets live in
motor space, so they follow their measured motion; the 8 direct joints are identified. Nothing is published to beat: the two
legs have the same drives, and the last 20 s, 6.7 to 10 Hz, are not fitted.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from reality.tables import Structure, choose, errors, intervals, mrad, residual
from surefoot import Fit, Recording, Robot, Unknowns, check, identify
from surefoot.identify.names import mirrored
from surefoot.simulate import Physics

PARTS = ("Hip_Pitch", "Hip_Roll", "Hip_Yaw", "Knee_Pitch", "Ankle_Pitch", "Ankle_Roll")
STIFFNESS = {"*": 150.0, "*Hip_Yaw*": 100.0}  # [N·m/rad]
DAMPING = {"*": 1.0, "*Hip_Pitch*": 2.0, "*Hip_Roll*": 3.0, "*Hip_Yaw*": 1.5}  # [N·m·s/rad]
VALIDATION, FITTED = 30.0, 40.0  # [s]
STEP = 1 / 300  # [s]: the log's rate
QUICK = {"method": "least-squares", "max_iterations": 30}


def run(folder: Path, console: Console) -> list[str]:
    """Choose the structure on 0-30 s against 30-40 s, fit 40 s, judge on the last 20 s."""
    robot = Robot.load(folder / "igris_c_legs.xml")
    order = ["Joint_Waist_Roll", "Joint_Waist_Pitch", *(f"Joint_{p}_{side}" for side in ("Left", "Right") for p in PARTS)]
    rec = Recording.load(folder / "chirp_data.pt", joints=order, stiffness=STIFFNESS, damping=DAMPING)
    rec = rec.prescribe(*(j for j in order if "Waist" in j or "Ankle" in j))
    direct = [j for j in order if j not in rec.prescribed]
    for finding in check(robot, [rec]):
        if finding.level != "ok":
            console.print(f"check: {finding.joint} {finding.message}", markup=False)
    rec = rec.mark_held()
    console.print(f"held samples, not compared: {100 * (1 - rec.select(direct).valid.mean()):.2f} % of the direct joints'")  # type: ignore[union-attr]
    first, last = rec.between(0, FITTED).replace(name="0-40 s"), rec.between(FITTED).replace(name="40-60 s")
    early, late = rec.between(0, VALIDATION).replace(name="0-30 s"), first.between(VALIDATION).replace(name="30-40 s")
    kept = choose(console, robot, early, late, structures(), **QUICK)
    a, b = (r.replace(command_hold=kept.hold) for r in (first, last))
    fit = identify(robot, [a], held_out=[b], physics=kept.physics, unknowns=kept.unknowns, **QUICK)  # type: ignore[arg-type]
    at = [fit.joints.index(j) for j in direct]
    names = [j.removeprefix("Joint_").replace("_", " ") for j in direct]
    judged = fit.held_out[0]
    rows = [("fitted, 0-40 s", fit.rmse[at]), ("no model", fit.recordings[0].rmse_no_model[at])]
    rows += [("held out, 40-60 s", judged.rmse[at]), ("no model", judged.rmse_no_model[at])]
    errors(console, f"IGRIS-C, {kept.name}", rows, names)
    intervals(console, fit, direct[: len(direct) // 2])
    intervals(console, fit, direct[len(direct) // 2 :])
    sides(console, fit, direct)
    for j, name in zip(at, names, strict=True):
        console.print(f"{name}: {course(fit, j)}", markup=False)
    for finding in fit.findings:
        console.print(f"- {finding}", markup=False)
    return []


def structures() -> list[Structure]:
    """The paper's model, then where the bias and the delay sit."""
    shifted, inside = (
        Physics(timestep=STEP, bias_form="setpoint"),
        Physics(timestep=STEP, bias_form="setpoint", delay_on="torque"),
    )
    return [
        Structure(name="paper: bias of the encoder, delay on the command", physics=Physics(timestep=STEP)),
        Structure(name="bias of the set-point", physics=shifted),
        Structure(name="bias of the set-point, command held", physics=shifted, hold=True),
        Structure(name="bias of the set-point, delay inside the loop", physics=inside),
        Structure(name="the same, a delay per joint", physics=inside, unknowns=Unknowns(joint_delays=True)),
        Structure(
            name="the same, friction grows with the load", physics=inside,
            unknowns=Unknowns(joint_delays=True, extra=("load_friction",)),
        ),
    ]  # fmt: skip


def sides(console: Console, fit: Fit, direct: list[str]) -> None:
    """Left against right: do the intervals of the same drives overlap?"""
    names = ["armature", "damping", "friction"] + (["delay"] if len(fit.dynamics.delay) > 1 else [])
    table = Table(title="left, right; do their 95 % intervals overlap?")
    table.add_column("")
    for name in names:
        table.add_column(name, justify="right")
    agree = total = 0
    for i, j in mirrored(fit.joints):
        if fit.joints[i] not in direct:
            continue
        cells = []
        for name in names:
            value, low, high = (getattr(d, name) for d in (fit.dynamics, fit.low, fit.high))
            overlap = bool(max(low[i], low[j]) <= min(high[i], high[j]))
            agree, total = agree + overlap, total + 1
            cells.append(f"{value[i]:.3g}, {value[j]:.3g} {'yes' if overlap else 'no'}")
        table.add_row(fit.joints[i].removeprefix("Joint_").removesuffix("_Left").replace("_", " "), *cells)
    console.print(table)
    console.print(f"{agree} of {total} pairs of intervals overlap")


def course(fit: Fit, joint: int) -> str:
    """The error along the chirp, in stretches of 10 s."""
    stretches = []
    for score in (fit.recordings[0], fit.held_out[0]):
        error, since = residual(score, joint), score.time
        for start in np.arange(since[0], since[-1] - 1, 10.0):
            part = error[(since >= start) & (since < start + 10)]
            stretches.append(mrad(float(np.sqrt((part**2).mean()))))
    return f"rms error of each 10 s of the chirp: {', '.join(stretches)} mrad"
