"""The drives of N robots between two physics steps, for engines whose actuators give clip(c − P q − D q̇, low, high).

A target that arrives every S h seconds is held until the next one. The drive feels it T_d later, and in each physics step the
mean of what was in force while the step lasted, as in a replay of held commands (simulate/command.py):

    û_i = Σ_k W_ik u_k,    W_ik = |[t_i − T_d, t_i − T_d + h] ∩ [k S h, (k + 1) S h]| / h,

u_0 the newest target, u_−1 the one before it, t_i = i h. Then the joint-limit saturation, at the drive's own rate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.robot.drive import drive_torque, safe_target, torque_bounds
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.inair import smoothing
from surefoot.simulate.physics import Physics

Array = np.ndarray


@dataclass(frozen=True, kw_only=True, eq=False)
class Effort:
    """What an engine's actuators need for one physics step; each of shape (N, n)."""

    control: Array  # c [N·m]
    low: Array  # [N·m]
    high: Array  # [N·m]
    friction: Array | None  # Coulomb friction in this step [N·m]; None: that of the model


class Drives:
    """Commands on their way, and what the drives make of them; `dynamics` is one candidate or one per robot."""

    def __init__(self, robot: Robot, dynamics: JointDynamics, physics: Physics, *, robots: int, substeps: int) -> None:
        self.robot, self.dynamics, self.physics = robot, dynamics, physics
        self.robots, self.substeps = robots, substeps
        self.stiffness = robot.stiffness * dynamics.gain_scale  # P [N·m/rad], shape (n,) or (N, n)
        self.damping = robot.damping * dynamics.gain_scale  # D [N·m·s/rad]
        self.share = smoothing(dynamics.cutoff, physics.timestep)  # of a new velocity in the filtered one
        on_command = physics.delay_on == "command"
        self.weights = delay_weights(dynamics.delay * on_command, physics.timestep, substeps)  # shape (S, K, 1 or N, 1 or n)
        self.past = np.zeros((self.weights.shape[1], robots, robot.n))  # targets u_0, u_−1, ...; shape (K, N, n)
        self.fresh = np.ones(robots, dtype=bool)  # reset since the last target
        self.seen = np.zeros((robots, robot.n))  # filtered velocity [rad/s]
        steps_back = 0 if on_command else int(np.floor(dynamics.delay.max() / physics.timestep)) + 2
        self.efforts = np.zeros((steps_back, robots, robot.n))  # torques on their way, the newest first
        self.starting = np.ones(robots, dtype=bool)  # reset since the last physics step

    @property
    def offset(self) -> Array:
        """Joint position minus encoder reading [rad]."""
        return self.dynamics.bias if self.physics.bias_form == "encoder" else np.zeros(self.robot.n)

    @property
    def feedback(self) -> tuple[Array, Array]:
        """P and D of the engine's actuators, zero where they give an old torque; shape (n,) or (N, n)."""
        immediate = float(self.physics.delay_on == "command")
        return self.stiffness * immediate, self.damping * self.share * immediate

    def reset(self, which: Array) -> None:
        """Forget the commands of these robots: before their next target it was that target."""
        self.fresh[which] = True
        self.starting[which] = True
        self.seen[which] = 0.0

    def hold(self, which: Array, target: Array) -> None:
        """These robots' command is and was `target` [rad] until the next one comes."""
        self.past[:, which] = target

    def command(self, target: Array) -> None:
        """A new target u_0 [rad], shape (N, n)."""
        self.past = np.roll(self.past, 1, axis=0)
        self.past[0] = target
        self.past[:, self.fresh] = target[self.fresh]
        self.fresh[:] = False

    def felt(self, step: int, q: Array) -> Array:
        """The delayed command of physics step `step` after the joint-limit saturation at true q [rad], shape (N, n)."""
        return safe_target(self.robot, (self.weights[step] * self.past).sum(0), q - self.offset)

    def effort(self, step: int, q: Array, v: Array) -> Effort:
        """The actuators' input for physics step `step` of the control step, at true q and q̇, each (N, n)."""
        dyn, old = self.dynamics, self.seen
        target = self.felt(step, q)
        self.seen = old + self.share * (v - old)
        low, high = torque_bounds(self.robot, q, v)
        control = self.stiffness * (target + dyn.bias) - self.damping * (1 - self.share) * old
        friction = None
        if self.physics.delay_on == "torque" or self._load_dependent:
            torque = drive_torque(
                self.robot, target, q, v,
                stiffness=self.stiffness, damping=self.damping, bias=dyn.bias, filtered_velocity=self.seen,
            )  # fmt: skip
            if self.physics.delay_on == "torque":
                torque = control = self._delayed(torque)
                low, high = np.full_like(low, -np.inf), np.full_like(high, np.inf)
            if self._load_dependent:
                rise = dyn.load_friction * np.abs(torque) + dyn.breakaway / (1 + (v / dyn.stribeck_speed) ** 2)
                friction = dyn.friction + rise
        return Effort(control=control, low=np.maximum(low, -1e30), high=np.minimum(high, 1e30), friction=friction)

    @property
    def _load_dependent(self) -> bool:
        """Coulomb friction changes from step to step."""
        return bool(self.dynamics.load_friction.any() or self.dynamics.breakaway.any())

    def _delayed(self, torque: Array) -> Array:
        """The torque of T_d ago, linear between physics steps; before the first step it was what it was then."""
        self.efforts = np.roll(self.efforts, 1, axis=0)
        self.efforts[0] = torque
        self.efforts[:, self.starting] = torque[self.starting]
        self.starting[:] = False
        back = np.broadcast_to(self.dynamics.delay, torque.shape) / self.physics.timestep
        whole = np.floor(back).astype(int)
        take = lambda k: np.take_along_axis(self.efforts, k[None], axis=0)[0]  # noqa: E731
        return take(whole) + (back - whole) * (take(whole + 1) - take(whole))


def delay_weights(delay: Array, h: float, substeps: int) -> Array:
    """W, shape (S, K, 1 or N, 1 or n): how much of each physics step each of the last K targets fills. Rows sum to 1.

    `delay` T_d [s] has the shape (1,), (n,), (N, 1) or (N, n).
    """
    period = substeps * h
    delay = np.atleast_2d(np.asarray(delay, dtype=float))
    count = int(np.ceil(delay.max() / period - 1e-9)) + 1
    start = (np.arange(substeps) * h)[:, None, None, None] - delay  # of the step, as the drive's clock has it
    left = (-np.arange(count) * period)[None, :, None, None]  # when each target arrived
    right = np.where(left == 0, np.inf, left + period)
    overlap = np.minimum(start + h, right) - np.maximum(start, left)
    overlap = np.clip(overlap, 0.0, None)
    return overlap / overlap.sum(axis=1, keepdims=True)  # h, but for rounding
