"""The datagrams between a computer and a robot: what a UDP link says, byte by byte.

Every datagram is a header and float64 numbers, all little-endian:

    bytes   0-3   "SFLK"
    byte    4     version, 1
    byte    5     kind, see `Kind`
    bytes   6-7   n, number of joints
    bytes   8-11  sequence number: one count for commands, one for states, one for requests that are acknowledged
    bytes  12-19  time of the sender [s]

    HELLO    computer -> robot   nothing
    WELCOME  robot -> computer   JSON: {"joints": [...], "period": s, "torque": true, "more": {"current": 12, ...}}
    GAINS    computer -> robot   P [N·m/rad] (n), D [N·m·s/rad] (n); arms the drives
    COMMAND  computer -> robot   target [rad] (n), target velocity [rad/s] (n), feed-forward torque [N·m] (n)
    STATE    robot -> computer   position [rad] (n), velocity [rad/s] (n), torque [N·m] (n), then `more` in its order
    DAMP     computer -> robot   nothing
    ACK      robot -> computer   nothing; its sequence number is that of the GAINS or DAMP it answers
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from surefoot.record.validation import Array
from surefoot.robot.hardware import Command, State

HEADER = struct.Struct("<4sBBHId")
MAGIC, VERSION = b"SFLK", 1
LARGEST = 65507  # bytes of a UDP datagram


class Kind(IntEnum):
    """What a datagram is."""

    HELLO = 1
    WELCOME = 2
    GAINS = 3
    COMMAND = 4
    STATE = 5
    DAMP = 6
    ACK = 7


@dataclass(frozen=True, kw_only=True)
class Datagram:
    """A datagram taken apart."""

    kind: Kind
    joints: int
    sequence: int
    time: float
    body: bytes

    def numbers(self, *lengths: int) -> list[Array] | None:
        """The body as arrays of these lengths; None if it is not that long, or not finite."""
        if len(self.body) != 8 * sum(lengths):
            return None
        values = np.frombuffer(self.body, dtype="<f8").astype(float)
        return np.split(values, np.cumsum(lengths)[:-1]) if np.isfinite(values).all() else None


def pack(kind: Kind, joints: int, sequence: int, time: float, body: bytes = b"") -> bytes:
    """A datagram as bytes."""
    return HEADER.pack(MAGIC, VERSION, kind, joints, sequence & 0xFFFFFFFF, time) + body


def unpack(data: bytes) -> Datagram | None:
    """A datagram from bytes; None if it is none of ours."""
    if len(data) < HEADER.size:
        return None
    magic, version, kind, joints, sequence, time = HEADER.unpack_from(data)
    if magic != MAGIC or version != VERSION or kind not in Kind.__members__.values():
        return None
    return Datagram(kind=Kind(kind), joints=joints, sequence=sequence, time=time, body=data[HEADER.size :])


def body(*arrays: Array) -> bytes:
    """Numbers as the body of a datagram."""
    return np.concatenate([np.ravel(a) for a in arrays]).astype("<f8").tobytes()


def command_body(command: Command) -> bytes:
    """A command as the body of a COMMAND; what is None is zero."""
    zero = np.zeros_like(command.target)
    rest = [zero if x is None else x for x in (command.target_velocity, command.feedforward)]
    return body(command.target, *rest)


def state_body(state: State) -> bytes:
    """A state as the body of a STATE; a torque that is not measured is zero."""
    torque = np.zeros_like(state.position) if state.torque is None else state.torque
    return body(state.position, state.velocity, torque, *state.more.values())


def welcome_body(joints: tuple[str, ...], period: float, state: State) -> bytes:
    """What a robot says of itself."""
    more = {name: int(np.size(value)) for name, value in state.more.items()}
    about = {"joints": list(joints), "period": period, "torque": state.torque is not None, "more": more}
    return json.dumps(about).encode()


def read_welcome(datagram: Datagram) -> Mapping[str, Any] | None:
    """What a robot says of itself; None if it makes no sense."""
    try:
        about = json.loads(datagram.body)
        sound = len(about["joints"]) == datagram.joints and about["period"] > 0 and isinstance(about["torque"], bool)
        sound = sound and all(isinstance(size, int) and size > 0 for size in about["more"].values())
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return about if sound else None


def newer(sequence: int, than: int) -> bool:
    """Whether a sequence number comes after another, on a count that wraps at 2³²."""
    return 0 < (sequence - than) & 0xFFFFFFFF < 1 << 31
