"""Any other drive in the place of ours: the border that a learned or foreign actuator stands behind, and its in-air replay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from surefoot.record.recording import Recording
from surefoot.robot.drive import torque_bounds
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.physics import Physics
from surefoot.simulate.reference import Drives, Reference

Array = np.ndarray


class Drive(Protocol):
    """The drives of N robots with n joints each: commands in, torque out, once every physics step. It may remember.

    A drive that runs slower than the physics holds its torque in between by itself. Delay, gains and saturation that it was
    learned with are inside it; whoever asks it still keeps the torque within the robot's own limits.
    """

    def begin(self, robots: int, joints: tuple[str, ...], timestep: float, stiffness: Array, damping: Array) -> None:
        """N robots that have stood still for ever, joints in this order, gains in force of shape (n,); called before `torque`.

        A drive that does not suit these joints, this step or these gains says so here.
        """
        ...

    def reset(self, which: Array) -> None:
        """The robots `which` (indices) have stood still for ever again."""
        ...

    def torque(self, target: Array, target_velocity: Array, encoder: Array, velocity: Array) -> Array:
        """Torque at the joints [N·m] for û, û̇, q − q_b and q̇, all of shape (N, n)."""
        ...


class Driven(Reference):
    """The in-air replay of `Reference` with another drive: MuJoCo's step, the drive's torque constant while it lasts.

    The candidate's armature, damping and friction act beside the drive; its delay and gains are the drive's own affair, and are
    left at zero. `drive` makes a new one for every candidate.
    """

    def __init__(self, robot: Robot, recording: Recording, physics: Physics, drive: Callable[[], Drive]) -> None:
        super().__init__(robot, recording, physics)
        self.make = drive

    def drive(self, dynamics: JointDynamics) -> Drives:
        """The drive behind the border, as this replay asks it."""
        return _Plugged(self, dynamics, self.make())


class _Plugged(Drives):
    """Commands as `Drives` samples them, the torque from behind the border."""

    def __init__(self, reference: Driven, dynamics: JointDynamics, drive: Drive) -> None:
        super().__init__(reference, dynamics)
        rec = reference.recording
        self.drive = drive
        drive.begin(1, rec.joints, reference.physics.timestep, rec.stiffness, rec.damping)

    def write(self, i: int, q: Array, v: Array, model: Any, data: Any) -> Array:
        """The torque of step i, kept within the robot's limits; nothing where the drive is off."""
        ref = self.of
        on = np.ones(len(q)) if ref.schedule.enabled is None else ref.schedule.enabled[i]
        on = on * ~ref.schedule.given
        asked = self.drive.torque(self.target[i : i + 1], self.rate[i : i + 1], (q - self.dynamics.bias)[None], v[None])[0]
        low, high = torque_bounds(ref.drives, q, v)
        torque = np.clip(asked + self.forward[i], low, high) * on
        self.saturated += ((torque <= low) | (torque >= high)) & (on > 0)
        model.actuator_biasprm[:, 1:3] = 0.0
        data.ctrl[:] = torque
        return torque
