"""The loop of a walk: read, step, write, keep. However it ends, the joints are damped and the run is kept."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from surefoot.deploy.controller import Controller
from surefoot.deploy.steering import Steering
from surefoot.errors import SurefootError
from surefoot.record.run import CHANNELS, Phase, Run
from surefoot.robot.dynamics import Array
from surefoot.robot.hardware import Command, Hardware, State

AFTER = 1.0  # [s] that a damped robot is still watched after a fault
MEASURED = ("current", "power", "bus_voltage", "battery_power", "charge")
TRUE = {"base_position": "true_position", "base_orientation": "true_orientation", "base_velocity": "true_velocity",
        "base_angular_velocity": "true_angular_velocity", "contact": "true_contact"}  # fmt: skip
Watch = Callable[[State, Controller], None]


class CutShort(SurefootError):
    """The walk ended before its time; `run` is what there is of it, if anything."""

    def __init__(self, message: str, run: Run | None) -> None:
        super().__init__(message)
        self.run = run


def walk(
    hardware: Hardware, controller: Controller, steering: Steering, *, seconds: float, notes: Mapping[str, Any] | None = None,
    real_time: bool = False, watch: Watch | None = None,
) -> Run:  # fmt: skip
    """Stand up, walk as steered for some seconds, stop, and return the run.

    `real_time` holds back a machine whose time runs faster than ours, for somebody who steers. Whatever ends the walk early, a
    machine that falls silent, the watchdog, an error or Ctrl-C, ends in `CutShort`, which carries the run so far.
    """
    if tuple(hardware.joints) != controller.robot.joints:
        raise SurefootError(
            f"the machine's joints are {', '.join(hardware.joints)} and the policy's {', '.join(controller.robot.joints)}; "
            "order and names must agree."
        )
    log = _Log(hardware, controller, dict(notes or {}))
    try:
        _loop(hardware, controller, steering, seconds, real_time, watch, log)
    except (Exception, KeyboardInterrupt) as error:
        why = "it was stopped by hand" if isinstance(error, KeyboardInterrupt) else str(error).rstrip(".") or repr(error)
        with contextlib.suppress(Exception):
            hardware.damp()
        if isinstance(error, SurefootError):
            with contextlib.suppress(Exception):
                _aftermath(hardware, log, watch)
        run = log.run(why)
        at = "before it began" if run is None else f"after {log.faulted:.2f} s"
        raise CutShort(f"the walk ended {at}: {why}. The joints were damped.", run) from error
    finally:
        for end in (hardware.damp, hardware.close, steering.close):
            with contextlib.suppress(Exception):
                end()
    run = log.run("")
    assert run is not None
    return run


def _loop(
    hardware: Hardware, controller: Controller, steering: Steering, seconds: float, real_time: bool, watch: Watch | None,
    log: _Log,
) -> None:  # fmt: skip
    spec = controller.policy.spec
    filtered: Callable[[Array], Array] = getattr(hardware, "command", lambda command: command)
    state = hardware.read()
    began, wall, walking = state.time, time.perf_counter(), None
    hardware.set_gains(spec.stiffness, spec.damping)
    while controller.phase != Phase.DAMPED:
        since = 0.0 if walking is None else state.time - walking
        phase = controller.phase
        command = filtered(steering.command(since) if phase == Phase.WALKING else np.zeros(3))
        target = controller.step(state, command)
        hardware.write(Command(target=target))
        log.add(state, target, phase)
        if watch is not None:
            watch(state, controller)
        if controller.phase == Phase.WALKING:
            walking = state.time if walking is None else walking
            if state.time - walking >= seconds or steering.over(state.time - walking):
                controller.stop()
        if real_time and (early := state.time - began - (time.perf_counter() - wall)) > 0:
            time.sleep(early)
        state = hardware.read()


def _aftermath(hardware: Hardware, log: _Log, watch: Watch | None) -> None:
    """What the robot does once it is damped."""
    controller = log.controller
    state = hardware.read()
    until = state.time + AFTER
    while state.time < until:
        log.add(state, np.full(len(state.position), np.nan), Phase.DAMPED)
        if watch is not None:
            watch(state, controller)
        state = hardware.read()


class _Log:
    """The rows so far."""

    def __init__(self, hardware: Hardware, controller: Controller, notes: dict[str, Any]) -> None:
        self.controller, self.notes = controller, notes
        self.truth: Callable[[], dict[str, Array]] | None = getattr(hardware, "truth", None)
        self.rows: dict[str, list[Array | float]] = {}
        self.time: list[float] = []
        self.faulted = 0.0  # when the last row before a fault was [s]

    def add(self, state: State, target: Array, phase: Phase) -> None:
        """One state, and what the controller made of it in a phase."""
        c, e = self.controller, self.controller.estimator
        row: dict[str, Any] = {
            "phase": int(phase), "command": c.command, "target": target, "position": state.position, "velocity": state.velocity,
            "linear_velocity": e.linear, "angular_velocity": e.angular, "gravity": e.gravity, "contact": e.contact,
            "step_time": c.took if c.asked else np.nan, "drive_time": np.nan if c.asked else c.took,
        }  # fmt: skip
        if state.torque is not None:
            row["torque"] = state.torque
        row |= {name: state.more[name] for name in MEASURED if name in state.more}
        if self.truth is not None:
            true = self.truth()
            row |= {name: true[key] for key, name in TRUE.items() if key in true}
        for name, value in row.items():
            value = np.array(value, dtype=float)
            self.rows.setdefault(name, []).append(float(value.reshape(-1)[0]) if CHANNELS[name][0] == "1" else value)
        self.time.append(state.time)
        if phase != Phase.DAMPED:
            self.faulted = state.time - self.time[0]

    def run(self, stop: str) -> Run | None:
        """All rows as a run; None without any."""
        if not self.time:
            return None
        c = self.controller
        kinematics = c.estimator.kinematics
        steps = len(self.time)
        whole = {name: np.array(rows) for name, rows in self.rows.items() if len(rows) == steps}
        notes = self.notes | ({"cut": "a command was cut to the range that the policy was trained with"} if c.cut else {})
        return Run(
            robot=c.robot.name, joints=c.robot.joints, feet=tuple(kinematics.names), mass=float(kinematics.mass),
            time=np.array(self.time) - self.time[0], channels=whole, stop=stop, notes=notes,
        )  # fmt: skip
