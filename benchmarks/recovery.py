"""Do the intervals keep their promise? 100 synthetic robots with hidden joint dynamics, recorded by MuJoCo and fitted.

  python benchmarks/recovery.py [--robots 100] [--seed 0]

Each robot is drawn at random: one to four branches of one to four joints (some of them slides), sizes from a finger to a big
leg. It is hung up and recorded twice, a chirp under one set of gains and random steps under another, with encoder noise
(white for even robots, correlated for odd ones) and quantisation. The simulator of the truth is MuJoCo, one mj_step after
another, never the kernel that fits.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from rich.console import Console
from rich.table import Table

from common import header
from surefoot import JointDynamics, Robot, chirp, identify, rehearse, steps
from surefoot.record import Recording

KINDS = ("armature", "damping", "friction", "bias", "delay")
TARGET = (0.90, 0.99)


def synthetic(rng: np.random.Generator) -> Robot:
    """A robot of random shape and size."""
    size = float(np.exp(rng.uniform(np.log(0.04), np.log(0.5))))  # [m] of a link
    density = rng.uniform(300, 1500)
    bodies = []
    for b in range(int(rng.integers(1, 5))):
        bodies.append(_chain(rng, f"b{b}", int(rng.integers(1, 5)), size, density))
    return Robot.load(f"<mujoco model='synthetic'><worldbody>{''.join(bodies)}</worldbody></mujoco>")


def _chain(rng: np.random.Generator, name: str, joints: int, size: float, density: float) -> str:
    length = size * rng.uniform(0.6, 1.4)
    radius = length * rng.uniform(0.08, 0.2)
    mass = density * np.pi * radius**2 * length
    slide = joints == 1 and rng.random() < 0.3
    kind = "type='slide' axis='0 0 1'" if slide else f"axis='{'1 0 0' if rng.random() < 0.4 else '0 1 0'}'"
    thick, thin = mass * (3 * radius**2 + length**2) / 12, mass * radius**2 / 2
    inside = _chain(rng, name + "x", joints - 1, size, density) if joints > 1 else ""
    return (
        f"<body name='{name}' pos='{rng.normal() * size:.4f} {rng.normal() * size:.4f} {-length:.4f}'>"
        f"<joint name='{name}' {kind}/>"
        f"<inertial pos='0 {0.2 * radius:.6f} {-length / 2:.6f}' mass='{mass:.6g}' "
        f"diaginertia='{thick:.6g} {thick:.6g} {thin:.6g}'/>"
        f"{inside}</body>"
    )


def hidden(robot: Robot, rng: np.random.Generator) -> tuple[JointDynamics, np.ndarray, np.ndarray, float]:
    """Joint dynamics in proportion to the robot, gains that suit them, and an amplitude."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(robot.model)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    mass = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass)
    links = np.diag(mass)
    armature = links * rng.uniform(0.2, 2.0, robot.n)
    inertia = links + armature
    frequency = 2 * np.pi * rng.uniform(3.0, 7.0, robot.n)
    stiffness = inertia * frequency**2
    critical = 2 * inertia * frequency
    slides = np.array([k == "slide" for k in robot.kinds])
    amplitude = np.where(slides, 0.05, 0.3)
    dynamics = JointDynamics(
        joints=robot.joints,
        armature=armature,
        damping=critical * rng.uniform(0.05, 0.5, robot.n),
        friction=stiffness * amplitude * rng.uniform(0.01, 0.12, robot.n),
        bias=amplitude * rng.uniform(-0.1, 0.1, robot.n),
        delay=rng.uniform(0.0005, 0.012, 1),
    )
    return dynamics, stiffness, critical * rng.uniform(0.1, 0.4, robot.n), amplitude


def one(seed: int) -> dict:
    """Draw, record and fit one robot."""
    rng = np.random.default_rng(seed)
    robot = synthetic(rng)
    truth, p, d, amplitude = hidden(robot, rng)
    grain = float(np.min(amplitude))
    world = {"noise": 1.5e-3 * grain, "colour": 0.9 if seed % 2 else 0.0, "resolution": 1e-3 * grain}
    recordings: list[Recording] = [
        rehearse(
            robot, truth, chirp(robot, duration=14, stop_hz=10, amplitude=amplitude), stiffness=p, damping=d, seed=seed, **world
        ),
        rehearse(
            robot,
            truth,
            steps(robot, duration=6, amplitude=amplitude, seed=seed),
            stiffness=1.8 * p,
            damping=1.5 * d,
            seed=seed + 1,
            **world,
        ),
    ]
    fit = identify(robot, recordings, seed=0)
    rows = []
    for kind in KINDS:
        for i, value in enumerate(getattr(truth, kind)):
            found, low, high = (float(getattr(x, kind)[i]) for x in (fit.dynamics, fit.low, fit.high))
            scale = abs(value) if kind in ("armature", "damping", "friction") else 1.0
            rows.append((kind, abs(found - value) / scale, low <= value <= high, (high - low) / 2 / scale, fit.flags[kind][i]))
    return {
        "seed": seed,
        "joints": robot.n,
        "rows": rows,
        "seconds": fit.seconds,
        "stop": fit.stop,
        "rmse": fit.rmse,
        "noise": world["noise"],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    console = Console(width=140)
    header(console, __file__)
    began = time.perf_counter()
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        results = list(pool.map(one, range(options.seed, options.seed + options.robots)))
    rows = [row for r in results for row in r["rows"]]
    table = Table(title=f"{len(results)} robots, {sum(r['joints'] for r in results)} joints, {len(rows)} parameters")
    for head in ("parameter", "n", "median error", "worst error", "median half-width", "inside 95 % interval", "not ok"):
        table.add_column(head, justify="right")
    for kind in KINDS:
        mine = [row for row in rows if row[0] == kind]
        error, factor, unit = (
            np.array([row[1] for row in mine]),
            *{"bias": (1e3, " mrad"), "delay": (1e6, " µs")}.get(kind, (100, " %")),
        )
        width = np.array([row[3] for row in mine])
        inside = np.mean([row[2] for row in mine])
        odd = sum(row[4] != "ok" for row in mine)
        table.add_row(
            kind,
            str(len(mine)),
            *(f"{factor * x:.3g}{unit}" for x in (np.median(error), error.max(), np.median(width))),
            f"{100 * inside:.1f} %",
            str(odd),
        )
    console.print(table)
    share = float(np.mean([row[2] for row in rows]))
    for label, parity in (("white noise", 0), ("correlated noise", 1)):
        part = [row[2] for r in results if r["seed"] % 2 == parity for row in r["rows"]]
        console.print(f"{label}: {100 * np.mean(part):.1f} % of the intervals contain the truth")
    excess = [float(np.max(r["rmse"]) / np.hypot(r["noise"], 1e-3 * r["noise"] / 1.5e-3 / np.sqrt(12))) for r in results]
    console.print(
        f"rmse over noise, worst joint: median {np.median(excess):.3f}, worst {np.max(excess):.3f} (1 is a perfect fit)"
    )
    console.print(
        f"fit: median {np.median([r['seconds'] for r in results]):.2f} s; {sum('limit' in r['stop'] for r in results)} searches "
        f"hit their limit; whole run {time.perf_counter() - began:.0f} s"
    )
    good = TARGET[0] <= share <= TARGET[1]
    console.print(
        f"share of 95 % intervals that contain the truth: {100 * share:.1f} % (target 90-99 %): {'met' if good else 'MISSED'}"
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
