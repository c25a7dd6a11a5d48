"""Two topics of a log, what was measured and what was commanded, to the fields of a Recording."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot.errors import SurefootError, unknown
from surefoot.record.formats.align import align
from surefoot.record.formats.messages import Row, rows_of, series_of
from surefoot.record.formats.request import Request

MAP = ("measurement", "command", "joints", "stamp", "align", "channels", "rate")
"""What a map of topics may say."""
MEASURED = ("sensor_msgs/msg/JointState",)
COMMANDS = ("trajectory_msgs/msg/JointTrajectory", "std_msgs/msg/Float64MultiArray", "std_msgs/msg/Float32MultiArray")
BOTH = ("control_msgs/msg/JointTrajectoryControllerState",)
FALLBACK = ("control_msgs/msg/DynamicJointState",)
SPOKEN = ("command", "cmd", "target", "desired", "reference", "setpoint", "goal", "action")
"""Words in a topic's name that make a JointState a command."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Log:
    """A file of time-stamped messages under topics."""

    path: Path
    types: Mapping[str, str]  # {topic: type of its messages}
    counts: Mapping[str, int]  # {topic: number of its messages}
    messages: Callable[[Collection[str]], Iterator[tuple[str, int, Any]]]  # (topic, received [ns], message)

    @property
    def listing(self) -> str:
        """The topics, their types and numbers of messages."""
        return ", ".join(f"{topic} ({kind}, {self.counts[topic]})" for topic, kind in self.types.items()) or "(none)"


def fields_of_log(log: Log, request: Request) -> dict[str, Any]:
    """The fields of `Recording`, with what was taken from where in its notes."""
    request.allow(MAP)
    _valid(request)
    measurement, command = _topics(log, request.map)
    rows: dict[str, list[Row]] = {"measurement": [], "command": []}
    for topic, received, message in log.messages({measurement, command}):
        for role, wanted in (("measurement", measurement), ("command", command)):
            if topic == wanted:
                rows[role] += rows_of(message, role, received, f"{log.path.name}: message {len(rows[role])} on {topic}")
    for role, topic in (("measurement", measurement), ("command", command)):
        if not rows[role]:
            raise SurefootError(f"{log.path.name}: no message on {topic} holds joint positions. Its topics are {log.listing}.")
    stamps = request.map.get("stamp", "header")
    series = {
        role: series_of(rows[role], f"{log.path.name}: {topic}", request, header=stamps == "header")
        for role, topic in (("measurement", measurement), ("command", command))
    }
    fields = align(series["measurement"], series["command"], log.path, request)
    kinds = {role: f"{topic} ({log.types[topic]}): " for role, topic in (("measurement", measurement), ("command", command))}
    fields["notes"] = {role: kind + fields["notes"][role] for role, kind in kinds.items()} | {
        key: text for key, text in fields["notes"].items() if key not in kinds
    }
    return fields


def _valid(request: Request) -> None:
    """Words of the map that are one of a few."""
    for key, valid in (("stamp", ("header", "log")), ("align", ("linear", "hold"))):
        if (word := request.map.get(key, valid[0])) not in valid:
            raise unknown(f"{key} in columns", [str(word)], valid)


def _topics(log: Log, given: Mapping[str, Any]) -> tuple[str, str]:
    """(measurement, command): as the user says, else the only candidates."""
    if wrong := [str(given[role]) for role in ("measurement", "command") if role in given and given[role] not in log.types]:
        raise SurefootError(f"{log.path.name} has no topic {', '.join(wrong)}. Its topics are {log.listing}.")
    spoken = [t for t, kind in log.types.items() if kind in MEASURED and any(word in t.lower() for word in SPOKEN)]
    candidates = {
        "measurement": [[t for t, k in log.types.items() if k in MEASURED and t not in spoken], *_by_type(log, BOTH, FALLBACK)],
        "command": [spoken + [t for t, k in log.types.items() if k in COMMANDS], *_by_type(log, BOTH)],
    }
    chosen: dict[str, str] = {}
    for role, ranks in candidates.items():
        if role in given:
            chosen[role] = str(given[role])
            continue
        found = next((rank for rank in ranks if rank), [])
        if len(found) != 1:
            problem = (
                f"{len(found)} topics could be the {role} ({', '.join(found)})" if found else f"no topic looks like the {role}"
            )
            raise SurefootError(
                f"{log.path.name}: {problem}. Its topics are {log.listing}. Say which: --topic measurement=/NAME command=/NAME."
            )
        chosen[role] = found[0]
    if chosen["measurement"] == chosen["command"] and log.types[chosen["command"]] not in BOTH:
        raise SurefootError(
            f"{log.path.name}: {chosen['command']} cannot be measurement and command at once. Its topics are {log.listing}."
        )
    return chosen["measurement"], chosen["command"]


def _by_type(log: Log, *kinds: Collection[str]) -> list[list[str]]:
    return [[topic for topic, kind in log.types.items() if kind in group] for group in kinds]
