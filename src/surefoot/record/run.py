"""A robot on its way: what it was told, what it did, what that cost. One row per state of the machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any, Self

import numpy as np

from surefoot.errors import SurefootError, unknown
from surefoot.record.atomic import replacing
from surefoot.record.npz import read_arrays
from surefoot.record.validation import Array

FORMAT = "surefoot-run-1"


class Phase(IntEnum):
    """What the robot is about in a row: `phase`."""

    RISING = 0  # to the policy's posture, and then the policy on the spot
    WALKING = 1  # as commanded
    HALTING = 2  # the policy walks on the spot
    STANDING = 3  # back to the posture
    DAMPED = 4  # the drives only brake


CHANNELS: dict[str, tuple[str, str]] = {  # width: a number, n joints or F feet; unit and meaning
    "phase": ("1", "see `Phase`"),
    "command": ("3", "forward, left [m/s], turn [rad/s], within the policy's limits"),
    "target": ("n", "what the drives were sent [rad]"),
    "position": ("n", "encoders [rad]"),
    "velocity": ("n", "as the drives see it [rad/s]"),
    "torque": ("n", "as the drives report it, at the joint [N·m]"),
    "current": ("n", "[A]"),
    "power": ("n", "drawn by each drive [W]"),
    "bus_voltage": ("1", "[V]"),
    "battery_power": ("1", "[W]"),
    "charge": ("1", "of the battery, 0 to 1 [-]"),
    "linear_velocity": ("3", "of the base in its own axes, estimated [m/s]"),
    "angular_velocity": ("3", "of the base in its own axes, estimated [rad/s]"),
    "gravity": ("3", "direction of gravity in base axes, estimated [-]"),
    "contact": ("F", "which feet carry, estimated: 0 or 1"),
    "true_position": ("3", "of the base in the world [m]"),
    "true_orientation": ("4", "of the base: w x y z"),
    "true_velocity": ("3", "of the base, in the world [m/s]"),
    "true_angular_velocity": ("3", "of the base, in the world [rad/s]"),
    "true_contact": ("F", "which feet touch the ground: 0 or 1"),
    "step_time": ("1", "what a step of the controller took when it asked the network [s]"),
    "drive_time": ("1", "what a step of the controller took in between [s]"),
}
"""What a run may carry. `true_...` is known of a virtual robot only, and no controller sees it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """T rows of a robot with n joints and F feet. Columns in the order of `joints` and `feet`; a NaN was not measured."""

    robot: str  # name
    joints: tuple[str, ...]
    feet: tuple[str, ...]
    mass: float  # [kg]
    time: Array  # by the machine's clock, 0 at the first row [s], shape (T,)
    channels: Mapping[str, Array]  # of CHANNELS, each of shape (T, width), or (T,) where the width is 1
    stop: str = ""  # why it ended before its time; "" if it did not
    notes: Mapping[str, Any] = field(default_factory=dict)  # policy, hardware, faults, ...

    def __post_init__(self) -> None:
        keep = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        keep("joints", tuple(self.joints))
        keep("feet", tuple(self.feet))
        time = np.array(self.time, dtype=float)
        if time.ndim != 1 or not np.isfinite(time).all() or (np.diff(time) <= 0).any():
            raise SurefootError("the time of a run must be finite and increase from row to row.")
        if wrong := [name for name in self.channels if name not in CHANNELS]:
            raise unknown("channel of a run", wrong, tuple(CHANNELS))
        keep("time", _frozen(time))
        keep("channels", {name: self._shaped(name, value) for name, value in self.channels.items()})

    def _shaped(self, name: str, value: Array) -> Array:
        width = {"n": len(self.joints), "F": len(self.feet)}.get(CHANNELS[name][0]) or int(CHANNELS[name][0])
        shape = (len(self.time),) if CHANNELS[name][0] == "1" else (len(self.time), width)
        rows = np.array(value, dtype=float)
        if rows.shape != shape:
            raise SurefootError(f"{name} of a run has shape {rows.shape}; expected {shape}.")
        return _frozen(rows)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joints)

    def __getitem__(self, name: str) -> Array:
        """A channel by its name."""
        if name not in self.channels:
            raise unknown(f"channel of this run of {self.robot}", [name], tuple(self.channels))
        return self.channels[name]

    def __contains__(self, name: str) -> bool:
        return name in self.channels

    def save(self, path: str | Path) -> Path:
        """Write plain arrays and texts to a .npz file; it appears whole or not at all."""
        path = Path(path)
        if path.suffix != ".npz":
            raise SurefootError(f"cannot save a run as '{path.name}'; its file name must end in .npz.")
        about = {"robot": self.robot, "joints": self.joints, "feet": self.feet, "mass": self.mass, "stop": self.stop,
                 "notes": dict(self.notes)}  # fmt: skip
        with replacing(path) as draft, draft.open("wb") as file:
            content: dict[str, Any] = {"format": np.array(FORMAT), "about": np.array(json.dumps(about)), "time": self.time}
            content |= self.channels
            np.savez_compressed(file, **content)
        return path

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote."""
        path = Path(path)
        if not path.is_file():
            raise SurefootError(f"there is no run at {path}. Make one with surefoot run ROBOT --hardware virtual:3 --out {path}.")
        raw = read_arrays(path)
        if str(raw.pop("format", "")) != FORMAT:
            raise SurefootError(f"{path.name} is not a run that surefoot run wrote (of format {FORMAT}).")
        try:
            return cls(time=raw.pop("time"), **json.loads(str(raw.pop("about"))), channels=raw)
        except (KeyError, TypeError, ValueError) as error:
            raise SurefootError(f"{path.name} is damaged ({type(error).__name__}: {error}). Run it again.") from error


def _frozen(rows: Array) -> Array:
    rows.setflags(write=False)
    return rows
