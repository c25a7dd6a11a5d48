"""Does a fit carry a policy to robots that nobody has measured? Four policies, 20 hidden robots, the paper's step responses.

  python benchmarks/transfer.py --out transfer [--robot anymal] [--minutes 15] [--machines 20] [--jobs 2]

One reference robot (virtual:0) is recorded in the air: chirps with two sets of gains for the fit, chirp and steps with torque
for the network. Policies train with (i) no model, (ii) the drive network, (iii) the fit, (iv) no model and everything drawn
at random; the same preset, seed and minutes. Then all walk on robots virtual:100 ..., whose drives none of them has seen. Each
step is a command of surefoot and leaves its files in --out; what is there is not made again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from common import header
from surefoot import Recording, Robot
from surefoot.commands.transferring import replay_table, table
from transfer import figures

console = Console(width=170, highlight=False)
TIMESTEP = 0.005  # of fit and training [s]
MOTIONS = {"chirp": ("chirp", 20.0, 1.0), "stiff": ("chirp", 20.0, 2.0), "steps": ("steps", 20.0, 1.0)}  # kind, seconds, gains
ERROR = 0.15  # largest steady-state error of the fit's policy, of the commanded speed [-]
WORSE = 0.10  # how much more often "no model" must fall, or how much larger its error must be, to be visibly worse [-]


def surefoot(*words: str) -> None:
    """A command, in a process of its own."""
    console.print(f"surefoot {' '.join(words)}", markup=False, soft_wrap=True)
    subprocess.run([sys.executable, "-m", "surefoot.cli", *words], check=True)


def recorded(name: str, out: Path) -> list[Path]:
    """The reference robot, in the air."""
    robot = Robot.load(name)
    paths = []
    for motion, (kind, seconds, factor) in MOTIONS.items():
        targets, path = out / f"{motion}-targets.npz", out / f"{motion}.npz"
        paths.append(path)
        if path.exists():
            continue
        gains = [f"{factor * x:g}" for x in robot.stiffness], [f"{factor * x:g}" for x in robot.damping]
        words = ["excite", name, "--kind", kind, "--seconds", f"{seconds:g}", "--out", str(targets)]
        surefoot(*words, "--stiffness", *gains[0], "--damping", *gains[1])
        surefoot("record", name, str(targets), "--hardware", "virtual:0", "--out", str(path))
    return paths


def learned(name: str, recordings: list[Path], out: Path) -> Path:
    """A drive network from the measured torque of the recordings with the robot's own gains."""
    path = out / "network" / "drive.toml"
    if not path.exists():
        from surefoot.networks import learn_from_torque

        robot = Robot.load(name)
        given = [Recording.load(r) for r in recordings if r.stem != "stiff"]
        found = learn_from_torque(robot, given, period=TIMESTEP)
        console.print(f"network: torque error {100 * found.relative:.1f} % of its range on held-out data")
        found.network.save(path)
    return path


def trained(name: str, out: Path, fit: Path, network: Path, options: argparse.Namespace) -> dict[str, Path]:
    """The four policies."""
    ways: dict[str, list[str]] = {
        "none": [name, "--dynamics", "none"],
        "network": [name, "--network", str(network)],
        "fit": [name, str(fit)],
        "random": [name, "--dynamics", "none", "--randomise", "1"],
    }
    folders = {}
    for way, words in ways.items():
        folders[way] = out / f"policy-{way}"
        if not (folders[way] / "training.json").exists():
            limits = ["--minutes", f"{options.minutes:g}", "--iterations", "100000", "--seed", str(options.seed)]
            surefoot("train", *words, *limits, "--timestep", f"{TIMESTEP:g}", "--no-video", "--out", str(folders[way]))
    return folders


def judged(content: dict[str, Any]) -> bool:
    """The targets of the issue."""
    whole = {row["policy"]: row for row in content["summary"] if row["test"] == "all"}
    straight = [row for row in content["summary"] if row["policy"] == "fit" and row["test"] in ("forward", "sideways")]
    rate = lambda name: whole[name]["falls"] / whole[name]["trials"]  # noqa: E731
    error = lambda name: 1.0 if whole[name]["error"] is None else whole[name]["error"]  # noqa: E731
    errors = [1.0 if row["error"] is None else row["error"] for row in straight]
    worse = max(rate("none") - rate("fit"), error("none") - error("fit"))
    targets = {
        f"the fit falls no more than the network: {100 * rate('fit'):.0f} % against {100 * rate('network'):.0f} %":
            rate("fit") <= rate("network"),
        f"the fit stays within {100 * ERROR:g} % of the commanded speed: {100 * max(errors):.1f} %": max(errors) <= ERROR,
        f"no model is visibly worse than the fit: {100 * rate('none'):.0f} % falls, error {100 * error('none'):.0f} % against "
        f"{100 * error('fit'):.0f} %": worse >= WORSE,
    }  # fmt: skip
    for what, met in targets.items():
        console.print(f"{what}: {'met' if met else 'MISSED'}")
    return all(targets.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--robot", default="anymal")
    parser.add_argument("--minutes", type=float, default=15.0, help="of each of the four trainings")
    parser.add_argument("--machines", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    header(console, __file__)
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    chirp, stiff, steps = recorded(options.robot, out)
    fit = out / "fit"
    if not (fit / "fit.json").exists():
        words = ["--held-out", str(steps), "--timestep", f"{TIMESTEP:g}", "--out", str(fit)]
        surefoot("identify", options.robot, str(chirp), str(stiff), *words)
    folders = trained(options.robot, out, fit, learned(options.robot, [chirp, stiff, steps], out), options)
    result = out / "walks" / "transfer.json"
    if not result.exists():
        walks = ["--machines", str(options.machines), "--replay", "90", "--jobs", str(options.jobs), "--out", str(out / "walks")]
        surefoot("transfer", options.robot, "--policies", *(f"{k}={v}" for k, v in folders.items()), *walks)
    content = json.loads(result.read_text(encoding="utf-8"))
    console.print(table(content["summary"], content["machines"][1]))
    console.print(replay_table(content["replay"], 90.0))
    for path in figures.draw_all(out / "figures", out / "walks", content, Robot.load(options.robot)):
        console.print(f"wrote {path}", markup=False, soft_wrap=True)
    return 0 if judged(content) else 1


if __name__ == "__main__":
    sys.exit(main())
