"""A measured and a commanded series, each with its own stamps, to one: the command as it stood at each measurement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import SurefootError, unknown
from surefoot.record.formats.request import Request
from surefoot.record.recording import CHANNELS
from surefoot.record.validation import SHORTEST, Array

SAME = 1_000  # [ns]; stamps that are closer are one
MEASURED = {"position": "position", "velocity": "velocity", "effort": "torque"}
COMMANDED = {"position": "target", "velocity": "target_velocity", "effort": "feedforward"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Series:
    """Numbers of joints over time, as one topic told them."""

    joints: tuple[str, ...] | None  # None: the messages carry no names
    stamp: NDArray[np.int64]  # [ns], shape (T,), in the order of receipt
    values: Mapping[str, Array]  # position, velocity, effort: shape (T, n)
    clock: str  # where the stamps come from

    @property
    def n(self) -> int:
        """Number of joints."""
        return next(iter(self.values.values())).shape[1]


def align(measured: Series, commanded: Series, path: Path, request: Request) -> dict[str, Any]:
    """The fields of `Recording` at the measurement's stamps; counts of what was lost or left out in its notes.

    Between two commands the command is interpolated ("linear"), or the older one is held ("hold"). Measurements before
    the first command, or more than two periods after the last, are left out: what was commanded then is not in the log.
    """
    for role, series in (("measurement", measured), ("command", commanded)):
        if "position" not in series.values:
            raise SurefootError(f"{path.name}: the {role} holds no positions in every message; choose another --topic.")
    notes = {"measurement": _told(measured), "command": _told(commanded)}
    joints, there, asked = _common(measured, commanded, path, request, notes)
    m, c = _sorted(measured), _sorted(commanded)
    unique = np.append(np.diff(c.stamp) > 0, True)  # of commands with one stamp, the last one counts
    stamp, hold = c.stamp[unique], request.map.get("align", "linear") == "hold"
    period = int(np.median(np.diff(stamp))) if len(stamp) > 1 else 0
    keep = (m.stamp >= stamp[0] - SAME) & (m.stamp <= stamp[-1] + 2 * period)
    if np.count_nonzero(keep) < SHORTEST:
        raise SurefootError(
            f"{path.name}: only {np.count_nonzero(keep)} measurements have a command: it runs from {_span(c)}, the measurement "
            f'from {_span(m)}. If their clocks differ, take the times of receipt: stamp = "log" in --columns FILE.toml.'
        )
    t = m.stamp[keep]
    near = stamp[np.clip(np.searchsorted(stamp, t - SAME), 0, len(stamp) - 1)]
    snapped = np.where(np.abs(near - t) <= SAME, near, t)
    exact = float(np.mean(snapped == near))
    fields: dict[str, Any] = {"joints": joints, "time": (t - t[0]) / 1e9}
    for part, values in m.values.items():
        fields[MEASURED[part]] = values[keep][:, there]
    for part, values in c.values.items():
        fields[COMMANDED[part]] = _at(stamp, values[unique][:, asked], snapped, hold)
    for channel in _unwanted(request, fields):
        del fields[channel]
    between = "held from the one before" if hold else "interpolated between two"
    notes["alignment"] = "every measurement has a command of its own stamp" if exact == 1.0 else (
        f"{100 * exact:.1f} % of the measurements have a command of their own stamp, the others one {between}"
    )  # fmt: skip
    if left := len(keep) - len(t):
        notes["left out"] = f"{left} of {len(keep)} measurements, before the first or after the last command"
    return fields | {"command_hold": hold, "notes": notes}


def lost(stamp: NDArray[np.int64]) -> tuple[int, int, float]:
    """(samples missing, gaps, longest gap [s]) of a series that should be even; shape (T,), increasing."""
    step = np.diff(stamp)
    step = step[step > 0]
    if not step.size:
        return 0, 0, 0.0
    usual = float(np.median(step))
    gaps = step[step > 1.5 * usual]
    return int(np.sum(np.round(gaps / usual) - 1)), len(gaps), float(gaps.max(initial=0)) / 1e9


def _span(series: Series) -> str:
    return f"{series.stamp[0] / 1e9:.3f} s to {series.stamp[-1] / 1e9:.3f} s ({series.clock})"


def _told(series: Series) -> str:
    """How many messages, how fast, how many lost, in a line."""
    order = np.sort(series.stamp, kind="stable")
    missing, gaps, longest = lost(order)
    steps = np.diff(order)
    rate = f" at {1e9 / np.median(steps):.4g} Hz" if len(steps) and np.median(steps) > 0 else ""
    late = int(np.count_nonzero(np.diff(series.stamp) < 0))
    words = [f"{len(series.stamp)} samples{rate}", series.clock]
    words.append(f"{missing} lost in {gaps} gaps, the longest {1e3 * longest:.3g} ms" if missing else "none lost")
    words += [f"{late} out of order, sorted"] if late else []
    return "; ".join(words)


def _sorted(series: Series) -> Series:
    order = np.argsort(series.stamp, kind="stable")
    values = {part: table[order] for part, table in series.values.items()}
    return Series(joints=series.joints, stamp=series.stamp[order], values=values, clock=series.clock)


def _common(
    measured: Series, commanded: Series, path: Path, request: Request, notes: dict[str, str]
) -> tuple[tuple[str, ...], list[int], list[int]]:
    """The joints that both series speak of, in the measurement's order, and their columns in each."""
    there = measured.joints or _named(measured, "measurement", None, path, request, notes)
    asked = commanded.joints or _named(commanded, "command", there, path, request, notes)
    joints = tuple(joint for joint in there if joint in asked)
    if not joints:
        raise SurefootError(
            f"{path.name}: measurement and command share no joint: {', '.join(there)} and {', '.join(asked)}. Choose another "
            "--topic."
        )
    if alone := [joint for joint in (*there, *asked) if joint not in joints]:
        notes["not used"] = f"{', '.join(dict.fromkeys(alone))}: measured or commanded, but not both"
    return joints, [there.index(joint) for joint in joints], [asked.index(joint) for joint in joints]


def _named(
    series: Series, role: str, other: tuple[str, ...] | None, path: Path, request: Request, notes: dict[str, str]
) -> tuple[str, ...]:
    """Names for messages without any: the user's, the robot's, the other topic's; shown unless the user said them."""
    told = request.joints or request.map_joints
    names = told or next((names for names in (request.known, other) if names is not None and len(names) == series.n), None)
    if names is None or len(names) != series.n:
        what = f"{len(names)} names were given" if names is not None else "neither the robot nor the other topic has as many"
        raise SurefootError(
            f"{path.name}: the {role} holds {series.n} values without names, and {what}. Pass --joints NAME ... in its order, or "
            "--order NAME with a robot."
        )
    if told is None:
        notes["joint order"] = ", ".join(names)
    return names


def _at(stamp: NDArray[np.int64], values: Array, t: NDArray[np.int64], hold: bool) -> Array:
    """Commands at the times t, shape (len(t), n)."""
    if hold:
        return values[np.clip(np.searchsorted(stamp, t, side="right") - 1, 0, len(stamp) - 1)]
    x, xp = (t - stamp[0]).astype(float), (stamp - stamp[0]).astype(float)
    return np.stack([np.interp(x, xp, column) for column in values.T], axis=1)


def _unwanted(request: Request, fields: Mapping[str, Any]) -> list[str]:
    """Channels that the map's list of channels leaves out."""
    listed = request.map.get("channels")
    if listed is None:
        return []
    if wrong := [str(channel) for channel in listed if channel not in CHANNELS]:
        raise unknown("channel in columns", wrong, CHANNELS)
    return [channel for channel in CHANNELS if channel in fields and channel not in (*listed, "position", "target")]
