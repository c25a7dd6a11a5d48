"""What must never go on: each check names what it saw, and the robot is damped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.deploy.estimator import IMU
from surefoot.errors import SurefootError
from surefoot.robot.dynamics import Array
from surefoot.robot.hardware import State
from surefoot.robot.spec import Robot


class Tripped(SurefootError):
    """The watchdog has seen something that no controller should act upon."""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What is still allowed."""

    silence: float = 0.05  # longest time between two states [s]
    tilt: float = 1.05  # of the base [rad]; a trained robot that leans further has fallen
    stuck: float = 0.15  # how long an encoder may repeat itself ... [s]
    asked: float = 0.1  # ... after its target has moved by so much [rad]
    command: float = 10.0  # commands beyond the trained range are cut to it; beyond so many times it, nobody means them [-]
    voltage: float = 0.65  # least bus voltage, over the nominal one [-]
    sag: float = 0.02  # how long the voltage may be lower [s]

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            if not getattr(self, name) > 0:
                raise SurefootError(f"{name} of the watchdog is {getattr(self, name):g}; it must be above 0.")


class Watchdog:
    """Looks at every state, command and target; raises `Tripped`."""

    def __init__(self, robot: Robot, bounds: Bounds, low: Array, high: Array) -> None:
        """`low` and `high` are the commands that the policy was trained with, shape (3,)."""
        self.robot, self.bounds = robot, bounds
        self._far = bounds.command * np.maximum(np.abs(low), np.abs(high))
        nominal = robot.motor["bus_voltage"]
        known = bool(np.isfinite(nominal).all())
        self._least = bounds.voltage * float(nominal.max()) if known else 0.0  # a voltage that nobody knows is not watched
        self._time: float | None = None
        self._low_since: float | None = None
        self._reading = np.full(robot.n, np.nan)
        self._near = np.full(robot.n, np.inf)  # when each target was last near where the encoder stopped [s]
        self._lowest, self._highest = (
            np.full(robot.n, np.inf),
            np.full(robot.n, -np.inf),
        )  # of the target since each encoder moved [rad]

    def state(self, state: State) -> None:
        """Stale, not a number, or a bus that sags."""
        self._fresh(state.time)
        self._finite("encoder", state.position)
        self._finite("velocity", state.velocity)
        for name in IMU:
            if name in state.more and not np.isfinite(state.more[name]).all():
                raise Tripped(f"the IMU gives {_listed(state.more[name])} as {name.removeprefix('imu_')}")
        if "bus_voltage" in state.more:
            self._fed(float(np.min(state.more["bus_voltage"])), state.time)

    def base(self, gravity: Array) -> None:
        """Leaning too far: cos(tilt) = −g_z."""
        lean = float(np.arccos(np.clip(-gravity[2], -1.0, 1.0)))
        if lean > self.bounds.tilt:
            raise Tripped(f"the base leans by {np.degrees(lean):.0f}° (limit {np.degrees(self.bounds.tilt):.0f}°)")

    def command(self, command: Array) -> None:
        """Not a number, or so far out that nobody can mean it."""
        if not np.isfinite(command).all() or (np.abs(command) > self._far).any():
            raise Tripped(f"the command is {_listed(command)}; at most {_listed(self._far)} can be meant")

    def target(self, target: Array, state: State) -> None:
        """An encoder that stands still long after its target has moved away."""
        moved = state.position != self._reading
        self._reading[:] = state.position
        self._lowest = np.minimum(target, np.where(moved, np.inf, self._lowest))
        self._highest = np.maximum(target, np.where(moved, -np.inf, self._highest))
        near = self._highest - self._lowest <= self.bounds.asked
        self._near[near] = state.time
        stuck = state.time - self._near > self.bounds.stuck
        if stuck.any():
            j = int(np.argmax(stuck))
            raise Tripped(
                f"the encoder of {self.robot.joints[j]} still says {state.position[j]:.4f} rad, "
                f"{1e3 * self.bounds.stuck:.0f} ms after its target moved by {self.bounds.asked:g} rad and more"
            )

    def _fresh(self, time: float) -> None:
        last, self._time = self._time, time
        if last is not None and time - last > self.bounds.silence:
            raise Tripped(f"no state came for {1e3 * (time - last):.0f} ms (limit {1e3 * self.bounds.silence:.0f} ms)")

    def _finite(self, what: str, values: Array) -> None:
        if not np.isfinite(values).all():
            j = int(np.argmin(np.isfinite(values)))
            raise Tripped(f"the {what} of {self.robot.joints[j]} is {values[j]}")

    def _fed(self, voltage: float, time: float) -> None:
        if voltage >= self._least:
            self._low_since = None
            return
        self._low_since = time if self._low_since is None else self._low_since
        if time - self._low_since > self.bounds.sag - 1e-9:
            raise Tripped(f"the bus is down to {voltage:.1f} V (limit {self._least:.1f} V)")


def _listed(values: Array) -> str:
    return ", ".join(f"{x:g}" for x in np.ravel(values))
