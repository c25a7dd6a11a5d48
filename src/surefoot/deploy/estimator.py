"""How the base moves, from what a robot has: its IMU, its encoders, and which feet carry it. Never the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from surefoot.errors import SurefootError
from surefoot.robot.dynamics import Array, JointDynamics
from surefoot.robot.energy import GRAVITY
from surefoot.robot.hardware import State

CALM = 0.3  # [-] a specific force within this share of 9.81 m/s² says where down is
CREEP = 0.1  # [rad/s] friction acts fully beyond this speed
IMU = ("imu_angular_velocity", "imu_acceleration")


class Kinematics(Protocol):
    """The feet in base axes, the base's origin at zero: `surefoot.simulate.feet.Feet`, or a robot's own."""

    names: tuple[str, ...]
    mass: float  # of the robot [kg]
    point: Array  # p: where each foot meets the ground [m], shape (F, 3)
    jacobian: Array  # ∂p/∂q, shape (F, 3, n)

    def update(self, position: Array, gravity: Array) -> None:
        """Fill the arrays at joint positions [rad], with gravity along a unit vector in base axes."""
        ...

    def torque(self, velocity: Array, acceleration: Array, rate: Array, force: Array) -> Array:
        """Torque that moves the links so, if no foot touched anything [N·m], shape (n,)."""
        ...


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """How much the estimator trusts what it hears."""

    levelling: float = 2.0  # time constant with which the accelerometer levels the gyroscope's integral [s]
    stance: float = 0.1  # time constant with which feet that stand correct the velocity [s]
    beside: float = 0.6  # a foot that carries less than this share of what the heaviest one does is not asked: it may slide [-]
    acceleration: float = 0.005  # time constant of the joints' acceleration, a difference of their velocity [s]
    load: float = 0.2  # a foot carries from this share of the robot's weight on ...
    unload: float = 0.1  # ... down to this one [-]
    light: float = 0.3  # feet that together carry less than this share of the weight correct nothing: a robot flies then, ...
    heavy: float = 0.7  # ... and what is felt is a leg that swings; from this share on they correct fully [-]


class Estimator:
    """Velocity and gravity in base axes.

    Gravity's direction turns with the gyroscope, ġ = −ω × g, and is levelled by the accelerometer, which on average feels
    f = −9.81 g. Velocity is the integral of v̇ = f + 9.81 g − ω × v, corrected by the feet that carry most, each as much as it
    does: its point on the ground stands still, v + ω × p + J q̇ = 0. The force F of the ground on a foot is felt in the joints:
    τ − I_a q̈ − d q̇ − τ_f sign(q̇) + Jᵀ F = the torque that moves the leg itself, with the identified I_a, d and τ_f.
    """

    def __init__(self, kinematics: Kinematics, dynamics: JointDynamics, tuning: Tuning | None = None) -> None:
        self.kinematics, self.dynamics, self.tuning = kinematics, dynamics, tuning or Tuning()
        feet = len(kinematics.names)
        self.linear = np.zeros(3)  # v [m/s]
        self.angular = np.zeros(3)  # ω [rad/s]
        self.gravity = np.array([0.0, 0.0, -1.0])  # g, a unit vector
        self.contact = np.zeros(feet, dtype=bool)
        self._time: float | None = None
        self._levelled = False
        self._share = np.zeros(feet)  # of the robot's weight, on each foot
        self._velocity = np.zeros(len(dynamics.joints))  # the last [rad/s]
        self._acceleration = np.zeros(len(dynamics.joints))  # [rad/s²]

    def update(self, state: State) -> None:
        """Take one state of the machine; `linear`, `angular`, `gravity` and `contact` are then those of its time."""
        rate, force = (self._imu(state, name) for name in IMU)
        first, step = self._time is None, 0.0 if self._time is None else state.time - self._time
        self._time = state.time
        self.angular[:] = rate
        self._level(force, step)
        self.kinematics.update(state.position, self.gravity)
        self._feel(state, rate, force, step)
        self.linear += step * (force + GRAVITY * self.gravity - _cross(rate, self.linear))
        self._stand(state, rate, step, first)

    def _imu(self, state: State, name: str) -> Array:
        if name not in state.more:
            raise SurefootError(
                f"the machine gives no {name}, and without an IMU nobody knows how the base moves. Put it into the `more` of its "
                "states: imu_angular_velocity [rad/s] and imu_acceleration (specific force) [m/s²], in base axes."
            )
        return np.asarray(state.more[name], dtype=float)

    def _level(self, force: Array, step: float) -> None:
        """ġ = −ω × g, and toward −f / ‖f‖ as far as ‖f‖ is that of rest; the first time at once."""
        size = float(np.sqrt(force @ force))
        calm = max(0.0, 1.0 - abs(size - GRAVITY) / (CALM * GRAVITY))
        if not self._levelled:
            if calm > 0:
                self.gravity[:], self._levelled = force / -size, True
            return
        turned = self.gravity - step * _cross(self.angular, self.gravity)
        if calm > 0:
            turned += step / self.tuning.levelling * calm * (force / -size - turned)
        self.gravity[:] = turned / np.sqrt(turned @ turned)

    def _feel(self, state: State, rate: Array, force: Array, step: float) -> None:
        """Which feet carry, and how much: said by the machine as `contact`, or felt in the torques."""
        if "contact" in state.more:
            self.contact[:] = np.asarray(state.more["contact"]) > 0.5
            self._share[:] = self.contact
            return
        if state.torque is None:
            raise SurefootError(
                "the machine reports neither torques nor contacts, so nobody knows which feet carry. Give State.torque, or "
                "`contact` (one number per foot, 0 or 1) in its `more`."
            )
        if step > 0:
            change = (state.velocity - self._velocity) / step - self._acceleration
            self._acceleration += (1.0 - np.exp(-step / self.tuning.acceleration)) * change
        self._velocity[:] = state.velocity
        k, own = self.kinematics, self.dynamics
        link = state.torque - own.armature * self._acceleration - own.damping * state.velocity
        link -= own.friction * np.tanh(state.velocity / CREEP)
        legs = k.torque(state.velocity, self._acceleration, rate, force)
        j = k.jacobian
        grip = j @ j.transpose(0, 2, 1) + 1e-6 * np.eye(3)
        up = -np.linalg.solve(grip, (j @ (legs - link))[..., None])[..., 0] @ self.gravity
        self._share[:] = up / (k.mass * GRAVITY)
        self.contact[:] = self._share > np.where(self.contact, self.tuning.unload, self.tuning.load)

    def _stand(self, state: State, rate: Array, step: float, first: bool) -> None:
        """Feet that carry stand still: v = −(ω × p + J q̇), their mean weighted by what they carry."""
        if not self.contact.any():
            return
        k = self.kinematics
        load = np.where(self.contact, self._share, 0.0)
        trust = min(max((load.sum() - self.tuning.light) / (self.tuning.heavy - self.tuning.light), 0.0), 1.0)
        load[load < self.tuning.beside * load.max()] = 0.0
        standing = -(load @ (k.jacobian @ state.velocity + np.cross(rate, k.point))) / load.sum()
        share = 1.0 if first else trust * (1.0 - np.exp(-step / self.tuning.stance))
        self.linear += share * (standing - self.linear)


def _cross(a: Array, b: Array) -> Array:
    """a × b of two vectors, ten times as fast as NumPy's general one."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
