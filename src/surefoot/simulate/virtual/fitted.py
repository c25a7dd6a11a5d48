"""The fitted simulation as a machine: the world that a policy was trained in, behind the border that hardware stands behind.

The controller that walks a robot walks this as well, so that the two can be held beside each other.
"""

from __future__ import annotations

import numpy as np

from surefoot.errors import SurefootError
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.energy import GRAVITY
from surefoot.robot.hardware import Command, State
from surefoot.robot.spec import Robot
from surefoot.simulate.frames import to_base, to_world
from surefoot.simulate.on_ground import make_world
from surefoot.simulate.physics import Physics
from surefoot.simulate.world import Start

Array = np.ndarray


class FittedHardware:
    """One robot of the training world on flat ground. A period is one physics step; commands hold until the next."""

    def __init__(self, robot: Robot, dynamics: JointDynamics, physics: Physics) -> None:
        self.robot, self.joints, self.period = robot, robot.joints, physics.timestep
        self.world = make_world(robot, dynamics, physics=physics, robots=1, substeps=1, threads=1)
        home = np.array([[0.0, 0.0, self.world.stand_height]])
        upright = np.array([[1.0, 0.0, 0.0, 0.0]])
        self.world.reset(np.array([0]), Start(position=home, quaternion=upright, joint_position=robot.posture[None]))
        self._steps, self._target = 0, np.array(robot.posture)
        self._armed = False
        self._now = self.world.read()

    def set_gains(self, stiffness: Array, damping: Array) -> None:
        """Gains are those of the world; others are refused."""
        for name, given in (("stiffness", stiffness), ("damping", damping)):
            mine = getattr(self.robot, name)
            for j in np.flatnonzero(~np.isclose(mine, given)):
                raise SurefootError(
                    f"the fitted simulation has {name} {mine[j]:g} of joint {self.joints[j]}, not {np.asarray(given)[j]:g}; use "
                    "the robot.toml that the policy was trained with."
                )
        self._armed = True

    def read(self) -> State:
        """One step later. A damped robot's target is where its joints are: its drives only brake."""
        before = to_world(self._now.quaternion, self._now.velocity)[0]
        target = self._target if self._armed else self._now.encoder[0]
        motion = self.world.step(target[None])
        self._steps += 1
        if motion.diverged.any():
            raise SurefootError("the simulation diverged; use a smaller --timestep in training.")
        self._now = now = self.world.read()
        after = to_world(now.quaternion, now.velocity)[0]
        felt = (after - before) / self.period + np.array([0.0, 0.0, GRAVITY])
        more = {"imu_angular_velocity": now.rate[0], "imu_acceleration": to_base(now.quaternion[0], felt)}
        return State(time=self._steps * self.period, position=now.encoder[0], velocity=now.joint_velocity[0],
                     torque=motion.torque[0, -1], more=more)  # fmt: skip

    def write(self, command: Command) -> None:
        """Targets from the next step on."""
        self._target = np.array(command.target, dtype=float)

    def damp(self) -> None:
        """Only brake."""
        self._armed = False

    def close(self) -> None:
        """Leave it damped."""
        self.damp()

    def truth(self) -> dict[str, Array]:
        """True motion of joints, base and feet, as a virtual robot gives it."""
        now = self._now
        return {
            "joint_position": now.joint_position[0], "joint_velocity": now.joint_velocity[0],
            "base_position": now.position[0], "base_orientation": now.quaternion[0],
            "base_velocity": to_world(now.quaternion, now.velocity)[0],
            "base_angular_velocity": to_world(now.quaternion, now.rate)[0],
            "contact": now.foot_contact[0].astype(float),
        }  # fmt: skip
