"""Any other drive in the place of ours: the border that a learned or foreign actuator stands behind, and its place in a world."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from surefoot.robot.drive import torque_bounds
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.drives import Drives, Effort
from surefoot.simulate.physics import Physics

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


class OtherDrives(Drives):
    """N robots in a world whose drives stand behind the border; the torque is constant while a physics step lasts.

    Armature, damping and friction of `dynamics` act beside the drive, its bias is the encoder's, its delay
    is felt before the drive.
    """

    def __init__(
        self, robot: Robot, dynamics: JointDynamics, physics: Physics, *, robots: int, substeps: int, drive: Drive
    ) -> None:  # fmt: skip
        super().__init__(robot, dynamics, physics, robots=robots, substeps=substeps)
        self.drive = drive
        drive.begin(robots, robot.joints, physics.timestep, robot.stiffness, robot.damping)

    @property
    def feedback(self) -> tuple[Array, Array]:
        """None: the engine's actuators give what the drive says."""
        return np.zeros(self.robot.n), np.zeros(self.robot.n)

    def reset(self, which: Array) -> None:
        """Forget the commands of these robots, and what their drives remember."""
        super().reset(which)
        self.drive.reset(which)

    def effort(self, step: int, q: Array, v: Array) -> Effort:
        """The drive's torque, kept within the robot's limits, at true q and q̇, each (N, n)."""
        encoder = q - self.offset
        target = self.felt(step, q)
        low, high = torque_bounds(self.robot, q, v)
        torque = np.clip(self.drive.torque(target, np.zeros_like(target), encoder, v), low, high)
        free = np.full_like(torque, 1e30)
        return Effort(control=torque, low=-free, high=free, friction=None)
