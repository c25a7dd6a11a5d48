"""Plain CSV logs: one header line, one row per sample, columns found by a map or by conventional names.

A map says where each channel stands: `{"time": "t", "target": "des_{joint}", "position": ["enc_hip", "enc_knee"]}`; a
pattern with `{joint}`, a list in joint order, or `{joint: column}`; one name serves all joints (a common flag).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import SurefootError, unknown
from surefoot.record.recording import CHANNELS, FLAGS

TIMES = ("time", "t", "timestamp", "time_s", "t_s", "stamp", "time [s]")
WORDS = {
    "target": "target des desired cmd command ref setpoint goal q_des q_cmd q_ref q_target pos_des pos_cmd des_pos "
    "target_position position_target target_pos desired_position goal_position des_dof_pos",
    "position": "position q pos measured meas actual q_meas q_act dof_pos joint_pos joint_position measured_position",
    "target_velocity": "target_velocity velocity_target qd_des dq_des vel_des des_vel qd_target dq_target des_dof_vel",
    "feedforward": "feedforward feedforward_torque tau_ff torque_ff",
    "velocity": "velocity qd dq vel dof_vel joint_vel joint_velocity measured_velocity",
    "torque": "torque tau effort measured_torque tau_meas joint_torque",
    "enabled": "enabled enable torque_enable",
    "valid": "valid",
}
CHANNEL_OF = {word: channel for channel, words in WORDS.items() for word in words.split()}
FALSE_TRUE = {"false": 0.0, "true": 1.0}


def read_csv(path: Path, *, columns: Mapping[str, Any] | None, joints: Sequence[str] | None) -> dict[str, Any]:
    """The fields of `Recording` in the file, and in its notes which column became what."""
    header, rows, lines = _table(path)
    if columns is None:
        time, joints, found = _guess(path, header, joints)
    else:
        time, joints, found = _mapped(path, header, columns, joints)
    where = {name: k for k, name in enumerate(header)}

    def read(name: str) -> np.ndarray:
        return _column(path, rows, lines, where[name], name)

    fields: dict[str, Any] = {"joints": tuple(joints), "time": read(time)}
    fields |= {channel: np.stack([read(name) for name in names], axis=1) for channel, names in found.items()}
    used = {time, *(name for names in found.values() for name in names)}
    fields["notes"] = {"columns": "; ".join([f"time = {time}", *(f"{c} = {', '.join(n)}" for c, n in found.items())])}
    if unused := [name for name in header if name not in used]:
        fields["notes"]["unused"] = ", ".join(unused)
    return fields


def _table(path: Path) -> tuple[list[str], list[list[str]], list[int]]:
    """Header, rows of text, and the line number of each row."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SurefootError(f"{path.name} is not text in UTF-8 (byte {error.start}); save it as a UTF-8 CSV.") from error
    if "\0" in text:
        raise SurefootError(f"{path.name} contains null bytes: it is no CSV, or was cut short while written.")
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(",;\t", key=first.count)
    try:
        reader = csv.reader(text.splitlines(), delimiter=delimiter)
        table = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise SurefootError(f"{path.name} is not a CSV ({error}).") from error
    if not table:
        raise SurefootError(f"{path.name} is empty; expected a header line and one row per sample.")
    header = [name.strip() for name in table[0][1]]
    header[0] = header[0].lstrip("# ")
    if all(_is_number(name) for name in header if name):
        raise SurefootError(f"{path.name} has no header: its first line is numbers. Add a line with the column names.")
    if twice := sorted({name for name in header if name and header.count(name) > 1}):
        raise SurefootError(f"{path.name} has two columns named {', '.join(map(repr, twice))}; rename one.")
    body = [(line, row) for line, row in table[1:] if not row[0].lstrip().startswith("#")]
    for line, row in body:
        if len(row) != len(header):
            cut = " The file was probably cut short: remove this line." if line == body[-1][0] else ""
            raise SurefootError(f"line {line} of {path.name} has {len(row)} cells; the header has {len(header)}.{cut}")
    return header, [row for _, row in body], [line for line, _ in body]


def _column(path: Path, rows: list[list[str]], lines: list[int], k: int, name: str) -> np.ndarray:
    """One column as numbers; an empty cell is NaN, which the Recording then names."""
    cells = [row[k].strip() for row in rows]
    try:
        return np.array(cells, dtype=np.float64)
    except ValueError:
        pass
    out = np.empty(len(cells))
    for i, cell in enumerate(cells):
        if cell == "" or cell.lower() in FALSE_TRUE:
            out[i] = FALSE_TRUE.get(cell.lower(), np.nan)
        elif _is_number(cell):
            out[i] = float(cell)
        else:
            comma = " Use a decimal point." if re.fullmatch(r"-?\d+,\d+", cell) else ""
            raise SurefootError(f"line {lines[i]} of {path.name}, column {name}: {cell!r} is not a number.{comma}")
    return out


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _guess(path: Path, header: list[str], joints: Sequence[str] | None) -> tuple[str, Sequence[str], dict[str, list[str]]]:
    """Columns by conventional names: `target_KNEE`, `KNEE_target`, `q_des/KNEE`, `pos1`; the longest word decides."""
    time = next((name for name in header if name.lower() in TIMES), None)
    if time is None:
        raise SurefootError(_how(path, header, f"no column is named {', '.join(TIMES[:3])}"))
    by_channel: dict[str, dict[str, str]] = {}
    for name in header:
        if name != time and (hit := _parse(name)):
            by_channel.setdefault(hit[0], {})[hit[1]] = name
    found = [joint for joint in by_channel.get("position", {}) if joint in by_channel.get("target", {})]
    if not found:
        missing = [channel for channel in ("target", "position") if channel not in by_channel] or ["target", "position"]
        raise SurefootError(_how(path, header, f"no columns were recognised as {' and '.join(missing)}"))
    spelling = {joint: joint for joint in found}
    numbered = all(joint.isdigit() for joint in found)
    if joints is not None and numbered and len(joints) == len(found):
        spelling = dict(zip(joints, sorted(found, key=int), strict=True))
    elif joints is not None and (wrong := [joint for joint in found if joint not in joints]):
        raise unknown(f"joint of {path.name}", wrong, tuple(joints))
    one_sided = set(by_channel["target"]) ^ set(by_channel["position"])
    if one_sided:
        raise SurefootError(_how(path, header, f"{', '.join(sorted(one_sided))} has a target or a position, but not both"))
    names = tuple(spelling) if joints is None else tuple(joint for joint in joints if joint in spelling)
    complete = {c: m for c in (*CHANNELS, *FLAGS) if (m := by_channel.get(c)) and set(found) <= set(m)}
    return time, names, {c: [m[spelling[joint]] for joint in names] for c, m in complete.items()}


def _parse(name: str) -> tuple[str, str] | None:
    """(channel, joint) of a column name, if it starts or ends with a word from the list."""
    for word in sorted(CHANNEL_OF, key=len, reverse=True):
        for pattern in (rf"{word}[_/. \[(]+(?P<joint>.+)", rf"(?P<joint>.+?)[_/. ]+{word}", rf"{word}(?P<joint>\d+)"):
            if match := re.fullmatch(pattern, name, flags=re.IGNORECASE):
                return CHANNEL_OF[word], match["joint"].strip("[]() ")
    return None


def _mapped(
    path: Path, header: list[str], columns: Mapping[str, Any], joints: Sequence[str] | None
) -> tuple[str, Sequence[str], dict[str, list[str]]]:
    """Columns as the caller says; joint names come from the caller or from the first `{joint}` pattern."""
    valid = ("time", *CHANNELS, *FLAGS)
    if wrong := [channel for channel in columns if channel not in valid]:
        raise unknown("channel in columns", wrong, valid)
    if missing := [channel for channel in ("time", "target", "position") if channel not in columns]:
        raise SurefootError(f"columns says nothing about {', '.join(missing)}; a recording needs time, target, position.")
    if joints is None:
        joints = _joints_in(path, header, columns)
    found: dict[str, list[str]] = {}
    for channel in (channel for channel in columns if channel != "time"):
        spec = columns[channel]
        if isinstance(spec, str):
            names = [spec.replace("{joint}", joint) for joint in joints]
        elif isinstance(spec, Mapping):
            names = [str(spec.get(joint, f"(nothing for {joint})")) for joint in joints]
        else:
            names = [str(name) for name in spec]
        if len(names) != len(joints):
            raise SurefootError(
                f"columns['{channel}'] lists {len(names)} columns for {len(joints)} joints ({', '.join(joints)})."
            )
        found[channel] = names
    time = str(columns["time"])
    if wrong := [name for name in (time, *(n for names in found.values() for n in names)) if name not in header]:
        raise unknown(f"column of {path.name}", wrong, tuple(header))
    return time, joints, found


def _joints_in(path: Path, header: list[str], columns: Mapping[str, Any]) -> Sequence[str]:
    for channel in ("position", "target"):
        spec = columns[channel]
        if isinstance(spec, Mapping):
            return tuple(spec)
        if isinstance(spec, str) and "{joint}" in spec:
            before, after = map(re.escape, spec.split("{joint}", 1))
            hits = [m[1] for name in header if (m := re.fullmatch(f"{before}(.+){after}", name))]
            if hits:
                return hits
    raise SurefootError(_how(path, header, "the joint names are not known: pass --joints (joints=[...]) in the columns' order"))


def _how(path: Path, header: list[str], problem: str) -> str:
    return (
        f"{path.name}: {problem}. It has the columns {', '.join(header)}. Say where they are: "
        "--columns FILE.toml with the lines time = 't', target = 'q_des_{joint}', position = 'q_{joint}' (in Python the same as "
        "columns={...})."
    )
