"""The in-air replay with any other drive in the place of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from surefoot.record.recording import Recording
from surefoot.robot.drive import torque_bounds
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.physics import Physics
from surefoot.simulate.plug import Drive
from surefoot.simulate.reference import Reference, ReplayedDrives

Array = np.ndarray


class Driven(Reference):
    """The in-air replay of `Reference` with another drive: MuJoCo's step, the drive's torque constant while it lasts.

    The candidate's armature, damping and friction act beside the drive; its delay and gains are the drive's own affair, and are
    left at zero. `drive` makes a new one for every candidate.
    """

    def __init__(self, robot: Robot, recording: Recording, physics: Physics, drive: Callable[[], Drive]) -> None:
        super().__init__(robot, recording, physics)
        self.make = drive

    def drive(self, dynamics: JointDynamics) -> ReplayedDrives:
        """The drive behind the border, as this replay asks it."""
        return _Plugged(self, dynamics, self.make())


class _Plugged(ReplayedDrives):
    """Commands as the replay samples them, the torque from behind the border."""

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
