"""Named columns to the fields of a Recording: by a map, or by conventional names that are shown.

A map says where each channel stands: `{"time": "t", "target": "des_{joint}", "position": ["enc_hip", "enc_knee"]}`; a
pattern with `{joint}`, a list in joint order, or `{joint: column}`; one name serves all joints: a column for all (a common
flag), or an array of shape (T, n), of which `name[3]` is one column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import SurefootError, unknown
from surefoot.record.formats.request import Request
from surefoot.record.formats.words import (
    ANGLES,
    ONCE_OF,
    SECONDS,
    TIMES,
    channel_and_joint,
    channel_of,
    last,
    split_unit,
    time_unit,
)
from surefoot.record.recording import CHANNELS, FLAGS

MAP = ("time", *CHANNELS, *FLAGS, "stiffness", "damping", "joints", "rate")
"""What a map of columns may say."""
Where = str | list[str]
"""One array of shape (T, n), or a column for each joint."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """What a file holds, before anybody said what it means."""

    path: Path
    widths: Mapping[str, int]  # numbers per sample of each column; 0: one, shape (T,); n: shape (T, n)
    read: Callable[[str], NDArray[Any]]  # a column's numbers, first axis the samples
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # names of the n numbers, where the file has them
    said: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # small arrays, said once: gains, joint names

    @classmethod
    def of_arrays(cls, path: Path, arrays: Mapping[str, NDArray[Any]], **more: Any) -> Table:
        """A table of arrays in memory; the samples are the axis along which the time runs (MATLAB's rows or columns)."""
        stamps = [
            array.size for name, array in arrays.items() if time_unit(last(name)) and array.size == max(array.shape, default=0)
        ]
        longest = stamps[0] if stamps else max((max(array.shape, default=0) for array in arrays.values()), default=0)
        series: dict[str, NDArray[Any]] = {}
        said: dict[str, NDArray[Any]] = {}
        for name, array in arrays.items():
            flat = array.reshape(-1) if array.ndim == 2 and 1 in array.shape else array
            value = flat.T if flat.ndim == 2 and len(flat) != longest else flat
            if value.ndim in (1, 2) and len(value) == longest and value.dtype.kind in "biufM":
                series[name] = value
            elif value.ndim < 2:
                said[name] = value
        widths = {name: array.shape[1] if array.ndim == 2 else 0 for name, array in series.items()}
        return cls(path=path, widths=widths, read=series.__getitem__, said=said, **more)


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Which column became what."""

    time: str | None  # None: evenly spaced at the rate that was given
    joints: tuple[str, ...] | None  # None: the file names none
    columns: dict[str, Where]


def fields_of(table: Table, request: Request) -> dict[str, Any]:
    """The fields of `Recording` in the table, and in its notes which column became what."""
    request.allow(MAP)
    mapped = any(channel in request.map for channel in (*CHANNELS, *FLAGS))
    choice = _mapped(table, request) if mapped else _guess(table, request)
    fields: dict[str, Any] = {} if choice.joints is None else {"joints": choice.joints}
    units: list[str] = []
    shown = [f"time = {choice.time or f'samples at {request.rate:g} Hz'}"]
    if choice.time is not None:
        fields["time"] = _seconds(table, choice.time, units)
    for channel, where in choice.columns.items():
        names = [where] if isinstance(where, str) else where
        values = [_column(table, name, units) for name in names]
        fields[channel] = values[0] if isinstance(where, str) else np.stack(values, axis=1)
        shown.append(f"{channel} = {', '.join(names)}")
    if choice.time is None and request.rate is not None:
        fields["time"] = np.arange(len(fields["position"])) / request.rate
    fields |= _said(table, request)
    used = {split_index(name)[0] for where in choice.columns.values() for name in ([where] if isinstance(where, str) else where)}
    notes = {"columns": "; ".join(shown)}
    if units:
        notes["units"] = "; ".join(dict.fromkeys(units))
    if unused := [name for name in table.widths if name not in used | {choice.time} and name not in _said_names(table, request)]:
        notes["unused"] = ", ".join(unused)
    return fields | {"notes": notes}


# --- reading what was chosen ------------------------------------------------------------------------------------------------
def split_index(name: str) -> tuple[str, int | None]:
    """`q[3]` as ("q", 3)."""
    match = re.fullmatch(r"(.+)\[(\d+)\]", name)
    return (match[1], int(match[2])) if match else (name, None)


def _column(table: Table, name: str, units: list[str]) -> NDArray[Any]:
    if name in table.widths:
        values = table.read(name)
    else:
        base, k = split_index(name)
        values = table.read(base)[:, k]
    if (factor := ANGLES.get(split_unit(name)[1])) is not None:
        units.append(f"{name}: degrees, by its name")
        return values * factor
    return values


def _seconds(table: Table, name: str, units: list[str]) -> NDArray[Any]:
    """The stamps; whole numbers of a small unit count from the first one, so that no digit is lost."""
    stamps, unit = table.read(name), time_unit(name) or "s"
    if stamps.dtype.kind == "M":
        stamps, unit = stamps.astype("datetime64[ns]").astype(np.int64), "ns"
    if unit == "s":
        return stamps
    units.append(f"{name}: {unit}, counted from the first stamp")
    whole = stamps - stamps[0] if len(stamps) else stamps
    return whole / round(1 / SECONDS[unit])


def _said(table: Table, request: Request) -> dict[str, Any]:
    """Gains and joint names that the file says once; a map names them, or conventional words do."""
    out: dict[str, Any] = {}
    for gain in ("stiffness", "damping"):
        if (name := request.map.get(gain)) is not None and name not in table.said:
            raise unknown(f"entry of {table.path.name} for {gain}", [str(name)], tuple(table.said) or ("(none)",))
    for name in _said_names(table, request):
        key = _said_names(table, request)[name]
        if key != "joints":
            out[key] = np.atleast_1d(np.asarray(table.said[name], float))
    return out


def _said_names(table: Table, request: Request) -> dict[str, str]:
    """{name in the file: joints, stiffness or damping}."""
    mapped = {str(request.map[gain]): gain for gain in ("stiffness", "damping") if gain in request.map}
    words = {name: key for name in table.said if (key := ONCE_OF.get(last(name).rsplit(".", 1)[-1].lower()))}
    return {name: key for name, key in (words | mapped).items() if key not in mapped.values() or name in mapped}


def _stored_joints(table: Table) -> tuple[str, ...] | None:
    for name, array in table.said.items():
        if ONCE_OF.get(last(name).rsplit(".", 1)[-1].lower()) == "joints" and array.dtype.kind in "US":
            return tuple(text.decode() if isinstance(text, bytes) else str(text) for text in np.atleast_1d(array).tolist())
    return None


# --- by conventional names --------------------------------------------------------------------------------------------------
def _guess(table: Table, request: Request) -> Choice:
    """Arrays of all joints called `q_des`, `position`; else columns `target_KNEE`, `KNEE_target`, `q_des/KNEE`, `pos1`."""
    names = list(table.widths)
    time = request.map.get("time") or next((name for name in names if time_unit(name) and not table.widths[name]), None)
    if time is not None and time not in names:
        raise unknown(f"column of {table.path.name}", [str(time)], tuple(names))
    if time is None and request.rate is None:
        raise SurefootError(how(table, f"no column is named {', '.join(TIMES[:3])}; --rate HZ if its samples are evenly spaced"))
    wide = {channel: name for name in reversed(names) if table.widths[name] and (channel := channel_of(name))}
    if wide.get("target") and wide.get("position"):
        return _wide(table, request, time, wide)
    single = [name for name in names if name != time and not table.widths[name]]
    return _by_joint(table, request, time, single)


def _wide(table: Table, request: Request, time: str | None, wide: dict[str, str]) -> Choice:
    n = table.widths[wide["position"]]
    columns: dict[str, Where] = {
        channel: wide[channel] for channel in (*CHANNELS, *FLAGS) if channel in wide and table.widths[wide[channel]] == n
    }
    parts = table.parts.get(wide["position"])
    stored = request.map_joints or _stored_joints(table) or (parts if parts == table.parts.get(wide["target"]) else None)
    return Choice(time=time, joints=stored, columns=columns)


def _by_joint(table: Table, request: Request, time: str | None, names: Sequence[str]) -> Choice:
    joints = request.joints or request.known
    by_channel: dict[str, dict[str, str]] = {}
    for name in names:
        if hit := channel_and_joint(name):
            by_channel.setdefault(hit[0], {})[last(hit[1])] = name
    found = [joint for joint in by_channel.get("position", {}) if joint in by_channel.get("target", {})]
    if not found:
        missing = [channel for channel in ("target", "position") if channel not in by_channel] or ["target", "position"]
        raise SurefootError(how(table, f"no columns were recognised as {' and '.join(missing)}"))
    spelling = {joint: joint for joint in found}
    numbered = all(joint.isdigit() for joint in found)
    if joints is not None and numbered and len(joints) == len(found):
        spelling = dict(zip(joints, sorted(found, key=int), strict=True))
    elif joints is not None and (wrong := [joint for joint in found if joint not in joints]):
        raise unknown(f"joint of {table.path.name}", wrong, tuple(joints))
    one_sided = set(by_channel["target"]) ^ set(by_channel["position"])
    if one_sided:
        raise SurefootError(how(table, f"{', '.join(sorted(one_sided))} has a target or a position, but not both"))
    order = tuple(spelling) if joints is None else tuple(joint for joint in joints if joint in spelling)
    complete = {c: m for c in (*CHANNELS, *FLAGS) if (m := by_channel.get(c)) and set(found) <= set(m)}
    return Choice(time=time, joints=order, columns={c: [m[spelling[joint]] for joint in order] for c, m in complete.items()})


# --- by a map ---------------------------------------------------------------------------------------------------------------
def _mapped(table: Table, request: Request) -> Choice:
    """Columns as the caller says; joint names come from the caller, the file, or the first `{joint}` pattern."""
    given = request.map
    if missing := [channel for channel in ("target", "position") if channel not in given]:
        raise SurefootError(f"columns says nothing about {', '.join(missing)}; a recording needs time, target, position.")
    if "time" not in given and request.rate is None:
        raise SurefootError("columns says nothing about time; name its column, or pass --rate HZ if samples are evenly spaced.")
    wide = {channel: str(given[channel]) for channel in ("position", "target") if table.widths.get(str(given[channel]))}
    joints = request.joints or request.map_joints or _stored_joints(table)
    if joints is None:
        joints = request.known if _needs_names(given) and request.known and not _pattern(given) else joints
        joints = joints or (None if wide else _joints_in(table, given))
    columns: dict[str, Where] = {}
    for channel in (channel for channel in (*CHANNELS, *FLAGS) if channel in given):
        spec = given[channel]
        if isinstance(spec, str) and table.widths.get(spec):
            columns[channel] = spec
            continue
        if joints is None:
            raise SurefootError(how(table, "the joint names are not known: pass --joints (joints=[...]) in the columns' order"))
        columns[channel] = _listed(channel, spec, joints)
    time = None if "time" not in given else str(given["time"])
    asked = [time] if time is not None else []
    asked += [name for where in columns.values() for name in ([where] if isinstance(where, str) else where)]
    if wrong := [name for name in asked if not _there(table, name)]:
        raise unknown(f"column of {table.path.name}", wrong, tuple(table.widths))
    return Choice(time=time, joints=None if joints is None else tuple(joints), columns=columns)


def _there(table: Table, name: str) -> bool:
    base, k = split_index(name)
    return name in table.widths or (k is not None and k < table.widths.get(base, 0))


def _needs_names(given: Mapping[str, Any]) -> bool:
    return any(isinstance(given.get(channel), list | tuple) for channel in CHANNELS)


def _pattern(given: Mapping[str, Any]) -> bool:
    return any(isinstance(given.get(c), Mapping) or "{joint}" in str(given.get(c)) for c in ("position", "target"))


def _listed(channel: str, spec: Any, joints: Sequence[str]) -> list[str]:
    """One column name for each joint."""
    if isinstance(spec, str):
        names = [spec.replace("{joint}", joint) for joint in joints]
    elif isinstance(spec, Mapping):
        names = [str(spec.get(joint, f"(nothing for {joint})")) for joint in joints]
    else:
        names = [str(name) for name in spec]
    if len(names) != len(joints):
        raise SurefootError(f"columns['{channel}'] lists {len(names)} columns for {len(joints)} joints ({', '.join(joints)}).")
    return names


def _joints_in(table: Table, columns: Mapping[str, Any]) -> Sequence[str]:
    for channel in ("position", "target"):
        spec = columns[channel]
        if isinstance(spec, Mapping):
            return tuple(spec)
        if isinstance(spec, str) and "{joint}" in spec:
            before, after = map(re.escape, spec.split("{joint}", 1))
            hits = [m[1] for name in table.widths if (m := re.fullmatch(f"{before}(.+){after}", name))]
            if hits:
                return hits
    raise SurefootError(how(table, "the joint names are not known: pass --joints (joints=[...]) in the columns' order"))


def how(table: Table, problem: str) -> str:
    """A problem with the columns, the columns there are, and how to say what they are."""
    there = ", ".join(f"{name} ({width} wide)" if width else name for name, width in table.widths.items()) or "(none)"
    return (
        f"{table.path.name}: {problem}. It has the columns {there}. Say where they are: "
        "--columns FILE.toml with the lines time = 't', target = 'q_des_{joint}', position = 'q_{joint}' (in Python the same as "
        "columns={...})."
    )
