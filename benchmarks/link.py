"""A robot over UDP: two processes in real time at 400 Hz, with lost and late datagrams, until the cable is cut.

  python benchmarks/link.py [--seconds 60] [--robot anymal] [--seed 7] [--loss 0.005] [--late 0.005]

One process is `surefoot serve`, a virtual robot with a watchdog; this one records it. The robot's own log says when it was at
rest.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from common import header
from surefoot import Robot, chirp
from surefoot.record.journal import recover
from surefoot.record.recorder import CutShort, record
from surefoot.record.targets import Targets
from surefoot.record.udp import Link, UdpHardware

REST, FASTEST = 0.2, 0.3  # [s] after the watchdog, [rad/s]: what gravity alone moves a damped joint by
WATCHDOG = 0.05  # [s]


def serve(robot: str, seed: int, cut: float, loss: float, late: float, log: Path) -> tuple[subprocess.Popen[str], int]:
    """The robot's process, and its port."""
    options = {"--hardware": f"virtual:{seed}", "--port": 0, "--cut": cut, "--seconds": cut + 12, "--loss": loss, "--late": late,
               "--watchdog": WATCHDOG, "--log": log}  # fmt: skip
    command = [sys.executable, "-m", "surefoot.cli", "serve", robot, *(str(x) for pair in options.items() for x in pair)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, int(process.stdout.readline().split(";")[0].rsplit(":", 1)[1])


def play(robot: Robot, port: int, seconds: float, journal: Path) -> tuple[CutShort, Link]:
    """Record a chirp that is longer than the link lives."""
    motion = chirp(robot, duration=seconds + 30, stop_hz=8.0, amplitude=0.15)
    plan = Targets(joints=robot.joints, time=motion.time, target=motion.target, stiffness=robot.stiffness,
                   damping=robot.damping, kind="chirp", robot=robot.name)  # fmt: skip
    far = UdpHardware("127.0.0.1", port)
    try:
        record(far, plan, journal=journal)
    except CutShort as cut:
        return cut, far.link()
    raise SystemExit("the link was not cut; nothing was tested")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="that the link lives")
    parser.add_argument("--robot", default="anymal")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--loss", type=float, default=0.005)
    parser.add_argument("--late", type=float, default=0.005)
    options = parser.parse_args()
    console = Console(width=140)
    header(console, __file__)
    folder = Path(tempfile.mkdtemp())
    try:
        log, journal = folder / "log.csv", folder / "rec.npz.journal"
        process, port = serve(options.robot, options.seed, options.seconds + 2, options.loss, options.late, log)
        cut, link = play(Robot.load(options.robot), port, options.seconds, journal)
        process.wait(timeout=120)
        saved = recover(journal)
        time, damped, fastest = np.loadtxt(log, delimiter=",", skiprows=1).T
    finally:
        shutil.rmtree(folder)
    console.print(f"this computer says: {cut}", highlight=False)
    console.print(f"link: {link}", highlight=False)
    barked = int(np.flatnonzero(np.diff(damped) > 0)[-1]) + 1
    moving = np.flatnonzero(fastest[barked:] >= FASTEST)
    rest = time[barked + moving[-1] + 1] - time[barked] if len(moving) else 0.0
    same = cut.recording is not None and cut.recording.hash == saved.hash
    table = Table(title="the end")
    for name in ("what", "value", "target", ""):
        table.add_column(name)
    barks = int(np.count_nonzero(np.diff(damped) > 0))
    rows = [
        (
            "recording on disk",
            f"{saved.duration:.2f} s",
            f"at least {options.seconds - 1:g} s",
            saved.duration > options.seconds - 1,
        ),
        ("it is what was recorded", str(same), "True", same),
        ("the robot's watchdog barked", "once" if barks == 1 else f"{barks} times", "once", barks == 1),
        ("speed when it did", f"{fastest[barked]:.2f} rad/s", "", None),
        (f"slower than {FASTEST:g} rad/s after", f"{1e3 * rest:.0f} ms", f"below {1e3 * REST:.0f} ms", rest < REST),
    ]
    for what, value, target, good in rows:
        table.add_row(what, value, target, "" if good is None else "met" if good else "missed")
    console.print(table)


if __name__ == "__main__":
    main()
