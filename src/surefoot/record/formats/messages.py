"""Messages about joints, of ROS 2 or of the same fields in JSON, to series of numbers.

Known by their fields: JointState (`name`, `position`), JointTrajectory (`joint_names`, `points`), a controller's state
(`joint_names`, `reference` or `desired`, `feedback` or `actual`), DynamicJointState (`joint_names`, `interface_values`)
and a bare array (`data`), which carries no names and no stamp.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.record.formats.align import Series
from surefoot.record.formats.request import Request

PARTS = ("position", "velocity", "effort")


@dataclass(frozen=True, slots=True)
class Row:
    """What one message says of its joints at one time."""

    received: int  # when the recorder got it [ns]
    stamped: int  # when it was true, by its sender [ns]; 0: not said
    after: int  # how long after its stamp it holds [ns]: a point of a trajectory
    joints: tuple[str, ...] | None
    values: tuple[Sequence[float], ...]  # position, velocity, effort; an empty one is not said


def rows_of(message: Any, role: str, received: int, label: str) -> list[Row]:
    """The rows in a message, for the role "measurement" or "command"."""
    try:
        stamped = _nanoseconds(message.header.stamp) if hasattr(message, "header") else 0
        parts = _parts(message, role)
        return [Row(received, stamped, after, joints, _checked(joints, values, label)) for after, joints, values in parts]
    except (AttributeError, TypeError, ValueError) as error:
        if isinstance(error, SurefootError):
            raise
        raise SurefootError(
            f"{label} holds no joint positions ({error}). Read are JointState, JointTrajectory, Float64MultiArray, "
            "JointTrajectoryControllerState, DynamicJointState, and JSON objects with their fields."
        ) from None


def _parts(message: Any, role: str) -> list[tuple[int, tuple[str, ...] | None, tuple[Any, ...]]]:
    """(nanoseconds after the stamp, joints, (position, velocity, effort))."""
    if hasattr(message, "name") and hasattr(message, "position"):
        return [(0, tuple(message.name), (message.position, getattr(message, "velocity", ()), getattr(message, "effort", ())))]
    if hasattr(message, "points"):
        joints = tuple(message.joint_names)
        return [(_nanoseconds(point.time_from_start), joints, _point(point)) for point in message.points]
    if hasattr(message, "interface_values"):
        tables = [dict(zip(item.interface_names, item.values, strict=True)) for item in message.interface_values]
        parts = tuple([t[part] for t in tables] if all(part in t for t in tables) else () for part in PARTS)
        return [(0, tuple(message.joint_names), parts)]
    if hasattr(message, "joint_names"):
        names = ("reference", "desired") if role == "command" else ("feedback", "actual")
        point = next(p for name in names if (p := getattr(message, name, None)) is not None and len(p.positions))
        return [(0, tuple(message.joint_names), _point(point))]
    return [(0, None, (message.data, (), ()))]


def _point(point: Any) -> tuple[Any, ...]:
    return point.positions, getattr(point, "velocities", ()), getattr(point, "effort", ())


def _nanoseconds(stamp: Any) -> int:
    return int(stamp.sec) * 10**9 + int(stamp.nanosec if hasattr(stamp, "nanosec") else stamp.nsec)


def _checked(joints: tuple[str, ...] | None, values: tuple[Any, ...], label: str) -> tuple[Sequence[float], ...]:
    n = len(values[0]) if joints is None else len(joints)
    if not n or len(values[0]) != n:
        raise SurefootError(f"{label} has {len(values[0])} positions for {n} joints.")
    return tuple(part if len(part) == n else () for part in values)


def series_of(rows: list[Row], label: str, request: Request, *, header: bool) -> Series:
    """One series with the same joints throughout, stamped by the sender where it says (and `header` asks for it)."""
    kinds = Counter(None if row.joints is None else frozenset(row.joints) for row in rows)
    if len(kinds) > 1:
        rows = _one_kind(rows, kinds, label, request)
    first = rows[0].joints
    if first is None and len({len(row.values[0]) for row in rows}) > 1:
        raise SurefootError(f"{label}: its messages differ in their number of values; expected one per joint in each.")
    by_header = header and all(row.stamped > 0 for row in rows)
    starts = np.array([row.stamped if by_header else row.received for row in rows], np.int64)
    after = np.array([row.after for row in rows], np.int64)
    clock = "the sender's stamps" if by_header else "times of receipt"
    if after.any() and (np.diff(starts) != 0).all():
        clock += f", {after.max() / 1e6:g} ms from start not counted in messages of one point"
        after[:] = 0
    stamp = starts + after
    values: dict[str, np.ndarray] = {}
    for k, part in enumerate(PARTS):
        if all(len(row.values[k]) for row in rows):
            table = np.array([_in_order(row, k, first) for row in rows], float)
            if not np.isnan(table).all():
                values[part] = table
    keep = _not_replaced(starts, stamp)
    return Series(
        joints=first, stamp=stamp[keep], values={part: table[keep] for part, table in values.items()},
        clock=clock,
    )  # fmt: skip


def _one_kind(rows: list[Row], kinds: Counter[Any], label: str, request: Request) -> list[Row]:
    """Several publishers on one topic: the messages with all of the joints that are wanted."""
    wanted = set(request.joints or request.known or ())
    fitting = [kind for kind in kinds if kind is not None and wanted and wanted <= kind]
    if len(fitting) == 1:
        return [row for row in rows if row.joints is not None and frozenset(row.joints) == fitting[0]]
    said = "; ".join(f"{count} of {', '.join(sorted(kind or ('(no names)',)))}" for kind, count in kinds.items())
    raise SurefootError(
        f"{label}: its messages are about different joints ({said}). Pass the joints of one publisher: --joints "
        "NAME ..., or a robot."
    )


def _in_order(row: Row, k: int, joints: tuple[str, ...] | None) -> Sequence[float]:
    if joints is None or row.joints is None or row.joints == joints:
        return row.values[k]
    return [row.values[k][row.joints.index(joint)] for joint in joints]


def _not_replaced(starts: np.ndarray, stamp: np.ndarray) -> np.ndarray:
    """A new trajectory replaces what an older one still had to say; shape (T,)."""
    if (starts == stamp).all():
        return np.ones(len(stamp), bool)
    never = np.iinfo(np.int64).max
    following = np.append(np.where(starts[1:] != starts[:-1], starts[1:], never), never)
    return stamp < np.minimum.accumulate(following[::-1])[::-1]
