"""One recording in everybody's format: written by the format's own library, converted, fitted. Is the fit the same?

  python benchmarks/formats.py

A 12-joint robot is rehearsed once. The recording is written to each format as the people who use it do, `surefoot convert`
reads it, and the result is fitted. Bags stamp in whole nanoseconds since 1970, LeRobot by the number of the frame.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from common import header
from surefoot import Fit, Recording, Robot, chirp, cli, identify, rehearse

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "record"))
import logs

TARGET = 1e-9
WAYS: dict[str, tuple[str, Callable[[Path, Recording], Path]]] = {
    "CSV": ("csv", lambda at, rec: logs.write_csv(at.with_suffix(".csv"), rec)),
    "NPZ, other names": ("numpy", lambda at, rec: logs.write_npz(at.with_suffix(".npz"), rec)),
    "MAT v5": ("scipy", lambda at, rec: logs.write_mat(at.with_suffix(".mat"), rec)),
    "MAT v5, struct": ("scipy", lambda at, rec: logs.write_mat(at.with_suffix(".mat"), rec, struct=True)),
    "MAT v7.3": ("h5py", lambda at, rec: logs.write_mat73(at.with_suffix(".mat"), rec)),
    "Parquet": ("pyarrow", lambda at, rec: logs.write_parquet(at.with_suffix(".parquet"), rec)),
    "HDF5": ("h5py", lambda at, rec: logs.write_hdf5(at.with_suffix(".h5"), rec)),
    "PACE .pt": ("torch", lambda at, rec: logs.write_pace(at.with_suffix(".pt"), rec)),
    "MCAP, ROS 2": ("mcap-ros2-support", lambda at, rec: logs.write_mcap_ros2(at.with_suffix(".mcap"), logs.messages(rec))),
    "MCAP, JSON": ("mcap", lambda at, rec: logs.write_mcap_json(at.with_suffix(".mcap"), logs.messages(rec))),
    "ROS 2 bag, sqlite3": ("rosbags", lambda at, rec: logs.write_bag(at, logs.messages(rec))),
    "ROS 2 bag, mcap": ("rosbags", lambda at, rec: logs.write_bag(at, logs.messages(rec), "MCAP")),
    "  JointTrajectory": ("rosbags", lambda at, rec: logs.write_bag(at, logs.messages(rec, "trajectory"))),
    "  Float64MultiArray": ("rosbags", lambda at, rec: logs.write_bag(at, logs.messages(rec, "array"))),
    "LeRobot v2.1": ("pyarrow", lambda at, rec: logs.write_lerobot(at, rec, version="v2.1")),
    "LeRobot v3.0": ("pyarrow", lambda at, rec: logs.write_lerobot(at, rec)),
}


def sample(robot: Robot, seed: int) -> Recording:
    """The bundled robot with its published dynamics, through a chirp, with the channels that bags have."""
    assert robot.dynamics is not None
    rec = rehearse(robot, robot.dynamics, chirp(robot, duration=10.0, stop_hz=8.0), noise=1e-4, seed=seed)
    velocity = np.gradient(rec.position, rec.time, axis=0)
    return rec.replace(velocity=velocity, torque=rec.stiffness * (rec.target - rec.position) - rec.damping * velocity)


def difference(fit: Fit, reference: Fit) -> float:
    """The largest difference of a parameter, relative to the reference's largest of its kind."""
    pairs = ((getattr(fit.dynamics, name), getattr(reference.dynamics, name)) for name in reference.parameters)
    return max(float(np.max(np.abs(a - b)) / np.max(np.abs(b))) for a, b in pairs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", default="anymal")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    console = Console(width=140)
    header(console, __file__)
    robot = Robot.load(options.robot)
    rec = sample(robot, options.seed)
    fields = ("position", "target", "time")
    bare = rec.replace(velocity=None, torque=None)  # what PACE files and LeRobot datasets hold less
    references = {has_velocity: identify(robot, [rec if has_velocity else bare], seed=0) for has_velocity in (True, False)}
    table = Table(title=f"{rec.n} joints, {len(rec.time)} samples; target: the same fit to {TARGET:g} (relative)")
    for name in ("format", "written by", "size [MB]", "convert [s]", "numbers", "fit differs by", "target"):
        table.add_column(name, justify="left" if name in ("format", "written by") else "right")
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        for k, (name, (library, write)) in enumerate(WAYS.items()):
            path = write(Path(folder) / f"log{k}", rec)
            files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
            out, began = Path(folder) / f"out{k}.npz", time.perf_counter()
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
                failed = cli.main(["convert", str(path), "--out", str(out), "--robot", options.robot])
            seconds = time.perf_counter() - began
            if failed:
                console.print(f"{name}: {said.getvalue()}", markup=False)
                missed += 1
                continue
            back = Recording.load(out)
            worst = max(float(np.max(np.abs(getattr(back, f) - getattr(rec, f)))) for f in fields)
            gap = difference(identify(robot, [back], seed=0), references[back.velocity is not None])
            met = gap <= TARGET
            missed += not met
            size = f"{sum(p.stat().st_size for p in files) / 1e6:.2f}"
            numbers = "bit for bit" if worst == 0 else f"{worst:.1e}"
            table.add_row(name, library, size, f"{seconds:.2f}", numbers, f"{gap:.1e}", "met" if met else "[red]MISSED[/red]")
    console.print(table)
    console.print(f"{len(WAYS) - missed} of {len(WAYS)} formats give the same fit to {TARGET:g}: {'MISSED' if missed else 'met'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
