"""Where commands come from: a held one, a script, the keyboard, a gamepad. Each says what is asked for at a time."""

from __future__ import annotations

import csv
import os
import select
import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from surefoot.errors import SurefootError
from surefoot.robot.dynamics import Array

COLUMNS = ("time", "forward", "left", "turn")
KEYS = {"w": (0.1, 0, 0), "s": (-0.1, 0, 0), "a": (0, 0.1, 0), "d": (0, -0.1, 0), "q": (0, 0, 0.1), "e": (0, 0, -0.1)}
"""What each key adds to the command [m/s, m/s, rad/s]."""


class Steering(Protocol):
    """Commands v̂_x, v̂_y [m/s], ω̂ [rad/s] over the time since the walk began."""

    def command(self, since: float) -> Array:
        """What is asked for, shape (3,)."""
        ...

    def over(self, since: float) -> bool:
        """Whether the robot shall stop."""
        ...

    def close(self) -> None:
        """Give back what was taken."""
        ...


class Script:
    """Commands of a list, each held until the next."""

    def __init__(self, time: ArrayLike, commands: ArrayLike) -> None:
        self.time, self.commands = np.array(time, dtype=float), np.array(commands, dtype=float)
        if self.commands.shape != (len(self.time), 3) or len(self.time) == 0:
            raise SurefootError(f"a script is rows of {', '.join(COLUMNS)}; got {self.commands.shape}.")
        if self.time[0] != 0 or (np.diff(self.time) <= 0).any():
            raise SurefootError("the times of a script must begin at 0 and increase; they are seconds since the walk began.")
        if not np.isfinite(self.commands).all():
            raise SurefootError("the commands of a script must be numbers: forward [m/s], left [m/s], turn [rad/s].")

    @classmethod
    def held(cls, command: Sequence[float] | Array) -> Script:
        """One command for the whole walk."""
        return cls([0.0], np.array(command, dtype=float)[None])

    @classmethod
    def load(cls, path: Path) -> Script:
        """A CSV file with the header time,forward,left,turn."""
        try:
            with path.open(newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file, skipinitialspace=True))
        except (OSError, UnicodeDecodeError) as error:
            raise SurefootError(f"cannot read the script {path}: {error}.") from None
        try:
            table = np.array([[float(row[name]) for name in COLUMNS] for row in rows])
        except (KeyError, TypeError, ValueError):
            raise SurefootError(
                f"{path.name} must be CSV with the header {','.join(COLUMNS)} and a number in every place."
            ) from None
        if not len(table):
            raise SurefootError(f"{path.name} has no commands; write rows of {','.join(COLUMNS)}.")
        return cls(table[:, 0], table[:, 1:])

    def command(self, since: float) -> Array:
        """The last row whose time has come."""
        return self.commands[max(int(np.searchsorted(self.time, since + 1e-9, side="right")) - 1, 0)]

    def over(self, since: float) -> bool:
        """A script has no end of its own."""
        return False

    def close(self) -> None:
        """Nothing was taken."""


class Keyboard:
    """w s: forward and back; a d: left and right; q e: turn left and right; space: stand; x: stop. Each press is one step."""

    def __init__(self, low: Array, high: Array) -> None:
        import termios
        import tty

        if not sys.stdin.isatty():
            raise SurefootError("--keyboard needs a terminal to type in; use --command or --script here.")
        self.low, self.high = low, high
        self._now, self._over = np.zeros(3), False
        self._termios: Any = termios
        self._kept = termios.tcgetattr(sys.stdin)
        tty.setcbreak(sys.stdin)

    def command(self, since: float) -> Array:
        """What has been typed so far."""
        while select.select([sys.stdin], [], [], 0.0)[0]:
            self.press(sys.stdin.read(1))
        return self._now

    def press(self, key: str) -> None:
        """One key."""
        self._over = self._over or key == "x"
        self._now = np.zeros(3) if key in (" ", "x") else self._now + np.array(KEYS.get(key, (0, 0, 0)))
        self._now = np.clip(self._now, self.low, self.high)

    def over(self, since: float) -> bool:
        """x was typed."""
        return self._over

    def close(self) -> None:
        """The terminal as it was."""
        self._termios.tcsetattr(sys.stdin, self._termios.TCSADRAIN, self._kept)


class Gamepad:
    """A Linux joystick: the left stick walks, the right one turns, the first button stops."""

    EVENT = struct.Struct("<IhBB")  # time [ms], value, type, number
    BUTTON, AXIS = 1, 2

    def __init__(self, low: Array, high: Array, device: str = "/dev/input/js0") -> None:
        self.low, self.high = low, high
        self._sticks, self._over = np.zeros(3), False
        try:
            self._file = os.open(device, os.O_RDONLY | os.O_NONBLOCK)
        except OSError as error:
            raise SurefootError(f"there is no gamepad at {device}: {error.strerror}. Plug one in, or use --keyboard.") from None

    def command(self, since: float) -> Array:
        """Where the sticks are; fully out is the largest command trained."""
        while True:
            try:
                data = os.read(self._file, self.EVENT.size)
            except BlockingIOError:
                break
            except OSError as error:
                raise SurefootError(f"the gamepad is gone: {error.strerror}.") from None
            if len(data) < self.EVENT.size:
                break
            self.event(data)
        return np.where(self._sticks > 0, self._sticks * self.high, -self._sticks * self.low)

    def event(self, data: bytes) -> None:
        """One event: an axis between −32767 and 32767, or a button."""
        _, value, kind, number = self.EVENT.unpack(data)
        if kind & 0x7F == self.BUTTON and number == 0 and value:
            self._over = True
        elif kind & 0x7F == self.AXIS and number in (0, 1, 3):
            axis = {1: 0, 0: 1, 3: 2}[number]  # sticks point right and down, commands forward and left
            share = -value / 32767
            self._sticks[axis] = 0.0 if abs(share) < 0.08 else share

    def over(self, since: float) -> bool:
        """The first button was pressed."""
        return self._over

    def close(self) -> None:
        """Let go of the device."""
        os.close(self._file)
