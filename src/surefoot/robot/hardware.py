"""The border to a machine that moves: what is read from it, what is written to it, and how it is brought to rest.

A user's own robot is a class with these few methods; the virtual robots and the UDP link are two of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from surefoot.errors import SurefootError
from surefoot.robot.dynamics import Array


class LinkLost(SurefootError):
    """Nothing has come from the machine for longer than it may be silent."""


@dataclass(frozen=True, kw_only=True)
class State:
    """What a machine says of itself at one instant; arrays have one entry per joint, in the machine's order."""

    time: float  # of the measurement, by the machine's clock [s]
    position: Array  # encoders [rad], shape (n,)
    velocity: Array  # as the drives see it [rad/s], shape (n,)
    torque: Array | None = None  # as the drives report it, at the joint [N·m], shape (n,)
    more: Mapping[str, Array] = field(default_factory=dict)  # what else it measures: current [A], bus_voltage [V], imu, ...


@dataclass(frozen=True, kw_only=True)
class Command:
    """What a machine's drives are asked for until the next command."""

    target: Array  # û [rad], shape (n,)
    target_velocity: Array | None = None  # [rad/s], shape (n,); None: zero
    feedforward: Array | None = None  # [N·m], shape (n,); None: zero


class Hardware(Protocol):
    """A machine with position drives, real or virtual. One turn of its loop is `read`, then `write`."""

    joints: tuple[str, ...]  # the machine's joint order
    period: float  # between two states [s]

    def set_gains(self, stiffness: Array, damping: Array) -> None:
        """Gains of the drives from now on: P [N·m/rad] and D [N·m·s/rad], shape (n,)."""
        ...

    def read(self) -> State:
        """Wait for the next state. A machine that stays silent too long raises `LinkLost`."""
        ...

    def write(self, command: Command) -> None:
        """Hand over the command that holds from now on."""
        ...

    def damp(self) -> None:
        """Bring the joints to rest without holding them: no stiffness, damping only. Safe at any time, more than once."""
        ...

    def close(self) -> None:
        """Leave the machine damped and let go of it."""
        ...
