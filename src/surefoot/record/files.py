"""Any file to a Recording: find its reader, then complete what the file lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import SurefootError, unknown
from surefoot.record.formats.registry import find_format
from surefoot.record.formats.request import Request
from surefoot.record.gains import find_gain
from surefoot.record.recording import CHANNELS, FLAGS, Gains, Recording
from surefoot.robot.orders import orders

if TYPE_CHECKING:
    from surefoot.robot.spec import Robot

RATE_TOLERANCE = 0.02


def load(
    path: Path,
    *,
    joints: Sequence[str] | None,
    stiffness: Gains | None,
    damping: Gains | None,
    columns: Mapping[str, Any] | None,
    robot: Robot | None,
    drop_repeated: bool,
    rename: Mapping[str, str],
) -> Recording:
    """Read the fields a file holds, add joints and gains from the arguments or the robot, and validate."""
    if isinstance(joints, str):
        raise SurefootError(f"joints is the text {joints!r}; expected a list of joint names.")
    columns = dict(columns or {})
    order = columns.pop("order", None)
    if order is not None and joints is not None:
        raise SurefootError("both --order and --joints name the columns of the file; leave out one.")
    listed = joints if order is None else _order(order, robot)
    fields = _read(path, _in_file(listed, rename), columns, _in_file(robot.joints if robot else None, rename))
    _rename(path, fields, rename)
    stored = fields.get("joints")
    if stored is None:
        fields["joints"] = _joints_for(path, fields, listed, robot)
        if listed is None:
            fields["notes"] = {**fields.get("notes", {}), "joint order": ", ".join(fields["joints"])}
    names = fields["joints"]
    given_gains = (("stiffness", stiffness), ("damping", damping))
    if lacking := [gain for gain, given in given_gains if given is None and fields.get(gain) is None]:
        fields["notes"] = {**fields.get("notes", {}), "default gains": " ".join(lacking)}
    for gain, given in given_gains:
        order = joints if stored is not None and joints is not None and isinstance(given, Sequence | np.ndarray) else names
        fields[gain] = _in_order(find_gain(gain, given, fields.get(gain), order, robot), order, names)
    if missing := [key for key in ("time", "target", "position") if key not in fields]:
        raise SurefootError(f"{path.name} holds no {' and no '.join(missing)}; a recording needs time, target and position.")
    if drop_repeated:
        _drop_repeated(fields)
    fields["name"] = fields.get("name") or path.stem
    recording = Recording(**fields)
    _check_rate(recording, columns.get("rate"))
    if joints is not None and stored is not None:
        return recording.ordered_for(joints)
    return recording


def _in_file(joints: Sequence[str] | None, rename: Mapping[str, str]) -> tuple[str, ...] | None:
    """The names that the file uses for these joints."""
    old = {new: name for name, new in rename.items()}
    return None if joints is None else tuple(old.get(joint, joint) for joint in joints)


def _rename(path: Path, fields: dict[str, Any], rename: Mapping[str, str]) -> None:
    """Give the joints of the file their new names, in place."""
    names = tuple(fields.get("joints", ()))
    if wrong := [old for old in rename if old not in names]:
        if not names:
            raise SurefootError(f"{path.name} names no joints, so none can be renamed; pass --joints (joints=[...]) instead.")
        raise unknown(f"joint of {path.name}", wrong, names)
    for key in ("joints", "prescribed"):
        if key in fields:
            fields[key] = tuple(rename.get(joint, joint) for joint in fields[key])


def _read(
    path: Path, joints: tuple[str, ...] | None, columns: Mapping[str, Any] | None, known: tuple[str, ...] | None
) -> dict[str, Any]:
    kind = find_format(path)
    try:
        return kind.read(Request(path=path, map=dict(columns or {}), joints=joints, known=known))
    except OSError as error:
        raise SurefootError(f"cannot read {path}: {error.strerror or error}.") from error


def _order(name: Any, robot: Robot | None) -> tuple[str, ...]:
    """The joints of the robot in one of their usual orders."""
    if robot is None:
        raise SurefootError(f"--order {name} needs to know the robot: pass it too (robot=..., --robot NAME).")
    known = orders(robot)
    if name not in known:
        raise unknown(f"order of the joints of {robot.name}", [str(name)], tuple(known))
    return known[name]


def _check_rate(recording: Recording, rate: Any) -> None:
    """The rate that the user expects is the rate that the stamps have."""
    if rate is not None and abs(recording.rate / float(rate) - 1) > RATE_TOLERANCE:
        raise SurefootError(
            f"{recording.name} was logged at {recording.rate:.4g} Hz, and --rate says {float(rate):g} Hz. No resampling is "
            "needed: a fit compares at the log's own stamps, whatever the physics step. Leave out --rate to take the log as it "
            f"is; if its stamps are wrong, correct them with --time-scale {recording.rate / float(rate):.4g}."
        )


def _joints_for(path: Path, fields: dict[str, Any], joints: Sequence[str] | None, robot: Robot | None) -> tuple[str, ...]:
    """Names for a file that has none: the caller's, else the robot's; their number must be the file's."""
    names = tuple(joints) if joints is not None else robot.joints if robot is not None else None
    shape = np.shape(fields.get("position", ()))
    count = shape[1] if len(shape) == 2 else 1
    if names is None:
        raise SurefootError(
            f"{path.name} holds {count} joints without names. Pass them in the file's order, --joints NAME ... "
            "(joints=[...]), or a robot with this order."
        )
    if len(names) != count:
        source = "joints=[...]" if joints is not None else f"robot {robot.name if robot else ''}"
        raise SurefootError(
            f"{path.name} holds {count} joints without names, but {source} has {len(names)} ({', '.join(names)}). Pass "
            "--joints NAME ... (joints=[...]), one name per column of the file, in the file's order."
        )
    return names


def _in_order(values: np.ndarray, have: Sequence[str], want: Sequence[str]) -> np.ndarray:
    if tuple(have) == tuple(want) or sorted(have) != sorted(want):
        return values
    return values[[list(have).index(joint) for joint in want]]


def _drop_repeated(fields: dict[str, Any]) -> None:
    """Remove samples that carry the stamp of the sample before them, in place."""
    time = np.asarray(fields["time"])
    if time.ndim != 1 or len(time) < 2:
        return
    keep = np.concatenate([[True], np.diff(time) != 0])
    for key in ("time", *CHANNELS, *FLAGS):
        if fields.get(key) is not None and len(fields[key]) == len(keep):
            fields[key] = np.asarray(fields[key])[keep]
