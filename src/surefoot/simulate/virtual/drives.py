"""What the drives of a robot are made of, and the drives at work between a command and the joints."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from surefoot.errors import SurefootError, unknown
from surefoot.simulate.virtual.engine import Block, Engine

Array = np.ndarray


DEFAULTS = {"belief": 1.0, "stribeck_speed": 0.1, "spring": math.inf, "resolution": 2 * math.pi / 2**17,
            "velocity_cutoff": 100.0, "compensation_cutoff": 60.0}  # fmt: skip
POSITIVE = ("torque_constant", "resistance", "inductance", "rotor_inertia", "gear_ratio", "current_gain", "current_limit",
            "belief", "stribeck_speed", "spring", "resolution", "velocity_cutoff", "compensation_cutoff")  # fmt: skip
SIGNED = ("bias", "cogging_phase", "gear_position")


def _no_rows() -> Array:
    return np.empty(0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Drives:
    """The drives of n joints; every array has one entry per joint unless said. Optional parts have no effect by default.

    Where a robot does not disclose its gear, the ratio is 1 and the motor is the one that the joint sees.
    """

    joints: tuple[str, ...]
    # motor and winding
    torque_constant: Array  # k_i, of torque and of back-EMF [N·m/A = V·s/rad]
    resistance: Array  # R [Ω]
    inductance: Array  # L [H]
    rotor_inertia: Array  # with all that turns with it, at the motor [kg·m²]
    # gear: ratio over joint angle, linear between points and constant beyond
    gear_ratio: Array  # [-], shape (n, K)
    gear_position: Array  # [rad], shape (n, K), increasing
    # current loop
    current_gain: Array  # K_p [V/A]
    current_integral: Array  # K_i [V/(A·s)]
    current_limit: Array  # [A]
    blanking: Array = dataclasses.field(default_factory=_no_rows)  # voltage lost in the inverter [V]
    emf_aid: Array = dataclasses.field(default_factory=_no_rows)  # share of the back-EMF fed forward [-]; what is not, acts
    # as an inertia of (k_i r)² / K_i, because the integrator runs behind a voltage that ramps
    belief: Array = dataclasses.field(default_factory=_no_rows)  # torque constant in the firmware over the true one [-]; 1
    # what the motor turns against
    damping: Array = dataclasses.field(default_factory=_no_rows)  # d, at the joint [N·m·s/rad]
    friction: Array = dataclasses.field(default_factory=_no_rows)  # τ_f [N·m]
    load_friction: Array = dataclasses.field(default_factory=_no_rows)  # μ: friction per motor torque [-]
    breakaway: Array = dataclasses.field(default_factory=_no_rows)  # τ_s [N·m]: friction(v) = τ_f + μ|τ| + τ_s/(1+(v/v_s)²)
    stribeck_speed: Array = dataclasses.field(default_factory=_no_rows)  # v_s [rad/s]; 0.1
    cogging: Array = dataclasses.field(default_factory=_no_rows)  # amplitude, at the joint [N·m]
    cogging_lobes: Array = dataclasses.field(default_factory=_no_rows)  # periods per joint angle [1/rad]
    cogging_phase: Array = dataclasses.field(default_factory=_no_rows)  # [rad]
    # between rotor and link
    spring: Array = dataclasses.field(default_factory=_no_rows)  # [N·m/rad]; inf: rigid
    damper: Array = dataclasses.field(default_factory=_no_rows)  # [N·m·s/rad]
    backlash: Array = dataclasses.field(default_factory=_no_rows)  # whole play [rad]
    # encoder and firmware
    bias: Array = dataclasses.field(default_factory=_no_rows)  # q_b: the encoder reads q − q_b [rad]
    resolution: Array = dataclasses.field(default_factory=_no_rows)  # of the encoder [rad]; 2π / 2¹⁷
    on_rotor: Array = dataclasses.field(default_factory=_no_rows)  # 1: the encoder sits on the rotor, 0: on the link
    velocity_cutoff: Array = dataclasses.field(default_factory=_no_rows)  # low-pass of the drive's velocity [Hz]; 100
    compensation: bool = False  # firmware mode: the next four act
    virtual_inertia: Array = dataclasses.field(default_factory=_no_rows)  # acceleration feedback [kg·m²]
    friction_aid: Array = dataclasses.field(default_factory=_no_rows)  # friction fed forward [N·m]
    cogging_aid: Array = dataclasses.field(default_factory=_no_rows)  # share of the cogging that is cancelled [-]
    compensation_cutoff: Array = dataclasses.field(default_factory=_no_rows)  # low-pass of the acceleration [Hz]; 60
    # clocks
    step: float = 5e-5  # of the electrics, and of both loops [s]
    dead_time: float = 0.0  # from a voltage asked for to the voltage at the winding [s]; whole steps

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(self.joints))
        for field in dataclasses.fields(self):
            if field.name not in ("joints", "compensation", "step", "dead_time"):
                object.__setattr__(self, field.name, self._row(field.name, getattr(self, field.name)))
        if not 0 < self.step <= 1e-4:
            raise SurefootError(f"the electrical step is {self.step:g} s; it must be above 0 and at most 1e-4 (10 kHz).")
        if not 0 <= self.dead_time <= 20 * self.step:
            raise SurefootError(f"the dead time is {self.dead_time:g} s; it must lie between 0 and 20 steps.")
        for j in np.flatnonzero((self.backlash > 0) & np.isinf(self.spring)):
            raise SurefootError(f"joint {self.joints[j]} has backlash but no spring; give its spring a stiffness [N·m/rad].")

    def _row(self, name: str, value: ArrayLike) -> Array:
        rows = np.asarray(value, dtype=float)
        if rows.size == 0:
            rows = np.full(self.n, DEFAULTS.get(name, 0.0))
        shape = (self.n, rows.shape[-1] if rows.ndim == 2 else 2) if name.startswith("gear_") else (self.n,)
        try:
            rows = np.broadcast_to(rows, shape).copy()
        except ValueError:
            raise SurefootError(f"{name} of the drives has shape {rows.shape}; {self.n} joints need {shape}.") from None
        bad = np.isnan(rows) | (np.isinf(rows) & (name != "spring"))
        if name not in SIGNED:
            bad |= rows <= 0 if name in POSITIVE else rows < 0
        for j in np.flatnonzero(bad.reshape(self.n, -1).any(axis=1)):
            rule = "finite" if name in SIGNED else "above 0" if name in POSITIVE else "at least 0"
            raise SurefootError(f"{name} of joint {self.joints[j]}'s drive is {rows[j]}; it must be {rule}.")
        rows.setflags(write=False)
        return rows

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joints)

    @property
    def elastic(self) -> Array:
        """Which joints have a spring between rotor and link."""
        return np.isfinite(self.spring)

    @property
    def dead_steps(self) -> int:
        """The dead time in electrical steps."""
        return round(self.dead_time / self.step)

    def ratio(self, position: Array) -> Array:
        """Gear ratio r(q) [-], shape (n,)."""
        reach = np.clip(position[:, None] - self.gear_position[:, :-1], 0.0, np.diff(self.gear_position))
        return self.gear_ratio[:, 0] + (reach * self._slopes).sum(axis=1)

    @property
    def _slopes(self) -> Array:
        return np.diff(self.gear_ratio) / np.diff(self.gear_position)

    def slope(self, position: Array) -> Array:
        """dr/dq [1/rad], shape (n,)."""
        low, high = self.gear_position[:, :-1], self.gear_position[:, 1:]
        inside = (position[:, None] >= low) & (position[:, None] < high)
        return (inside * self._slopes).sum(axis=1)

    def reflected_inertia(self, position: Array) -> Array:
        """Rotor inertia at the joint, J r² [kg·m²], shape (n,)."""
        return self.rotor_inertia * self.ratio(position) ** 2

    def replace(self, **changes: Any) -> Self:
        """The same drives with some numbers changed; one number for all joints or one per joint."""
        valid = tuple(field.name for field in dataclasses.fields(self))
        if wrong := [name for name in changes if name not in valid]:
            raise unknown("property of a drive", wrong, valid)
        return dataclasses.replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers for JSON; infinity is None."""
        plain = lambda x: [plain(y) for y in x] if isinstance(x, list) else None if x == math.inf else x  # noqa: E731
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {k: plain(v.tolist()) if isinstance(v, np.ndarray) else list(v) if k == "joints" else v for k, v in values.items()}


class Motors:
    """The drives at work: a command and the links' motion go in, torque on the links comes out."""

    def __init__(self, drives: Drives, position: Array, engine: Engine = "kernel") -> None:
        self.drives, h = drives, drives.step
        self.block = block = Block(drives.n, h, drives.dead_steps, engine)
        self._rigid, self._table = ~drives.elastic, bool(np.ptp(drives.gear_ratio, axis=1).any())
        lag = lambda cutoff: 1 - np.exp(-2 * np.pi * cutoff * h)  # noqa: E731
        decay = np.exp(-drives.resistance * h / drives.inductance)
        on = float(drives.compensation)
        values = {
            "elastic": drives.elastic, "on_rotor": drives.on_rotor, "bias": drives.bias, "resolution": drives.resolution,
            "per_resolution": 1 / drives.resolution, "share": lag(drives.velocity_cutoff),
            "slope_share": lag(drives.compensation_cutoff), "virtual_inertia": on * drives.virtual_inertia,
            "friction_aid": on * drives.friction_aid, "cogging_aid": on * drives.cogging_aid,
            "constant": drives.torque_constant, "current_limit": drives.current_limit, "gain": drives.current_gain,
            "integral_gain": drives.current_integral * h, "unwind": drives.current_integral * h / drives.current_gain,
            "emf_aid": drives.emf_aid, "blanking": drives.blanking, "decay": decay,
            "conductance": (1 - decay) / drives.resistance,
            "cogging": drives.cogging, "lobes": drives.cogging_lobes, "phase": drives.cogging_phase,
            "friction": drives.friction, "load_friction": drives.load_friction, "breakaway": drives.breakaway,
            "per_stribeck": 1 / drives.stribeck_speed, "damping": h * drives.damping,
            "spring": np.where(drives.elastic, drives.spring, 0.0), "damper": drives.damper, "play": drives.backlash / 2,
        }  # fmt: skip
        for name, value in values.items():
            block.part(name)[:] = value
        self._geared(position)
        self.reset(position)

    def reset(self, position: Array) -> None:
        """Everything at rest at a joint position [rad]; no current flows."""
        block = self.block
        block.state[:] = 0.0
        seat = np.asarray(position, float)
        block.now("link")[:] = block.now("rotor")[:] = seat
        block.now("reading")[:] = self.reading()

    def reading(self) -> Array:
        """What the encoders say now [rad], shape (n,)."""
        d, block = self.drives, self.block
        link = block.now("link")
        seat = link + d.on_rotor * (np.where(d.elastic, block.now("rotor"), link) - link)
        return d.resolution * np.rint((seat - d.bias) / d.resolution)

    def command(
        self, *, target: ArrayLike, stiffness: ArrayLike, damping: ArrayLike, target_velocity: ArrayLike = 0.0,
        feedforward: ArrayLike = 0.0, on: bool = True,
    ) -> None:  # fmt: skip
        """What the drives are asked for from now on; `on` False shorts the windings, which brakes."""
        given = {"target": target, "stiffness": stiffness, "gain_damping": damping, "target_velocity": target_velocity,
                 "feedforward": feedforward, "on": float(on)}  # fmt: skip
        for name, value in given.items():
            self.block.input(name)[:] = value

    def advance(self, position: Array, velocity: Array, bus: float, steps: int) -> Array:
        """Mean torque on the links [N·m], shape (n,), over so many electrical steps from a motion of the links."""
        block = self.block
        block.now("link")[:] = position
        block.input("link_velocity")[:] = velocity
        block.input("bus")[:] = bus
        if self._table:
            self._geared(position)
        block.advance(steps)
        self.steps = steps
        return block.total("torque") / steps

    def _geared(self, position: Array) -> None:
        d, block = self.drives, self.block
        r = d.ratio(position)
        block.input("ratio")[:] = r
        block.input("per_torque")[:] = 1 / (d.torque_constant * d.belief * r)
        block.input("inertia")[:] = inertia = d.rotor_inertia * r**2
        block.input("mobility")[:] = d.step / inertia

    # --- where the joint is rigid the rigid bodies carry rotor, damping and friction ---------------------------------------
    def armature(self) -> Array:
        """What a rigid joint's rotor adds to its link [kg·m²], shape (n,); 0 where elastic."""
        return self._rigid * self.block.input("inertia")

    def rigid_friction(self, velocity: Array) -> Array:
        """τ_f + μ|τ| + τ_s / (1 + (v/v_s)²) of rigid joints at this moment [N·m], shape (n,); 0 where elastic."""
        d = self.drives
        load = d.load_friction * np.abs(self.motor_torque())
        return self._rigid * (d.friction + load + d.breakaway / (1 + (velocity / d.stribeck_speed) ** 2))

    def gear_torque(self, position: Array, velocity: Array) -> Array:
        """−J r r′ q̇²: what a changing ratio does to a rigid joint's rotor [N·m], shape (n,)."""
        if not self._table:
            return np.zeros(self.drives.n)
        d = self.drives
        return self._rigid * d.rotor_inertia * self.block.input("ratio") * d.slope(position) * -(velocity**2)

    # --- what the drives know, and what they use, over the last call ----------------------------------------------------
    def velocity(self) -> Array:
        """The drives' own filtered velocity [rad/s], shape (n,)."""
        return self.block.now("seen")

    def current(self) -> Array:
        """i_q at this moment [A], shape (n,)."""
        return self.block.now("current")

    def motor_torque(self) -> Array:
        """Mean of k_i r i [N·m], shape (n,)."""
        return self.block.total("motor_torque") / max(self.steps, 1)

    def power(self) -> Array:
        """Mean power drawn from the bus [W], shape (n,); negative where a joint brakes into it."""
        return self.block.total("power") / max(self.steps, 1)

    def copper_loss(self) -> Array:
        """Mean of R i² [W], shape (n,)."""
        return self.drives.resistance * self.block.total("square") / max(self.steps, 1)

    def inverter_loss(self) -> Array:
        """Mean of the voltage that the inverter loses times i [W], shape (n,)."""
        return self.block.total("inverter") / max(self.steps, 1)

    def transmission_loss(self) -> Array:
        """Mean heat of friction, damping and damper in elastic joints [W], shape (n,); 0 where rigid."""
        return self.block.total("rubbing") / max(self.steps, 1)

    steps: int = 0
