"""What does each means of making the training faster bring, and does the policy stay as good? One is changed at a time.

python benchmarks/train_tricks.py                              speed only
python benchmarks/train_tricks.py --learn 8 --seeds 0 1 2      and each variant trained for 8 minutes with each seed
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from common import header
from surefoot import Robot
from surefoot.train import learner, run
from surefoot.train.evaluate import Evaluation
from surefoot.train.train import Plan, train

console = Console(width=150, highlight=False)
ROBOT = "anymal"


def changed(**changes: Any) -> Callable[[Plan], Plan]:
    """A plan whose learner differs."""
    return lambda plan: replace(plan, learner=plan.learner.replace(**changes))


class EachTime(learner.MirroredRollout):
    """Mini-batches cut and mirrored anew in every epoch, and the actor run once more for a loss that is only logged."""

    def mini_batch_generator(self, num_mini_batches: int, num_epochs: int = 8) -> Iterator[Any]:
        """As the parent's, without keeping anything from one epoch to the next."""
        for _ in range(num_epochs):
            yield from super().mini_batch_generator(num_mini_batches, 1)

    def compute_loss(self, actor: Any, batch: Any, original_batch_size: int) -> torch.Tensor:
        """The mean action on the whole mini-batch, for the log."""
        actor(batch.observations)
        return torch.zeros(())


@contextmanager
def each_time() -> Iterator[None]:
    """Trainings whose rollouts are `EachTime`."""
    kept, learner.MirroredRollout = learner.MirroredRollout, EachTime
    try:
        yield
    finally:
        learner.MirroredRollout = kept


@contextmanager
def one_thread() -> Iterator[None]:
    """Trainings on one core."""
    kept, run.cores = run.cores, lambda: 1
    try:
        yield
    finally:
        run.cores = kept


def apart(processes: int, robots: int) -> Callable[[Plan, int | None], tuple[list[dict[str, str]], dict[str, Any]]]:
    """Trainings in as many processes as torchrun starts, each with its own robots: curves and training.json."""

    def launch(plan: Plan, iterations: int | None) -> tuple[list[dict[str, str]], dict[str, Any]]:
        with tempfile.TemporaryDirectory() as folder:
            words = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes), "-m", "surefoot.cli"]
            words += ["train", ROBOT, "--dynamics", "robot", "--robots", str(robots), "--seed", str(plan.seed), "--no-video"]
            words += ["--iterations", str(iterations)] if iterations else ["--minutes", str(plan.minutes)]
            subprocess.run([sys.executable, *words, "--out", folder], check=True, capture_output=True)
            record = json.loads(Path(folder, "training.json").read_text(encoding="utf-8"))
            with Path(folder, "curves.csv").open(encoding="utf-8") as file:
                return list(csv.DictReader(file)), record

    return launch


TOGETHER = {
    "two processes of one core, 256 robots each (torchrun)": apart(2, 256),
    "two processes of one core, 512 robots each (torchrun)": apart(2, 512),
}
VARIANTS: dict[str, tuple[Callable[[Plan], Plan], Callable[[], Any]]] = {
    "laptop preset": (changed(), nullcontext),
    "hidden layers in bfloat16 too": (changed(bfloat16=True), nullcontext),
    "matrix products in single precision": (changed(matmul="highest"), nullcontext),
    "mini-batches cut and mirrored in every epoch": (changed(), each_time),
    "the critic takes all 294 equal cells": (changed(prune=False), nullcontext),
    "10 mini-batches instead of 4": (changed(mini_batches=10), nullcontext),
    "1024 robots instead of 512": (changed(robots=1024), nullcontext),
    "no mirror images": (changed(mirrored=False), nullcontext),
    "the paper's networks": (changed(hidden=(256, 256, 256, 128)), nullcontext),
    "one core": (changed(), one_thread),
} | dict.fromkeys(TOGETHER, (changed(), nullcontext))


def speed(name: str, robot: Robot, plan: Plan, iterations: int) -> tuple[float, float, float]:
    """Steps per second, and seconds per iteration of rollout and update; medians."""
    if name in TOGETHER:
        rows, record = TOGETHER[name](plan, iterations + 1)
        rollout, update = (
            float(np.median([float(row[f"{part}_seconds"]) for row in rows[1:]])) for part in ("rollout", "update")
        )
        return record["samples"] / len(rows) / (rollout + update), rollout, update
    with tempfile.TemporaryDirectory() as folder:
        work = run.Run(robot, robot.dynamics, plan, Path(folder))
        work.training.iterate()
        figures = [work.training.iterate() for _ in range(iterations)]
        rollout, update = (float(np.median([f[f"{part}_seconds"] for f in figures])) for part in ("rollout", "update"))
        return work.batch / (rollout + update), rollout, update


def learnt(name: str, robot: Robot, plan: Plan) -> str:
    """The marks that a training ends with."""
    if name in TOGETHER:
        marks = Evaluation.from_dict(TOGETHER[name](plan, None)[1]["evaluation"])
    else:
        with tempfile.TemporaryDirectory() as folder:
            marks = train(robot, robot.dynamics, plan, Path(folder)).evaluation
    return f"{marks.velocity_error:.3f} {100 * marks.standing:.0f}%"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=8)
    parser.add_argument("--learn", type=float, help="minutes of each training")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--only", nargs="+", help="variants whose name contains one of these words")
    options = parser.parse_args()
    header(console, __file__)
    robot = Robot.load(ROBOT)
    table = Table(title=f"{ROBOT}, flat ground, {run.cores()} cores")
    for head in ("", "steps/s", "against the preset", "rollout [s]", "update [s]"):
        table.add_column(head, justify="right" if head else "left")
    if options.learn:
        for seed in options.seeds:
            table.add_column(f"velocity error [m/s], standing after {options.learn:g} min, seed {seed}", justify="right")
    first, began = 0.0, time.perf_counter()
    for name, (change, around) in VARIANTS.items():
        if options.only and not any(word in name for word in ("laptop", *options.only)):
            continue
        with around():
            plans = [change(Plan.of("laptop", dynamics_timestep=None, seed=s, minutes=options.learn)) for s in options.seeds]
            rate, rollout, update = speed(name, robot, plans[0], options.iterations)
            first = first or rate
            marks = [learnt(name, robot, plan) for plan in plans] if options.learn else []
        table.add_row(name, f"{rate:.0f}", f"x {rate / first:.2f}", f"{rollout:.2f}", f"{update:.2f}", *marks)
    console.print(table)
    console.print(f"whole run {time.perf_counter() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
