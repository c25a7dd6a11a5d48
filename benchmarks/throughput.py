"""How many robots step per second: the in-air kernel against `mujoco.batch`, both on all cores, in one run.

  python benchmarks/throughput.py [--candidates 4096] [--seconds 20]

The same robot does the same: ANYmal hung in the air, 12 joints with friction, 400 Hz, following a chirp under its own gains.

- surefoot: `InAir(...).scores`, the whole of it: N candidates with random parameters and random delays, each through the whole
  recording, down to the mean squared error of every joint.
- mujoco.batch: the model that the reference engine builds (fixed base, no shapes, one motor a joint, implicitfast), MuJoCo's
  default solver settings, stepped with the chirp as its control. Batches of several sizes, by `step` and by `rollout`; the best
  of all counts.

A robot-step is one physics step of one robot. All take turns, and the best of some rounds counts on both sides. Exits with 1 when
the ratio is below 60.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import mujoco
import mujoco.batch
import numpy as np
from rich.console import Console
from rich.table import Table

from common import header
from compile_time import table as compile_table
from surefoot import JointDynamics, Physics, Robot, chirp
from surefoot.record import Recording
from surefoot.simulate import InAir, Reference

TARGET = 60  # times


def recording(robot: Robot, seconds: float) -> Recording:
    """A chirp on all joints."""
    motion = chirp(robot, duration=seconds, stop_hz=6.0, amplitude=0.25)
    return Recording(joints=robot.joints, time=motion.time, target=motion.target, position=motion.target,
                     stiffness=robot.stiffness, damping=robot.damping)  # fmt: skip


def random_candidates(robot: Robot, count: int, seed: int = 0) -> JointDynamics:
    """A generation of a search: parameters all over their bounds, delays up to 20 ms."""
    rng, shape = np.random.default_rng(seed), (count, robot.n)
    return JointDynamics(
        joints=robot.joints, delay=rng.uniform(0, 0.02, (count, 1)), armature=rng.uniform(0.01, 0.3, shape),
        damping=rng.uniform(0, 5, shape), friction=rng.uniform(0, 5, shape), bias=rng.uniform(-0.05, 0.05, shape),
    )  # fmt: skip


def kernel_work(robot: Robot, rec: Recording, count: int, dtype: str) -> Callable[[], int]:
    """A generation scored by the kernel on all cores; returns the robot-steps done."""
    engine, candidates = InAir(robot, rec, Physics(), dtype=dtype), random_candidates(robot, count)

    def work() -> int:
        assert np.isfinite(engine.scores(candidates)).mean() > 0.9
        return count * engine.schedule.steps

    return work


def hung(robot: Robot, rec: Recording) -> tuple[mujoco.MjModel, np.ndarray]:
    """The reference engine's model, its drives as MuJoCo actuators, and the control (T, n) that has them follow the target."""
    assert robot.dynamics is not None
    model = Reference(robot, rec, Physics())._with(robot.dynamics)
    default = mujoco.MjOption()
    model.opt.tolerance, model.opt.ls_tolerance = default.tolerance, default.ls_tolerance
    model.actuator_biasprm[:, 1], model.actuator_biasprm[:, 2] = -rec.stiffness, -rec.damping
    limit = np.minimum(robot.torque_limit, 1e30)
    model.actuator_forcerange[:] = np.stack([-limit, limit], axis=1)
    return model, rec.stiffness * (rec.target + robot.dynamics.bias)


def batch_work(model: mujoco.MjModel, control: np.ndarray, count: int, how: str, steps: int = 200) -> Callable[[], int]:
    """Some steps by mujoco.batch on all cores; returns the robot-steps done."""
    batch = mujoco.batch.Batch(model, count, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0)
    start = np.random.default_rng(0).integers(0, len(control) - steps, count)
    pushes = np.ascontiguousarray(np.stack([control[s : s + steps] for s in start]))
    stiffness = -model.actuator_biasprm[:, 1]
    batch.bind("qpos")[:] = pushes[:, 0] / stiffness  # every robot starts at its target, somewhere in the chirp
    given = batch.bind("ctrl")
    given[:] = pushes[:, 0]

    def work() -> int:
        if how == "rollout":
            batch.rollout(steps, control=pushes)
        else:
            for i in range(0, steps, 4):  # the control is held for four steps: fewer calls, to MuJoCo's advantage
                given[:] = pushes[:, i]
                batch.step(nstep=4)
        speed = np.abs(batch.bind("qvel"))
        assert np.isfinite(speed).all()
        assert speed.max() > 0.1  # it moves
        return count * steps

    return work


def rates(works: dict[Any, Callable[[], int]], rounds: int) -> dict[Any, float]:
    """Robot-steps per second of each, the best of some rounds in turn, so that a busy moment of the machine hits nobody alone."""
    best = dict.fromkeys(works, 0.0)
    for turn in range(rounds + 1):
        for name, work in works.items():
            begin = time.perf_counter()
            done = work()
            if turn:  # the first is to warm up
                best[name] = max(best[name], done / (time.perf_counter() - begin))
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=4096)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=4)
    given = parser.parse_args()
    console = Console(width=130)
    header(console, __file__)
    robot = Robot.load("anymal")
    rec = recording(robot, given.seconds)
    model, control = hung(robot, rec)
    works: dict[Any, Callable[[], int]] = {}
    for how in ("step", "rollout"):
        for count in (16, 64, 256, 1024):
            works[f"mujoco.batch, {how}", count] = batch_work(model, control, count, how)
    for dtype in ("float32", "float64"):
        works[f"surefoot, {dtype}", given.candidates] = kernel_work(robot, rec, given.candidates, dtype)
    found = rates(works, given.rounds)
    best = max(rate for (name, _), rate in found.items() if name.startswith("mujoco"))
    title = "ANYmal in the air, 12 joints, friction, 400 Hz, all cores"
    table = Table("engine", "robots", "robot-steps/s", "x mujoco.batch", title=title)
    for (name, count), rate in found.items():
        table.add_row(name, str(count), f"{rate / 1e6:.3g} M", f"{rate / best:.3g}")
    console.print(table)
    console.print(compile_table(["anymal", "g1"]))
    ratio = found["surefoot, float32", given.candidates] / best
    verdict = "met" if ratio >= TARGET else "[red]MISSED[/red]"
    console.print(f"float32 against mujoco.batch: {ratio:.0f} times; target at least {TARGET}: {verdict}")
    return 0 if ratio >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
