"""Practice: plan, excite, record, check and identify a virtual robot, as typed, then ask the fit what it has not seen.

  python benchmarks/practice.py [--robot anymal] [--seeds 7 8 9]

The virtual robot is richer than what is fitted (docs/hardware.md). The first seed goes through the command line, timed as a
whole; the fit of each seed is held against random steps, and against the chirp under other gains, of the same machine.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from common import header
from surefoot import Recording, Robot, identify, steps
from surefoot.identify import Fit, score
from surefoot.record.recorder import record
from surefoot.record.targets import Targets
from surefoot.simulate.virtual.hardware import VirtualHardware

RATIO, SECONDS = 5.0, 120.0  # no model over the fit at least; the chain at most
CHAIN = """plan {robot}
excite {robot} --out targets.npz
record {robot} targets.npz --hardware virtual:{seed} --out rec.npz
check {robot} rec.npz
identify {robot} rec.npz --out fit/"""


def chain(console: Console, robot: str, seed: int, folder: Path) -> tuple[Fit, Targets, float]:
    """The five commands in a folder: the fit, the targets, and the time that all took [s]."""
    begin = time.perf_counter()
    for line in CHAIN.format(robot=robot, seed=seed).splitlines():
        start = time.perf_counter()
        done = subprocess.run([sys.executable, "-m", "surefoot.cli", *line.split()], cwd=folder, capture_output=True, text=True)
        console.print(f"  surefoot {line}   {time.perf_counter() - start:.1f} s", highlight=False)
        if done.returncode:
            console.print(done.stdout + done.stderr)
            raise SystemExit(f"surefoot {line} ended with {done.returncode}")
    seconds = time.perf_counter() - begin
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    console.print(f"  of processor time {used.ru_utime + used.ru_stime:.0f} s", highlight=False)
    return Fit.load(folder / "fit"), Targets.load(folder / "targets.npz"), seconds


def unseen(robot: Robot, seed: int, seen: Targets) -> list[Recording]:
    """The same machine under random steps as wide as the chirp, and under 1.6 P and 2 D."""
    width = 0.5 * np.ptp(seen.target, axis=0)
    motion = steps(robot, seed=seed, amplitude=width, centre=seen.target[0])
    other = seen.replace(time=motion.time, target=motion.target, kind="steps")
    gains = seen.replace(stiffness=1.6 * seen.stiffness, damping=2.0 * seen.damping, kind="other gains")
    return [record(VirtualHardware(robot, seed), plan) for plan in (other, gains)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", default="anymal")
    parser.add_argument("--seeds", type=int, nargs="+", default=[7, 8, 9])
    options = parser.parse_args()
    console = Console(width=140)
    header(console, __file__)
    robot = Robot.load(options.robot)
    folder = Path(tempfile.mkdtemp())
    try:
        first, plan, seconds = chain(console, options.robot, options.seeds[0], folder)
    finally:
        shutil.rmtree(folder)
    verdict = "met" if seconds < SECONDS else "missed"
    console.print(f"the chain took {seconds:.0f} s (target: below {SECONDS:g}) {verdict}", highlight=False)
    table = Table(
        title=f"{options.robot}: virtual robots, fitted on one chirp; rmse in mrad, and how many times that of no model"
    )
    for name in ("seed", "chirp", "steps", "", "other gains", "", f"target: {RATIO:g} times", "armature off by"):
        table.add_column(name, justify="right")
    for seed in options.seeds:
        fit = first
        if seed != options.seeds[0]:
            fit = identify(robot, [record(VirtualHardware(robot, seed), plan)], seed=0)
        cells, worst = [f"{1e3 * fit.recordings[0].total:.2f}"], np.inf
        for taken in unseen(robot, seed, plan):
            judged = score(robot, taken, fit.dynamics, fit.physics)
            ratio = float(np.sqrt(np.mean(judged.rmse_no_model**2))) / judged.total
            cells += [f"{1e3 * judged.total:.2f}", f"x {ratio:.1f}"]
            worst = min(worst, ratio)
        hardware = VirtualHardware(robot, seed)
        near = hardware.machine.equivalent(robot, hardware.period)
        link = hardware.body.link_inertia()  # what the armature stands beside
        off = np.median((fit.dynamics.armature - near.armature) / (near.armature + link))
        table.add_row(str(seed), *cells, "met" if worst >= RATIO else "missed", f"{100 * off:+.1f} % of all inertia")
    console.print(table)


if __name__ == "__main__":
    main()
