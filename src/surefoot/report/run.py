"""One run as the content of a page: how it was told to walk and walked, how it stepped, and where the power went."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from surefoot.analyze.run import AXES, Account, account, steady_rows
from surefoot.analyze.walking import base_motion, density, limit_cycle, moving_mean, spectrum
from surefoot.errors import SurefootError
from surefoot.record.run import Phase, Run
from surefoot.report.page import exact, packed, plain
from surefoot.robot.energy import joule_constant, mechanical_power, regeneration
from surefoot.robot.spec import Robot

Array = np.ndarray
UNITS = ("m/s", "m/s", "rad/s")  # of AXES
ROWS = 6000  # of a line
DOTS = 1500  # of a phase portrait, per joint
VIOLIN = 80  # values at which a density is drawn
STRIDE = 0.25  # [s] over which velocities and powers are averaged for a line
HIGHEST = 50.0  # [Hz] of a spectrum
NEAR, SHARE = 0.1, 0.2  # of the commanded velocity that a green walk may be off [m/s], and in parts of it, whichever is more


def run_content(run: Run, robot: Robot) -> dict[str, Any]:
    """What the page of a run shows."""
    found = account(run, robot)
    steady = steady_rows(run)
    return {
        "kind": "run",
        "title": f"{run.robot}: run",
        "verdict": dict(zip(("colour", "text"), verdict(found), strict=True)),
        "account": found.to_dict(),
        "joints": list(run.joints),
        "time": exact(run.time[_thin(run)]),
        "phases": [{"name": phase.name.lower(), "start": plain(a), "end": plain(b)} for phase, a, b in _phases(run)],
        "velocity": _velocity(run, steady),
        "violins": _violins(run, steady),
        "gait": _contacts(run),
        "cycles": _cycles(run, steady),
        "spectra": _spectra(run, steady),
        "power": _power(run, robot, steady),
        "notes": {key: str(value) for key, value in run.notes.items() if value not in ("", None, {}, "{}")},
    }


def verdict(found: Account) -> tuple[str, str]:
    """The run in one colour and one sentence."""
    if found.fell or found.stop:
        why = f": {found.stop}" if found.stop else ""
        return "red", f"{'It fell' if found.fell else 'It stopped'} after {found.duration:.3g} s{why}."
    if found.velocity is None or found.commanded is None:
        return "yellow", f"{found.robot} never walked on one command for long enough to be judged."
    off = float(np.hypot(*np.subtract(found.velocity[:2], found.commanded[:2])))
    speed = float(np.hypot(*found.commanded[:2]))
    cost = f", at a cost of transport of {found.transport.total:.3g}" if found.transport else ""
    told = f"Over {found.steady:.3g} s of steady walk {found.robot} was {off:.2g} m/s off the commanded {speed:.2g} m/s{cost}."
    near = off <= max(NEAR, SHARE * speed)
    return ("green", f"It walked. {told}") if near else ("yellow", f"Not as told. {told}")


def _thin(run: Run) -> slice:
    return slice(None, None, max(1, len(run.time) // ROWS))


def _phases(run: Run) -> list[tuple[Phase, float, float]]:
    """What the robot was about, from when to when [s]."""
    edges = np.flatnonzero(np.diff(run["phase"])) + 1
    begin, end = np.append(0, edges), np.append(edges, len(run.time) - 1)
    return [(Phase(int(run["phase"][a])), float(run.time[a]), float(run.time[b])) for a, b in zip(begin, end, strict=True)]


# --- velocity ---------------------------------------------------------------------------------------------------------------
def _velocity(run: Run, steady: Array) -> list[dict[str, Any]]:
    """Of each axis: told, moved, moved over a stride, and what the robot's estimator said, if that is another thing."""
    moved, out = base_motion(run), []
    said = np.column_stack([run["linear_velocity"][:, :2], run["angular_velocity"][:, 2]]) if "linear_velocity" in run else None
    for k, (axis, unit) in enumerate(zip(AXES, UNITS, strict=True)):
        lines = {
            "commanded": run["command"][:, k],
            "measured": moved[:, k],
            "over a stride": moving_mean(run.time, moved[:, k], STRIDE),
        }
        if said is not None and "true_velocity" in run:
            lines["estimated"] = said[:, k]
        error = moved[steady, k] - run["command"][steady, k]
        out.append({
            "axis": axis, "unit": unit, "lines": {name: packed(row[_thin(run)]) for name, row in lines.items()},
            "mean": plain(error.mean()) if len(error) else None, "spread": plain(error.std()) if len(error) else None,
        })  # fmt: skip
    return out


def _violins(run: Run, steady: Array) -> list[dict[str, Any]]:
    """Of each axis and each command that was held: the density of the steady velocity."""
    moved, out = base_motion(run), []
    for k, (axis, unit) in enumerate(zip(AXES, UNITS, strict=True)):
        for told in np.unique(run["command"][steady, k]):
            samples = moved[steady & (run["command"][:, k] == told), k]
            samples = samples[:: max(1, len(samples) // 4000)]
            if len(samples) < 50:
                continue
            low, high = samples.min(), samples.max()
            at = np.linspace(low - 0.1 * (high - low) - 1e-3, high + 0.1 * (high - low) + 1e-3, VIOLIN)
            out.append({
                "axis": axis, "unit": unit, "command": plain(told), "at": plain(at), "density": plain(density(samples, at)),
                "mean": plain(samples.mean()), "low": plain(np.quantile(samples, 0.05)),
                "high": plain(np.quantile(samples, 0.95)),
            })  # fmt: skip
    return out


# --- gait -------------------------------------------------------------------------------------------------------------------
def _contacts(run: Run) -> dict[str, Any]:
    """When each foot was on the ground: pairs of from and to [s]."""
    name = "true_contact" if "true_contact" in run else "contact"
    if name not in run:
        return {"feet": [], "spells": []}
    spells = []
    for column in run[name].T:
        down = np.concatenate([[False], column > 0.5, [False]]).astype(int)
        turn = np.diff(down)
        ends = np.minimum(np.flatnonzero(turn < 0), len(run.time) - 1)
        spells.append(plain(np.stack([run.time[np.flatnonzero(turn > 0)], run.time[ends]], axis=1).reshape(-1)))
    return {"feet": list(run.feet), "spells": spells}


def _cycles(run: Run, steady: Array) -> list[dict[str, Any]]:
    """Of each joint: position and speed of the steady walk, and the mean stride where there is one."""
    rows = np.flatnonzero(steady)
    if len(rows) < 2:
        return []
    few, out = rows[:: max(1, len(rows) // DOTS)], []
    for j in range(len(run.joints)):
        cycle = limit_cycle(run.time[rows], run["position"][rows, j], run["velocity"][rows, j], phases=200)
        out.append({
            "q": packed(run["position"][few, j]), "v": packed(run["velocity"][few, j]),
            "period": plain(cycle.period) if cycle else None, "scatter": plain(cycle.scatter) if cycle else None,
            "mean": {"q": packed(cycle.position), "v": packed(cycle.velocity)} if cycle else None,
        })  # fmt: skip
    return out


def _spectra(run: Run, steady: Array) -> list[dict[str, Any]]:
    """Of each joint: amplitudes of target and position while the walk is steady [rad]."""
    rows, out = np.flatnonzero(steady), []
    if len(rows) < 50:
        return []
    for j in range(len(run.joints)):
        lines = {}
        for name in ("target", "position"):
            f, amplitude = spectrum(run.time[rows], run[name][rows, j])
            lines[name] = plain(amplitude[(f > 0) & (f <= HIGHEST)], 4)
        out.append({"f": plain(f[(f > 0) & (f <= HIGHEST)], 5), "lines": lines})
    return out


# --- power ------------------------------------------------------------------------------------------------------------------
def _power(run: Run, robot: Robot, steady: Array) -> dict[str, Any]:
    """Power over time by source [W], and each joint's share while the walk is steady; empty where nothing is known."""
    lines: dict[str, Array] = {"battery": run["battery_power"]} if "battery_power" in run else {}
    joints: dict[str, Array] = {}
    if "torque" in run:
        tau, v = run["torque"], run["velocity"]
        with contextlib.suppress(SurefootError):  # a motor that nobody knows
            heat = tau**2 * joule_constant(robot, run["position"])
            lines |= {"heat of the coils": heat.sum(axis=1), "mechanical": mechanical_power(robot, tau, v)}
            work, kept = tau * v, regeneration(robot)
            joints = {"heat of the coils": heat, "driving": np.maximum(work, 0.0), "braking": np.minimum(work, 0.0)}
            lines["braking that comes back"] = kept * np.minimum(work.sum(axis=1), 0.0)
    shown = {name: packed(moving_mean(run.time, np.nan_to_num(row), STRIDE)[_thin(run)]) for name, row in lines.items()}
    mean = {name: plain(rows[steady].mean(axis=0)) for name, rows in joints.items()} if steady.any() else {}
    whole = {name: plain(float(np.nanmean(row[steady]))) for name, row in lines.items()} if steady.any() else {}
    return {"lines": shown, "mean": whole, "joints": mean}
