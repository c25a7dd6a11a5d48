"""How fast the training world steps, and what its drives, sensors and terrain cost on top of the bare physics, in one run.

  python benchmarks/world.py [--robots 512] [--seconds 4]

ANYmal on the ground, physics of 5 ms, 4 physics steps to a control step (50 Hz), random targets about the posture; robots that
fall are set up again. An env-step is one control step of one robot.

- bare: `mujoco.batch` on the same model from the same states, 4 steps in one call, constant control and nothing read.
- world: `OnGround.step` and `read`, whole: delayed commands, joint-limit saturation and torque-speed envelope at every physics
  step, all sensors, everything a task reads.
- paper: the same on the height field of the paper's terrains; and the height scan of the critic by itself.

Exits with 1 when the world on flat ground reaches less than 0.6 of the bare physics.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import numpy as np
from mujoco.batch import Batch
from rich.console import Console
from rich.table import Table

from common import header
from surefoot import Physics, Robot
from surefoot.simulate.on_ground import OnGround, make_world
from surefoot.simulate.terrain import Terrain, terrain
from surefoot.simulate.world import Start

TARGET = 0.6
SUBSTEPS = 4
WAVES = 0.2  # [rad] spread of the random targets


def standing(robot: Robot, ground: Terrain, robots: int) -> OnGround:
    """A world whose robots stand on its spots."""
    assert robot.dynamics is not None
    physics = Physics(timestep=0.005)
    world = make_world(robot, robot.dynamics, physics=physics, robots=robots, substeps=SUBSTEPS, terrain=ground)
    stand(world, np.arange(robots))
    return world


def stand(world: OnGround, which: np.ndarray) -> None:
    """Set these robots up on their spots."""
    spots = world.terrain.spots.reshape(-1, 3)[which % len(world.terrain.spots.reshape(-1, 3))]
    k = len(which)
    upright = np.tile([1.0, 0.0, 0.0, 0.0], (k, 1))
    posture = np.tile(world.robot.posture, (k, 1))
    world.reset(which, Start(position=spots + np.array([0, 0, world.stand_height]), quaternion=upright, joint_position=posture))


def rate(step: Callable[[], None], robots: int, seconds: float) -> tuple[float, float]:
    """Env-steps per second, and per second of one core's time."""
    for _ in range(10):
        step()
    wall, core, count = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() - wall < seconds:
        step()
        count += robots
    return count / (time.perf_counter() - wall), count / (time.process_time() - core)


def whole(world: OnGround, rng: np.random.Generator) -> Callable[[], None]:
    """A control step of a world, and what a task reads after it."""

    def step() -> None:
        world.step(world.robot.posture + WAVES * rng.normal(size=(world.robots, world.robot.n)))
        state = world.read()
        fallen = np.flatnonzero(state.down[:, 2] > -0.5)
        if len(fallen):
            stand(world, fallen)

    return step


def bare(world: OnGround, rng: np.random.Generator) -> Callable[[], None]:
    """The same number of physics steps by mujoco.batch and nothing else; the robots follow random targets too."""
    model, robot = world.ground.model, world.robot
    model.actuator_biasprm[:, 1], model.actuator_biasprm[:, 2] = -robot.stiffness, -robot.damping
    batch = Batch(model, world.robots)
    qpos, qvel, control = batch.bind("qpos"), batch.bind("qvel"), batch.bind("ctrl")
    home = np.array(world.stepper.state()[0])
    qpos[:] = home

    def step() -> None:
        control[:] = robot.stiffness * (robot.posture + WAVES * rng.normal(size=control.shape))
        batch.step(nstep=SUBSTEPS)
        fallen = qpos[:, 2] < 0.5 * world.stand_height
        qpos[fallen], qvel[fallen] = home[fallen], 0.0

    return step


def scan_time(world: OnGround) -> float:
    """Seconds of one height scan of all robots."""
    state, times = world.read(), []
    for _ in range(20):
        start = time.perf_counter()
        world.terrain.scan(state.position, state.quaternion)
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def main() -> int:
    """Print the table; 1 when the target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", type=int, default=512)
    parser.add_argument("--seconds", type=float, default=4.0)
    options = parser.parse_args()
    console = Console()
    header(console, __file__)
    rng, robot = np.random.default_rng(0), Robot.load("anymal")
    table = Table(title=f"{options.robots} robots, 4 physics steps of 5 ms to an env-step")
    for column in ("what", "env-steps/s", "per core-second", "share of bare"):
        table.add_column(column, justify="left" if column == "what" else "right")
    flat, paper = standing(robot, Terrain(), options.robots), standing(robot, terrain("paper", seed=0), options.robots)
    works = {"bare physics, flat": bare(flat, rng), "world, flat": whole(flat, rng), "world, paper": whole(paper, rng)}
    rates = {name: rate(work, options.robots, options.seconds) for name, work in works.items()}
    base = rates["bare physics, flat"][1]
    for name, (wall, core) in rates.items():
        table.add_row(name, f"{wall:,.0f}", f"{core:,.0f}", f"{core / base:.2f}")
    console.print(table)
    scan = scan_time(paper)
    console.print(
        f"height scan, 294 points: {1e3 * scan:.1f} ms for {options.robots} robots, {options.robots / scan:,.0f} robots/s"
    )
    share = rates["world, flat"][1] / base
    met = share >= TARGET
    console.print(f"world / bare physics, in core time: {share:.2f}; target {TARGET}: {'met' if met else 'missed'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
