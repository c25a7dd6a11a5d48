"""What can go wrong on the way, on purpose: a machine that hides its troubles behind the border of a good one."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from surefoot.errors import SurefootError, unknown
from surefoot.robot.dynamics import Array
from surefoot.robot.hardware import Command, Hardware, State

KINDS = {
    "lost": "no packet comes through for 100 ms",
    "stuck": "the encoder of a joint repeats itself (stuck:JOINT)",
    "nan": "the IMU gives NaN",
    "command": "the command is 1e9",
    "sag": "the bus has half of its voltage",
}
LOST = 0.1  # [s]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One thing that goes wrong at a time of the machine's clock, counted from its first state."""

    kind: str
    at: float  # [s]
    joint: str = ""  # for `stuck`

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise unknown("fault", [self.kind], list(KINDS))
        if not (np.isfinite(self.at) and self.at >= 0):
            raise SurefootError(f"the fault {self.kind} happens at {self.at:g} s; expected seconds >= 0.")
        if (self.kind == "stuck") != bool(self.joint):
            raise SurefootError(
                f"the fault {self.kind} is written stuck:JOINT@SECONDS for an encoder, KIND@SECONDS for all others."
            )

    @classmethod
    def parse(cls, text: str) -> Self:
        """From KIND@SECONDS or stuck:JOINT@SECONDS."""
        found = re.fullmatch(r"(\w+)(?::(\w+))?(?:@(.*))?", text)
        if not found:
            raise unknown("fault", [text], list(KINDS))
        try:
            at = float(found[3])
        except (TypeError, ValueError):
            raise SurefootError(f"the fault {text!r} has no time; write for example lost@5 or stuck:LF_KFE@5.") from None
        return cls(kind=found[1], joint=found[2] or "", at=at)

    def __str__(self) -> str:
        return f"{self.kind}{self.joint and ':'}{self.joint}@{self.at:g}"


class Faulty:
    """A machine and its faults. Behind this border they are as they would be on the wire."""

    def __init__(self, machine: Hardware, faults: tuple[Fault, ...]) -> None:
        self.machine, self.faults = machine, faults
        self.joints, self.period = machine.joints, machine.period
        for fault in faults:
            if fault.joint and fault.joint not in machine.joints:
                raise unknown("joint of the machine", [fault.joint], machine.joints)
            if fault.kind == "sag" and not hasattr(machine, "sag"):
                raise SurefootError("only a virtual robot's battery can be made to sag; leave out --fault sag.")
        self._first: float | None = None
        self._held: dict[str, float] = {}
        self._done: set[Fault] = set()

    def set_gains(self, stiffness: Array, damping: Array) -> None:
        """As the machine does."""
        self.machine.set_gains(stiffness, damping)

    def read(self) -> State:
        """The next state that comes through."""
        state = self.machine.read()
        self._first = state.time if self._first is None else self._first
        for fault in self.faults:
            since = state.time - self._first - fault.at
            if since >= 0:
                state = self._spoilt(state, fault)
        return state

    def _spoilt(self, state: State, fault: Fault) -> State:
        new = fault not in self._done
        self._done.add(fault)
        if fault.kind == "lost" and new:
            until = state.time + LOST
            while state.time < until:
                state = self.machine.read()
        elif fault.kind == "nan":
            return replace(state, more={**state.more, "imu_angular_velocity": np.full(3, np.nan)})
        elif fault.kind == "sag" and new:
            self.machine.sag(0.5)  # pyright: ignore[reportAttributeAccessIssue]
        elif fault.kind == "stuck":
            j = self.joints.index(fault.joint)
            position, velocity = state.position.copy(), state.velocity.copy()
            position[j] = self._held.setdefault(fault.joint, position[j])
            velocity[j] = 0.0
            return replace(state, position=position, velocity=velocity)
        return state

    def command(self, command: Array) -> Array:
        """The command as it arrives at the controller."""
        wild = any(fault.kind == "command" and fault in self._done for fault in self.faults)
        return np.full(3, 1e9) if wild else command

    def truth(self) -> dict[str, Array]:
        """What only the inventor of a virtual robot knows; nothing of a real one."""
        known = getattr(self.machine, "truth", None)
        return {} if known is None else known()

    def write(self, command: Command) -> None:
        """As the machine does."""
        self.machine.write(command)

    def damp(self) -> None:
        """As the machine does."""
        self.machine.damp()

    def close(self) -> None:
        """As the machine does."""
        self.machine.close()
