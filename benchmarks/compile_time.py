"""How long a robot's kernels take to compile: with an empty cache, and from the cache. Each in a fresh process.

  python benchmarks/compile_time.py [robot ...]

Measured: tracing the equations of every branch, compiling them (or reading them from the cache) and loading them, float64, for
the kernel that returns trajectories. Not measured: Python's own start and reading the robot's model.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from rich.console import Console
from rich.table import Table

from common import header
from robots import load

AIMS = {"anymal": (8.0, 0.5), "g1": (60.0, 2.0)}  # [s] cold, cached


def compile_now(name: str) -> float:
    """Seconds to get all kernels of a robot in this process."""
    from surefoot.record import Recording
    from surefoot.robot import JointDynamics
    from surefoot.simulate import InAir, Physics

    robot = load(name)
    still = np.tile(robot.posture, (40, 1))
    recording = Recording(
        joints=robot.joints,
        time=np.arange(40) * 0.0025,
        target=still,
        position=still,
        stiffness=np.ones(robot.n),
        damping=np.ones(robot.n),
    )
    engine = InAir(robot, recording, Physics())
    candidates = JointDynamics.stack([JointDynamics.no_model(robot.joints)])
    begin = time.perf_counter()
    for part in engine.parts:
        engine.kernel(part, engine.features(part, candidates, output="trajectory"))
    return time.perf_counter() - begin


def cold_and_cached(name: str) -> tuple[float, float]:
    """Seconds with an empty cache, then with the cache that this filled."""
    with tempfile.TemporaryDirectory() as cache:
        command, environment = [sys.executable, __file__, "--now", name], os.environ | {"SUREFOOT_CACHE": cache}
        runs = [subprocess.run(command, env=environment, check=True, capture_output=True, text=True) for _ in range(2)]
    cold, cached = (float(run.stdout) for run in runs)
    return cold, cached


def table(names: list[str]) -> Table:
    """A row for each robot."""
    out = Table("robot", "cold [s]", "cached [s]", "aim: cold, cached [s]", title="kernel compile time, in a fresh process")
    for name in names:
        cold, cached = cold_and_cached(name)
        aim = AIMS.get(name)
        verdict = "" if aim is None else f"{aim[0]:g}, {aim[1]:g}: {'met' if cold <= aim[0] and cached <= aim[1] else 'MISSED'}"
        out.add_row(name, f"{cold:.2f}", f"{cached:.2f}", verdict)
    return out


if __name__ == "__main__":
    if sys.argv[1:2] == ["--now"]:
        print(compile_now(sys.argv[2]))
    else:
        console = Console()
        header(console, __file__)
        console.print(table(sys.argv[1:] or ["anymal", "g1"]))
