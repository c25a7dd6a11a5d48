"""The Robot: everything that is known about a machine before anything is measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as _replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from surefoot.errors import SurefootError, unknown
from surefoot.robot.dynamics import Array, JointDynamics

MOTOR = ("k_i", "resistance", "gear_ratio", "bus_voltage", "regeneration", "joule_constant")
"""k_i [N·m/A], resistance [Ω], gear ratio [-], bus voltage [V], share of the braking power regained [-], and, where the
motor is not disclosed, the heat of its coils per squared joint torque [W/(N·m)²] as one number."""

REWARDS = ("velocity_tracking", "energy", "collisions", "touchdown")
"""The paper's four reward coefficients."""

BATTERY = ("capacity", "off", "rest")
"""Of the battery [Wh]; what the robot draws powered with its drives disabled [W], and with its drives enabled but idle [W]."""


def _frozen(value: ArrayLike, dtype: type = float) -> Any:
    array = np.array(value, dtype=dtype)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, kw_only=True, eq=False)
class Robot:
    """A robot with n joints; every array has one entry per joint, in the order of `joints`."""

    name: str
    source: str  # path or bundled name, for messages
    model: str  # canonical in-air MJCF text: fixed base, no shapes, no actuators (see robot/model.py)
    scene: str = ""  # the model with its shapes as MJCF or URDF text; "" when unknown
    mass: float = float("nan")  # of the whole robot, base included [kg]
    joints: tuple[str, ...]
    kinds: tuple[str, ...]  # "hinge" or "slide"
    stiffness: Array  # default gain P [N·m/rad], shape (n,); nan: unknown
    damping: Array  # default gain D [N·m·s/rad], shape (n,); nan: unknown
    torque_limit: Array  # [N·m], shape (n,); inf: none; of the motor where `geared`
    stall_torque: Array  # torque-speed envelope at standstill [N·m], shape (n,); inf: none; of the motor where `geared`
    no_load_speed: Array  # torque-speed envelope at zero torque [rad/s], shape (n,); inf: none; of the motor where `geared`
    gear_position: Array  # table of gear ratios over the joint position [rad], shape (n, K), increasing
    gear_ratio: Array  # [-], shape (n, K): constant along a row without a table; nan: unknown
    geared: Array  # bool, shape (n,): the joint has a table
    lower: Array  # hard joint limit [rad], shape (n,); -inf: none
    upper: Array  # hard joint limit [rad], shape (n,); inf: none
    soft_band: Array  # width of the band inside the hard limits [rad], shape (n,)
    posture: Array  # default joint position [rad], shape (n,)
    motor: Mapping[str, Array]  # MOTOR by name, each of shape (n,); nan: unknown
    rewards: Mapping[str, float] = field(default_factory=dict)
    battery: Mapping[str, float] = field(default_factory=dict)  # BATTERY by name; those that are known
    dynamics: JointDynamics | None = None  # published joint dynamics
    symmetry: tuple[str, ...] | None = None  # mirror planes as robot.toml gives them; None: as the model has them
    notes: tuple[str, ...] = ()  # what was repaired or assumed while loading

    def __post_init__(self) -> None:
        n = len(self.joints)
        set_ = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        for name in ("joints", "kinds", "notes"):
            set_(name, tuple(getattr(self, name)))
        rows = (
            "stiffness",
            "damping",
            "torque_limit",
            "stall_torque",
            "no_load_speed",
            "lower",
            "upper",
            "soft_band",
            "posture",
        )
        for name in rows:
            set_(name, self._row(name, getattr(self, name)))
        set_("geared", _frozen(self.geared, bool))
        set_("gear_position", _frozen(self.gear_position))
        set_("gear_ratio", _frozen(self.gear_ratio))
        unknown_motor = {k: np.full(n, np.nan) for k in MOTOR if k not in self.motor}
        set_("motor", {k: self._row(f"motor.{k}", v) for k, v in (*self.motor.items(), *unknown_motor.items())})
        if self.gear_position.shape != self.gear_ratio.shape or self.gear_position.shape[:1] != (n,) or len(self.geared) != n:
            raise SurefootError(f"{self.name}: the gear table has shape {self.gear_ratio.shape}; {n} joints need ({n}, K).")
        self._require("lower", self.lower < self.upper, "must lie below upper")
        self._require("soft_band", self.soft_band > 0, "must be above 0")
        for name in ("torque_limit", "stall_torque", "no_load_speed"):
            self._require(name, getattr(self, name) > 0, "must be above 0 (leave it out for 'none')")
        for name in ("stiffness", "damping"):
            self._require(name, np.logical_not(getattr(self, name) < 0), "must be at least 0")
        if not 0 <= self.battery.get("off", 0.0) <= self.battery.get("rest", np.inf) or not self.battery.get("capacity", 1.0) > 0:
            raise SurefootError(
                f"{self.name}: the battery has {', '.join(f'{k} = {v:g}' for k, v in self.battery.items())}; expected "
                "capacity above 0 [Wh] and 0 <= off <= rest [W]."
            )
        both = np.isfinite(self.stall_torque) == np.isfinite(self.no_load_speed)
        self._require("no_load_speed", both, "and stall_torque make one envelope: give both or neither")
        self._require("gear_position", (np.diff(self.gear_position) > 0).all(axis=1), "must increase along the table")
        self._require("gear_ratio", np.logical_not(self.geared) | (self.gear_ratio > 0).all(axis=1), "must be above 0 in a table")
        if self.dynamics is not None and self.dynamics.joints != self.joints:
            set_("dynamics", self.dynamics.ordered_for(self.joints))

    def _row(self, name: str, value: ArrayLike) -> Array:
        row = _frozen(value)
        if row.shape != (len(self.joints),):
            raise SurefootError(f"{self.name}: {name} has shape {row.shape}; expected ({len(self.joints)},), one per joint.")
        return row

    def _require(self, name: str, good: Any, rule: str) -> None:
        for j in np.flatnonzero(~np.asarray(good)):
            value = getattr(self, name)[j]
            raise SurefootError(f"{self.name}: {name} of joint {self.joints[j]} is {value}; it {rule}.")

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joints)

    def index(self, joint: str) -> int:
        """The position of a joint in `joints`."""
        return int(self.select([joint])[0])

    def select(self, joints: Sequence[str]) -> np.ndarray:
        """The positions of some joints in `joints`, as an index array."""
        missing = [j for j in joints if j not in self.joints]
        if missing:
            raise unknown(f"joint of {self.name}", missing, self.joints)
        return np.array([self.joints.index(j) for j in joints], dtype=int)

    def replace(self, **changes: Any) -> Self:
        """The same robot with some fields changed."""
        return _replace(self, **changes)

    def with_gains(self, stiffness: ArrayLike, damping: ArrayLike) -> Self:
        """The same robot with other default gains: one number for all joints or one per joint."""
        full = lambda x: np.broadcast_to(np.asarray(x, dtype=float), (self.n,))  # noqa: E731
        return self.replace(stiffness=full(stiffness), damping=full(damping))

    @classmethod
    def load(cls, source: str | Path) -> "Robot":
        """A robot from a bundled name, a robot.toml, or any MJCF or URDF file."""
        from surefoot.robot.load import load_robot

        return load_robot(source)
