"""What the command line shows: tables and lines, made from results. Nothing is computed here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from surefoot.identify.compare import Ranked
from surefoot.identify.finding import Finding
from surefoot.identify.fit import Fit, Score
from surefoot.record.recording import CHANNELS, FLAGS, Recording
from surefoot.robot.dynamics import PARAMETERS, JointDynamics
from surefoot.robot.spec import Robot

Array = np.ndarray
COLOUR = {
    "ok": "green",
    "weak": "yellow",
    "not identified": "red",
    "at lower bound": "yellow",
    "at upper bound": "red",
    "fixed": "dim",
}
SIGN = {"stop": ("STOP", "bold red"), "warn": ("warn", "yellow"), "ok": ("ok", "green")}


def number(x: float) -> str:
    """Four digits, whatever the size; the sign of infinity for what is not there."""
    return "-" if np.isnan(x) else "∞" if np.isinf(x) else f"{x:.4g}"


def with_interval(value: float, low: float, high: float, flag: str) -> Text:
    """A value and half its interval, or both ends where it is not symmetric, coloured by its flag."""
    down, up = value - low, high - value
    if flag == "fixed":
        text = number(value)
    elif abs(up - down) > 0.2 * max(up, down):  # cut off at a bound, or skewed
        text = f"{number(value)} ({number(low)} … {number(high)})"
    else:
        text = f"{number(value)} ±{(high - low) / 2:.2g}"
    return Text(
        text + {"at lower bound": " ⊥", "at upper bound": " ⊤", "not identified": " ?"}.get(flag, ""), style=COLOUR.get(flag, "")
    )


def robots(found: Sequence[Robot], walking: Sequence[str]) -> Table:
    """The bundled robots, and which of them come with a policy."""
    table = Table(title="bundled robots")
    for name in ("name", "joints", "mass \\[kg]", "P", "D", "torque limit [N·m]", "policy"):
        table.add_column(name, justify="left" if name == "name" else "right")
    for r in found:
        limit = r.torque_limit[np.logical_not(r.geared)]
        table.add_row(
            r.name,
            str(r.n),
            number(r.mass),
            _span(r.stiffness),
            _span(r.damping),
            _span(limit) if len(limit) else "by gear table",
            "yes" if r.name in walking else "-",
        )
    return table


def _span(values: Array) -> str:
    low, high = float(np.min(values)), float(np.max(values))
    return number(low) if low == high else f"{number(low)}-{number(high)}"


def findings(found: Sequence[Finding]) -> Table:
    """What a check found, worst first."""
    table = Table(show_lines=False)
    for name in ("", "recording", "subject", "finding", "what to do"):
        table.add_column(name, overflow="fold")
    for f in found:
        sign, style = SIGN[f.level]
        about = f"{f.joint}: {f.message}" if f.joint and f.joint not in f.message else f.message
        table.add_row(Text(sign, style=style), f.recording, f.subject, about, f.remedy)
    return table


def recording(rec: Recording) -> Table:
    """What is in a recording, joint by joint."""
    there = [key for key in (*CHANNELS, *FLAGS) if getattr(rec, key) is not None]
    table = Table(title=f"{rec.name}: {len(rec.time)} samples, {rec.duration:.4g} s at {rec.rate:.4g} Hz; {', '.join(there)}")
    heads = ("joint", "target, from", "to", "position, from", "to", "P", "D")
    for name in heads:
        table.add_column(name, justify="left" if name == "joint" else "right")
    for k, joint in enumerate(rec.joints):
        ends = [f(channel[:, k]) for channel in (rec.target, rec.position) for f in (np.min, np.max)]
        table.add_row(joint, *(number(float(x)) for x in (*ends, rec.stiffness[k], rec.damping[k])))
    return table


def parameters(fit: Fit) -> Table:
    """Every joint's parameters with their 95 % intervals and the errors."""
    per_joint = [
        name
        for name in fit.parameters
        if getattr(fit.dynamics, name).shape[-1] == len(fit.joints) and PARAMETERS[name].size != "tilt"
    ]
    if len(fit.joints) == 1:
        per_joint = [name for name in per_joint if PARAMETERS[name].size == "joint"]
    table = Table(title=f"{fit.robot}: joint dynamics, value ± half of the 95 % interval")
    table.add_column("joint")
    kinds = getattr(fit, "kinds", ("hinge",) * len(fit.joints))
    for name in per_joint:
        table.add_column(f"{name}\n[{_units(name, kinds)}]".replace("[", "\\["), justify="right")
    for head in ("rmse", "no model", *(f"held out\n{s.name}" for s in fit.held_out)):
        table.add_column(head + "\n\\[mrad]" if "\n" not in head else head + " \\[mrad]", justify="right")
    none = np.sqrt(np.mean([s.rmse_no_model**2 for s in fit.recordings], axis=0))
    for j, joint in enumerate(fit.joints):
        cells = []
        for name in per_joint:
            value, low, high = (float(getattr(d, name)[j]) for d in (fit.dynamics, fit.low, fit.high))
            unit = f" {_units(name, kinds[j : j + 1])}" if len(set(kinds)) > 1 else ""
            cells.append(with_interval(value, low, high, fit.flags[name][j]) + Text(unit, style="dim"))
        errors = [fit.rmse[j], none[j], *(s.rmse[j] for s in fit.held_out)]
        table.add_row(joint, *cells, *(number(1e3 * e) for e in errors))
    return table


def _units(name: str, kinds: Sequence[str]) -> str:
    """The unit of a parameter: the hinge's, the slide's, or both."""
    units = {kind: getattr(PARAMETERS[name], "slide_unit" if kind == "slide" else "unit") for kind in ("hinge", "slide")}
    return " or ".join(dict.fromkeys(units[kind] for kind in units if kind in kinds))


def shared(fit: Fit) -> list[Text]:
    """The parameters that all joints share, a line each."""
    lines = []
    for name in fit.parameters:
        values = getattr(fit.dynamics, name)
        if PARAMETERS[name].size == "joint" or (len(values) == len(fit.joints) > 1 and PARAMETERS[name].size != "tilt"):
            continue
        for i in range(len(values)):
            factor, unit = (1e3, "ms") if name == "delay" else (1.0, PARAMETERS[name].unit)
            v, low, high = (factor * float(getattr(d, name)[i]) for d in (fit.dynamics, fit.low, fit.high))
            which = f" {('roll', 'pitch')[i]}" if name == "tilt" else ""
            lines.append(Text(f"{name}{which} ") + with_interval(v, low, high, fit.flags[name][i]) + Text(f" {unit}"))
    return lines


def errors(scores: Sequence[Score], title: str) -> Table:
    """Error per recording and joint, beside no model."""
    table = Table(title=title)
    table.add_column("recording")
    for head in ("rmse \\[mrad]", "no model \\[mrad]", "ratio", "worst joint", "its rmse \\[mrad]"):
        table.add_column(head, justify="right")
    for s in scores:
        none = float(np.sqrt(np.nanmean(s.rmse_no_model**2)))
        worst = int(np.nanargmax(s.rmse))
        ratio = number(none / s.total) if s.total > 0 else "∞"
        table.add_row(s.name, number(1e3 * s.total), number(1e3 * none), ratio, s.joints[worst], number(1e3 * s.rmse[worst]))
    return table


def ranking(ranked: Sequence[Ranked]) -> Table:
    """Model variants, the best held-out error first."""
    table = Table(title="models, ranked by their error on recordings they have not seen")
    for head in ("model", "what it says", "parameters", "fitted \\[mrad]", "held out \\[mrad]", "against best"):
        table.add_column(head, justify="left" if head in ("model", "what it says") else "right")
    for r in ranked:
        ratio = r.held_out / ranked[0].held_out if ranked[0].held_out > 0 else 1.0
        table.add_row(
            r.variant.name,
            r.variant.meaning,
            str(r.parameters),
            number(1e3 * r.fitted),
            number(1e3 * r.held_out),
            f"x {ratio:.3f}",
        )
    return table


def against_truth(fit: Fit, truth: JointDynamics) -> tuple[Table, int, int]:
    """Truth, estimate and interval of every parameter; how many intervals contain the truth, of how many."""
    table = Table(title="what was hidden, and what was found (95 % intervals)")
    table.add_column("parameter")
    table.add_column("unit")
    for head in ("truth", "estimate", "low", "high"):
        table.add_column(head, justify="right")
    table.add_column("")
    hit = total = 0
    for name in fit.parameters:
        for i, value in enumerate(getattr(truth, name)):
            estimate, low, high = (float(getattr(d, name)[i]) for d in (fit.dynamics, fit.low, fit.high))
            inside = low <= value <= high
            hit, total = hit + inside, total + 1
            label = f"{fit.joints[i]} {name}" if PARAMETERS[name].size == "joint" else name
            mark = Text("inside", style="green") if inside else Text("outside", style="yellow")
            table.add_row(label, PARAMETERS[name].unit, number(float(value)), number(estimate), number(low), number(high), mark)
    return table, hit, total


def progress(console: Console) -> Progress:
    """A bar for long work, gone when it is done."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=console, transient=True)
