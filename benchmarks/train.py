"""Does a laptop learn to walk? Trainings as a user would start them, one after another on all cores, and their marks.

python benchmarks/train.py --out runs                          anymal, three seeds, 15 minutes each; then tytan, minimal and go2
python benchmarks/train.py --out runs --robots anymal --seeds 0 --minutes 5
python benchmarks/train.py --out runs --robots anymal --seeds 0 --terrain paper --minutes 90
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from common import header
from robots import example
from surefoot.train.evaluate import GOOD
from surefoot.train.play import read_record

console = Console(width=170, highlight=False)
SEEDS = {"anymal": (0, 1, 2)}  # the others: one seed each


def go2(folder: Path) -> Path:
    """The Go2 of example-robot-data: its own URDF, and a robot.toml beside no Python."""
    text = (Path(__file__).parents[1] / "examples" / "go2.toml").read_text(encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "go2.toml"
    path.write_text(text.replace('model = "go2.urdf"', f'model = "{example("go2_description/urdf/go2.urdf")}"'), encoding="utf-8")
    return path


def train(name: str, seed: int, options: argparse.Namespace) -> Path:
    """One training by the command line, in a process of its own; a finished one is not repeated."""
    out = options.out / f"{name}-{options.terrain}-{options.minutes:g}min-{seed}"
    if (out / "training.json").exists():
        return out
    robot = str(go2(options.out)) if name == "go2" else name
    command = ["train", robot, "--dynamics", "robot", "--preset", "laptop", "--minutes", f"{options.minutes:g}"]
    command += ["--seed", str(seed), "--terrain", options.terrain, "--iterations", str(options.iterations), "--out", str(out)]
    console.print(f"surefoot {' '.join(command)}", markup=False, soft_wrap=True)
    subprocess.run([sys.executable, "-m", "surefoot.cli", *command], check=True)
    return out


def row(name: str, seed: int, out: Path, flat: bool) -> tuple[list[str], bool]:
    """The marks of one training, and whether they are good."""
    record = read_record(out)
    marks = record["evaluation"]
    good = not flat or (
        marks["velocity_error"] < GOOD["velocity_error"]
        and marks["yaw_error"] < GOOD["yaw_error"]
        and 1 - marks["standing"] <= GOOD["falls"]
    )
    seconds, samples = record["seconds"], record["samples"]
    passed = ", ".join(f"{kind} {level}" for kind, level in record["passed"].items())
    cells = [
        name, str(seed), f"{seconds / 60:.1f}", f"{samples / 1e6:.2f}", f"{samples / seconds:.0f}", str(record["iteration"]),
        f"{marks['velocity_error']:.3f}", f"{marks['yaw_error']:.3f}", f"{100 * marks['standing']:.1f}", f"{marks['power']:.0f}",
        f"{marks['cot']:.2f}", str(record["lost"]), ("met" if good else "MISSED") if flat else passed,
    ]  # fmt: skip
    return cells, good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--robots", nargs="+", default=["anymal", "tytan", "minimal", "go2"])
    parser.add_argument("--seeds", nargs="+", type=int)
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--iterations", type=int, default=100000, help="a bound that the minutes reach first")
    parser.add_argument("--terrain", default="flat")
    options = parser.parse_args()
    header(console, __file__)
    table = Table(title=f"{options.minutes:g} min on {options.terrain} ground; the mean policy on 192 held commands, 10 s means")
    heads = ("robot", "seed", "min", "M steps", "steps/s", "iteration", "velocity error", "yaw error", "standing %", "W", "CoT",
             "lost", "target" if options.terrain == "flat" else "highest level passed")  # fmt: skip
    for head in heads:
        table.add_column(head, justify="right")
    every = True
    for name in options.robots:
        for seed in options.seeds or SEEDS.get(name, (0,)):
            cells, good = row(name, seed, train(name, seed, options), options.terrain == "flat")
            table.add_row(*cells)
            every &= good
    console.print(table)
    targets = f"velocity error < {GOOD['velocity_error']} m/s, yaw error < {GOOD['yaw_error']} rad/s, >= 98 % stand after 12 s"
    if options.terrain == "flat":
        console.print(f"target: {targets}: {'met' if every else 'MISSED'}")
    return 0 if every else 1


if __name__ == "__main__":
    sys.exit(main())
