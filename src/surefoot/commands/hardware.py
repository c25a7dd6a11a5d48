"""The machine behind --hardware: a virtual robot, a UDP link, or a user's own class."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from surefoot.errors import SurefootError

if TYPE_CHECKING:
    from surefoot.robot import Robot
    from surefoot.robot.hardware import Hardware

Place = Literal["stand", "fixed", "ground"]
FORMS = "virtual, virtual:SEED, udp:HOST:PORT or package.module:Class"


def open_hardware(text: str, robot: Robot, *, rate: float, place: Place | None) -> Hardware:
    """The machine that a text names. `rate` [Hz] and `place` are those of a virtual robot; others have their own."""
    if re.fullmatch(r"virtual(:.*)?", text):
        return virtual(text, robot, rate=rate, place=place)
    if place is not None:
        raise SurefootError(f"--place says where a virtual robot is; {text} is where it is. Leave it out.")
    if text.startswith("udp:"):
        return _udp(text)
    if re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", text):
        return _own(text, robot)
    raise SurefootError(f"--hardware is {text!r}; expected {FORMS}.")


def virtual(text: str, robot: Robot, *, rate: float, place: Place | None) -> Any:
    """A virtual robot."""
    from surefoot.simulate.virtual.hardware import VirtualHardware

    _, _, seed = text.partition(":")
    if text != "virtual" and not seed.isdecimal():
        raise SurefootError(f"--hardware is {text!r}; the seed of a virtual robot is a whole number, for example virtual:7.")
    if not 0 < rate <= 20000:
        raise SurefootError(f"--rate is {rate:g} Hz; expected a number above 0 and at most 20000, for example 400.")
    return VirtualHardware(robot, int(seed or 0), place=place, period=1 / rate)


def _udp(text: str) -> Hardware:
    from surefoot.record.udp import UdpHardware

    found = re.fullmatch(r"udp:([^:]+):(\d+)", text)
    if not found or not 0 < int(found[2]) < 65536:
        raise SurefootError(f"--hardware is {text!r}; expected udp:HOST:PORT, for example udp:192.168.0.10:5555.")
    return UdpHardware(found[1], int(found[2]))


def _own(text: str, robot: Robot) -> Hardware:
    """A user's class, called with the robot; its module may lie in the working folder."""
    module, _, name = text.partition(":")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        kind = getattr(importlib.import_module(module), name)
    except ImportError as error:
        raise SurefootError(f"--hardware {text}: {error}. Run surefoot where the module lies, or install it.") from None
    except AttributeError:
        raise SurefootError(f"--hardware {text}: the module {module} has no {name}.") from None
    machine = kind(robot)
    needed = ("joints", "period", "set_gains", "read", "write", "damp", "close")
    if lacking := [part for part in needed if not hasattr(machine, part)]:
        raise SurefootError(f"{text} has no {', '.join(lacking)}; a machine needs {', '.join(needed)} (docs/hardware.md).")
    return machine
