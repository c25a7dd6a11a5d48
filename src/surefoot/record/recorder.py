"""The recorder: play targets on a machine and keep what it says. Whatever happens, the joints are damped at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.record.journal import Journal, from_rows
from surefoot.record.recording import Recording
from surefoot.record.targets import Targets
from surefoot.record.validation import SHORTEST, Array
from surefoot.robot.hardware import Command, Hardware, LinkLost, State

GENTLE = 0.5  # [rad/s] top speed of the way to the first target
SETTLE = 1.0  # [s] at the first target before the recording begins
Tell = Callable[[str, float, float], None]  # what is going on, seconds done, seconds in all


class CutShort(SurefootError):
    """The machine fell silent, or was stopped, before the targets ended; `recording` is what there is, if anything."""

    def __init__(self, message: str, recording: Recording | None) -> None:
        super().__init__(message)
        self.recording = recording


def record(
    hardware: Hardware, targets: Targets, *, journal: Path | None = None, name: str = "", tell: Tell | None = None,
) -> Recording:  # fmt: skip
    """Bring the joints gently to the first target, play the targets, and return what was commanded and measured.

    With a `journal` every sample is on disk within a tenth of a second (`surefoot.record.journal.recover` reads it). A machine
    that falls silent, an error in it, and Ctrl-C all end in `CutShort`, which carries the recording so far.
    """
    tell = tell or (lambda *_: None)
    targets = targets.ordered_for(tuple(hardware.joints))
    take = _Take(targets, name)
    try:
        hardware.set_gains(targets.stiffness, targets.damping)
        state = _approach(hardware, targets, tell)
        take.start(state, journal)
        while (since := state.time - take.began) <= targets.duration:
            command = _command_at(targets, targets.time[0] + since)
            hardware.write(command)
            take.add(since, command, state)
            tell("recording", since, targets.duration)
            state = _next(hardware, state)
    except (Exception, KeyboardInterrupt) as error:
        _quietly(hardware.damp)
        raise take.cut(error) from error
    finally:
        take.close()
        _quietly(hardware.close)
    return take.recording()


class _Take:
    """The rows so far."""

    def __init__(self, targets: Targets, name: str) -> None:
        self.targets, self.began = targets, 0.0
        self.about: dict[str, Any] = {
            "joints": list(targets.joints), "stiffness": targets.stiffness.tolist(), "damping": targets.damping.tolist(),
            "command_hold": True, "name": name or targets.kind,
            "notes": {k: str(v) for k, v in (("motion", targets.kind), ("seed", targets.seed)) if v not in ("", None)},
        }  # fmt: skip
        self.columns = ["target", "position", "velocity"]
        self.columns += [key for key in ("target_velocity", "feedforward") if getattr(targets, key) is not None]
        self.rows: list[Array] = []
        self.journal: Journal | None = None

    def start(self, state: State, path: Path | None) -> None:
        """The first sample is this one."""
        self.began = state.time
        self.columns += ["torque"] if state.torque is not None else []
        self.journal = None if path is None else Journal(path, self.about, self.columns)

    def add(self, since: float, command: Command, state: State) -> None:
        """One sample: what was measured, and what was commanded upon it."""
        said = {"target": command.target, "target_velocity": command.target_velocity, "feedforward": command.feedforward}
        heard = {"position": state.position, "velocity": state.velocity, "torque": state.torque}
        series = [(said | heard)[key] for key in self.columns]
        self.rows.append(np.concatenate([[since], *series]))
        if self.journal is not None:
            self.journal.add(since, *series)

    def recording(self) -> Recording:
        """All rows as a recording."""
        return from_rows(np.array(self.rows), self.columns, self.about)

    def cut(self, error: BaseException) -> CutShort:
        """The error for an early end."""
        why = "it was stopped by hand" if isinstance(error, KeyboardInterrupt) else str(error).rstrip(".") or repr(error)
        some = None
        if len(self.rows) >= SHORTEST:
            self.about["notes"] |= {"cut short": why}
            some = self.recording()
        at = f"after {self.rows[-1][0]:.2f} of {self.targets.duration:.2f} s" if self.rows else "before it began"
        rest = "The robot's own watchdog damps it now" if isinstance(error, LinkLost) else "The joints were damped"
        return CutShort(f"the recording ended {at}: {why}. {rest}.", some)

    def close(self) -> None:
        """The journal complete."""
        if self.journal is not None:
            self.journal.close()


def _approach(hardware: Hardware, targets: Targets, tell: Tell) -> State:
    """From where the joints are to the first target along a half cosine, no faster than `GENTLE`, and rest there."""
    state = hardware.read()
    start, begin = state.position, state.time
    way = targets.target[0] - start
    if not np.isfinite(start).all():
        odd = [joint for joint, q in zip(targets.joints, start, strict=True) if not np.isfinite(q)]
        raise SurefootError(f"the machine gives no position for {', '.join(odd)}; nothing was commanded.")
    duration = max(0.5 * np.pi * float(np.abs(way).max()) / GENTLE, 0.2)
    while (since := state.time - begin) <= duration + SETTLE:
        share = 0.5 - 0.5 * np.cos(np.pi * min(since / duration, 1.0))
        hardware.write(Command(target=start + share * way))
        tell("going to the first target", since, duration + SETTLE)
        state = _next(hardware, state)
    return state


def _next(hardware: Hardware, last: State) -> State:
    """The next state with a later stamp: a machine may repeat itself, but not turn back."""
    for _ in range(1000):
        state = hardware.read()
        if state.time > last.time:
            return state
        if state.time < last.time:
            raise SurefootError(f"the machine's clock went back from {last.time:.6f} s to {state.time:.6f} s; it must increase.")
    raise SurefootError(f"the machine repeats the state of {last.time:.6f} s for ever; its clock must increase.")


def _command_at(targets: Targets, time: float) -> Command:
    """The targets between their stamps, linear."""
    stamps = targets.time
    k = int(np.clip(np.searchsorted(stamps, time, side="right") - 1, 0, len(stamps) - 2))
    share = float(np.clip((time - stamps[k]) / (stamps[k + 1] - stamps[k]), 0.0, 1.0))
    between = lambda x: None if x is None else x[k] + share * (x[k + 1] - x[k])  # noqa: E731
    return Command(target=targets.target[k] + share * (targets.target[k + 1] - targets.target[k]),
                   target_velocity=between(targets.target_velocity), feedforward=between(targets.feedforward))  # fmt: skip


def _quietly(action: Callable[[], None]) -> None:
    """Do what can be done for safety; a machine that is gone cannot be damped from here."""
    with contextlib.suppress(Exception):
        action()
