"""How fast does it learn? Control steps (20 ms of one robot) per second of a whole training, here and in mjlab, on the same CPU.

python benchmarks/train_speed.py              this alone: bundled robots, both presets
python benchmarks/train_speed.py --env DIR    and mjlab 1.6 (Go1, flat) in its own environment, made in DIR when it is not there
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from common import header
from export_proof import MJLAB, TORCH, environment
from surefoot import Robot
from surefoot.train.run import Run
from surefoot.train.train import Plan
from train import go2

TARGET = 15.0  # times mjlab
console = Console(width=150, highlight=False)


def ours(robot: Robot, plan: Plan, iterations: int) -> tuple[float, float, float]:
    """Steps per second of the training and of its rollouts alone, and the share of time that the update takes."""
    with tempfile.TemporaryDirectory() as folder:
        run = Run(robot, robot.dynamics, plan, Path(folder))
        run.training.iterate()
        began = time.perf_counter()
        figures = [run.training.iterate() for _ in range(iterations)]
        seconds = time.perf_counter() - began
        rollout = float(np.sum([f["rollout_seconds"] for f in figures]))
        steps = iterations * run.batch
        return steps / seconds, steps / rollout, 1 - rollout / seconds


def theirs(folder: Path, robots: int, iterations: int) -> tuple[float, float]:
    """The same two rates of mjlab."""
    python = environment(folder, TORCH, MJLAB)
    script = Path(__file__).with_name("mjlab_speed.py")
    with tempfile.TemporaryDirectory() as here:
        done = subprocess.run(
            [str(python), str(script), str(robots), str(iterations)], cwd=here, capture_output=True, text=True, check=False
        )
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    if not lines:
        sys.exit(f"mjlab did not run:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    training, alone = map(float, lines[0].split()[1:])
    return training, alone


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", type=Path, help="folder of the environment with mjlab")
    parser.add_argument("--robots", type=int, default=512)
    parser.add_argument("--iterations", type=int, default=10)
    options = parser.parse_args()
    header(console, __file__)
    table = Table(
        title=f"{options.robots} robots; a step is 20 ms of one robot, four physics steps of 5 ms (paper: eight of 2.5 ms)"
    )
    for head in ("", "images", "training, steps/s", "rollout alone, steps/s", "update, share"):
        table.add_column(head, justify="right" if head else "left")
    mine = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name in ("go2", "anymal", "tytan", "minimal"):
            robot = Robot.load(go2(Path(folder)) if name == "go2" else name)
            for preset in ("laptop", "paper") if name == "anymal" else ("laptop",):
                plan = Plan.of(preset, dynamics_timestep=None, robots=options.robots)
                training, rollout, share = ours(robot, plan, options.iterations if preset == "laptop" else 2)
                images = {"laptop": "2" if name in ("go2", "tytan") else "4", "paper": "1"}[preset]
                table.add_row(f"surefoot, {name}, {preset}", images, f"{training:.0f}", f"{rollout:.0f}", f"{100 * share:.0f} %")
                mine = mine or training
    if options.env:
        training, alone = theirs(options.env, options.robots, max(1, options.iterations // 5))
        table.add_row("mjlab 1.6, go1, its own settings", "1", f"{training:.0f}", f"{alone:.0f}", "-")
    console.print(table)
    if not options.env:
        return 0
    times = mine / training
    console.print(f"go2 here learns from {times:.1f} times as many steps per second as go1 in mjlab (target {TARGET:g}): "
                  f"{'met' if times >= TARGET else 'MISSED'}")  # fmt: skip
    return 0 if times >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
