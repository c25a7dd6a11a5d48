"""Robots that stand, hang or fall, for the tests of the training world."""

import numpy as np

from surefoot.record.recording import Recording
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.on_ground import OnGround, make_world
from surefoot.simulate.physics import Physics
from surefoot.simulate.schedule import Schedule
from surefoot.simulate.world import Start

Array = np.ndarray
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def start(world: OnGround, robot: Robot, count: int, *, lift: float = 0.0, **more: Array) -> Start:
    """On the first spot, at the posture, `lift` above standing."""
    spot = world.terrain.spots[0, 0]
    given = {
        "position": np.tile(spot + np.array([0, 0, world.stand_height + lift]), (count, 1)),
        "quaternion": np.tile(UPRIGHT, (count, 1)),
        "joint_position": np.tile(robot.posture, (count, 1)),
    }
    return Start(**given | more)


def placed(robot: Robot, *, robots: int = 1, lift: float = 0.0, substeps: int = 4, h: float = 0.005, **more) -> OnGround:
    """A world whose robots stand at the posture, or begin `lift` above it."""
    dynamics = more.pop("dynamics", robot.dynamics)
    world = make_world(robot, dynamics, physics=Physics(timestep=h), robots=robots, substeps=substeps, **more)
    world.reset(np.arange(robots), start(world, robot, robots, lift=lift))
    return world


def hung(
    robot: Robot, recording: Recording, dynamics: JointDynamics, physics: Physics, *, substeps: int = 1, engine="batch"
) -> Array:
    """A recording replayed in the training world with the base fixed: encoder readings at its stamps, shape (T, n)."""
    world = make_world(robot, dynamics, physics=physics, robots=1, substeps=substeps, fixed=True, engine=engine)
    schedule = Schedule.of(recording, physics)
    q = schedule.start_position + world.drives.offset
    begin = start(world, robot, 1, joint_position=q[None], joint_velocity=schedule.start_velocity[None])
    world.reset(np.array([0]), begin)
    readings = []
    for target in recording.target:
        readings.append(world.read().encoder[0])
        world.step(target[None])
    return np.array(readings)
