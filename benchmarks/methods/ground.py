"""A drive network under robots that stand on the ground, in the world that policies are trained in."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from surefoot import Robot
from surefoot.networks import Network
from surefoot.simulate import Physics
from surefoot.simulate.on_ground import make_world
from surefoot.simulate.world import Start

ROBOTS, SUBSTEPS, SECONDS = 16, 8, 2.0


def walk_on_the_spot(file: Path, name: str = "anymal", timestep: float = 0.0025) -> tuple[float, int, float]:
    """Lift the feet in turn, 1.5 times a second: lowest base height over the standing one [-], robots lost, largest torque [N·m].

    No policy corrects anything, so a few seconds are all that it can be asked for: the vendor's ANYdrive network gives half a N·m
    at rest, by which the robot leans to one side and tips over after four seconds.
    """
    robot, network = Robot.load(name), Network.load(file)
    beside = network.convention.dynamics(robot.joints)
    world = make_world(robot, beside, physics=Physics(timestep=timestep), robots=ROBOTS, substeps=SUBSTEPS, drive=network.drive())
    place = np.tile([0.0, 0.0, world.stand_height], (ROBOTS, 1))
    upright, posture = np.tile([1.0, 0, 0, 0], (ROBOTS, 1)), np.tile(robot.posture, (ROBOTS, 1))
    world.reset(np.arange(ROBOTS), Start(position=place, quaternion=upright, joint_position=posture))
    lowest, torque = np.inf, 0.0
    knee = np.array([j.endswith("KFE") for j in robot.joints])
    sense = np.sign(robot.posture) * knee
    pair = np.array([0.0 if j.startswith(("LF", "RH")) else np.pi for j in robot.joints])
    control = SUBSTEPS * timestep
    for i in range(int(SECONDS / control)):
        lift = np.maximum(np.sin(2 * np.pi * 1.5 * i * control + pair), 0.0) * min(1.0, i * control)
        motion = world.step(posture + 0.15 * sense * lift)
        lowest, torque = min(lowest, float(world.read().position[:, 2].min())), max(torque, float(np.abs(motion.torque).max()))
    return lowest / world.stand_height, world.diverged, torque
