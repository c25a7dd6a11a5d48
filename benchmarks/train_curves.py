"""Curves of trainings that are there: how fast each seed learns, and whether several processes learn like one.

python benchmarks/train_curves.py --seeds runs/a-0 runs/a-1 runs/a-2 --figure training.png
python benchmarks/train_curves.py --seeds runs/a-0 runs/a-1 runs/a-2 --together runs/a-torchrun

A training by torchrun is held against the spread of the seeds at the same iterations, so it needs as many robots in all as they
have. Three seeds say little about a spread: inside means between the lowest and the highest of them, widened by as much again.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from common import header
from surefoot.train.play import read_record

console = Console(width=170, highlight=False)
SMOOTH = 20  # iterations
INSIDE = 0.9  # share of the iterations that must lie inside
SHOWN = ("reward", "velocity_error", "yaw_error", "power")


def columns(path: Path) -> dict[str, np.ndarray]:
    """A CSV file of numbers by column."""
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def smooth(values: np.ndarray) -> np.ndarray:
    """Running means."""
    return np.convolve(values, np.full(SMOOTH, 1 / SMOOTH), mode="valid")


def judged(folders: list[Path]) -> Table:
    """What each evaluation of the mean policies found, and when."""
    table = Table(title="the mean policy on 192 held commands, as it was learning")
    for head in ("training", "iteration", "min", "M steps", "velocity error", "yaw error", "standing %", "W", "CoT"):
        table.add_column(head, justify="left" if head == "training" else "right")
    for folder in folders:
        record, curves, marks = read_record(folder), columns(folder / "curves.csv"), columns(folder / "evaluations.csv")
        last = curves["iteration"][-1]
        for k, iteration in enumerate(marks["iteration"]):
            samples = curves["samples"][curves["iteration"] == iteration][0]
            table.add_row(
                folder.name if k == 0 else "", f"{iteration:.0f}", f"{record['seconds'] / 60 * iteration / last:.1f}",
                f"{samples / 1e6:.2f}", f"{marks['velocity_error'][k]:.3f}", f"{marks['yaw_error'][k]:.3f}",
                f"{100 * marks['standing'][k]:.1f}", f"{marks['power'][k]:.0f}", f"{marks['cot'][k]:.2f}",
            )  # fmt: skip
    return table


def held_against(seeds: list[Path], together: Path) -> bool:
    """The reward of a training in several processes, iteration by iteration, against the spread of the seeds."""
    batches = {read_record(folder)["samples"] / read_record(folder)["iterations"] for folder in [*seeds, together]}
    if len(batches) > 1:
        sys.exit(
            f"the trainings take {', '.join(f'{b:.0f}' for b in sorted(batches))} steps for each iteration; they must be equal."
        )
    curves = [smooth(columns(folder / "curves.csv")["reward"]) for folder in [*seeds, together]]
    length = min(map(len, curves))
    *those, this = (curve[:length] for curve in curves)
    low, high = np.min(those, axis=0), np.max(those, axis=0)
    between, inside = (this >= low) & (this <= high), (this >= 2 * low - high) & (this <= 2 * high - low)
    processes = read_record(together)["processes"]
    console.print(
        f"{together.name}, {processes} processes, {length + SMOOTH - 1} iterations: its reward lies between the seeds in "
        f"{100 * between.mean():.0f} % and inside in {100 * inside.mean():.0f} % of them (target {100 * INSIDE:g} %); at the end "
        f"{this[-1]:.3f} against {', '.join(f'{curve[-1]:.3f}' for curve in those)} per second: "
        f"{'met' if inside.mean() >= INSIDE else 'MISSED'}", markup=False, soft_wrap=True,
    )  # fmt: skip
    return bool(inside.mean() >= INSIDE)


def draw(folders: list[Path], path: Path) -> None:
    """The training curves over steps, and the marks of the mean policy on them."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(SHOWN), figsize=(16, 3.6))
    units = {"reward": "reward [1/s]", "velocity_error": "velocity error [m/s]", "yaw_error": "yaw error [rad/s]",
             "power": "power of the drives [W]"}  # fmt: skip
    for folder in folders:
        curves, marks = columns(folder / "curves.csv"), columns(folder / "evaluations.csv")
        steps = dict(zip(curves["iteration"], curves["samples"] / 1e6, strict=True))
        for axis, name in zip(axes, SHOWN, strict=True):
            (line,) = axis.plot(smooth(curves["samples"]) / 1e6, smooth(curves[name]), label=folder.name)
            if name != "reward":  # judged with all penalties in force, which the training comes to later
                axis.plot([steps[i] for i in marks["iteration"]], marks[name], "o", ms=3, color=line.get_color())
            axis.set(xlabel="million steps of 20 ms", ylabel=units[name])
            axis.set_ylim(bottom=0)
            axis.grid(alpha=0.3)
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    console.print(f"wrote {path.name}: lines are the training with its noise, dots the mean policy")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", nargs="+", type=Path, required=True)
    parser.add_argument("--together", type=Path)
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    header(console, __file__)
    console.print(judged([*options.seeds, *([options.together] if options.together else [])]))
    if options.figure:
        draw(options.seeds, options.figure)
    return 0 if options.together is None or held_against(options.seeds, options.together) else 1


if __name__ == "__main__":
    sys.exit(main())
