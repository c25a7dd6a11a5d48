"""Does a fit arrive in the simulators that run here? Values read back, 20 s replayed, each value probed, wrong exports caught.

python benchmarks/export_proof.py                    MuJoCo: ANYmal, Go2, a rig on a rail
python benchmarks/export_proof.py mjlab --env DIR    mjlab on the CPU, in its own environment, made in DIR when it is not there
python benchmarks/export_proof.py newton --env DIR   Newton's reading of the USD layer, likewise
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

import surefoot
from common import header
from robots import EXAMPLES, RAIL, example
from surefoot import Fit, JointDynamics, Recording, Robot, chirp, rehearse
from surefoot.export import Proof, Values, export, prove
from surefoot.export.targets import model_file, write

TORCH, MJLAB, NEWTON = "torch==2.13.0", "mjlab==1.6.0", "1.8.0"
console = Console(width=170, highlight=False)


def environment(folder: Path, *packages: str) -> Path:
    """The interpreter of a virtual environment with these packages; made with venv and pip when it is not there."""
    python = folder / "bin" / "python"
    if not python.exists():
        console.print(f"making {folder} with {', '.join(packages)} (some GB)")
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *packages], check=True)
    return python


def fitted(robot: Robot, dynamics: JointDynamics, seconds: float = 20.0, stop_hz: float = 8.0) -> tuple[Fit, Recording]:
    """A fit by the usual way to a noisy rehearsal, so that its numbers are not round."""
    rec = rehearse(robot, dynamics, chirp(robot, duration=seconds, stop_hz=stop_hz), noise=3e-4, seed=1)
    return surefoot.identify(robot, [rec], seed=0), rec


def drawn(robot: Robot, delay: float) -> JointDynamics:
    """Joint dynamics that suit the robot's gains."""
    rng, n = np.random.default_rng(0), robot.n
    p, d = robot.stiffness, robot.damping
    return JointDynamics(
        joints=robot.joints, armature=p * rng.uniform(5e-4, 1e-3, n), damping=d * rng.uniform(0.5, 1.0, n),
        friction=p * rng.uniform(2e-3, 6e-3, n), bias=rng.uniform(-0.03, 0.03, n), delay=np.array([delay]),
    )  # fmt: skip


def twins(values: Values) -> dict[str, tuple[Values, str]]:
    """Mistakes that people make, and the value that a proof must name."""
    zero = np.zeros(values.n)
    return {
        "bias sign flipped": (values.replace(bias=-values.bias), "bias"),
        "dynamic friction dropped": (values.replace(friction=zero), "friction"),
        "gains 1/0": (values.replace(stiffness=zero + 1, velocity_gain=zero), "stiffness"),
    }


def show(name: str, proof: Proof, seconds: float) -> bool:
    assert proof.rmse is not None
    parts = [f"rmse {proof.rmse.max():.2g} rad over {proof.seconds:.4g} s"]
    if proof.lost is not None and proof.rest is not None and proof.lost.max() > 1e-9:
        parts.append(f"of it {'; '.join(proof.reasons)}: {proof.lost.max():.2g} rad; the rest {proof.rest.max():.2g} rad")
    good_checks, felt = sum(c.good for c in proof.checks), sum(p.good for p in proof.probes)
    parts.append(f"{good_checks} of {len(proof.checks)} values read back, {felt} of {len(proof.probes)} probes felt")
    console.print(f"{'ok  ' if proof.good else 'MISS'} {name}: {', '.join(parts)} ({seconds:.0f} s)")
    for failure in proof.failures[:3]:
        console.print(f"       {failure}")
    return proof.good


def caught(name: str, proof: Proof, value: str) -> bool:
    """A wrong export must fail by the value that is wrong and by the motion."""
    named = any(f.startswith(f"{value} of") for f in proof.failures)
    error = proof.rmse if proof.rest is None else proof.rest
    moved = error is not None and not (error <= proof.tolerance).all()
    size = "diverged" if error is None or not np.isfinite(error).all() else f"{error.max():.2g} rad"
    console.print(f"{'ok  ' if named and moved else 'MISS'} {name}: the proof fails, names '{value}': {named}, motion {size}")
    return named and moved


def mujoco_proofs(folder: Path) -> bool:
    """MJCF and URDF."""
    anymal = Robot.load("anymal")
    rail = folder / "rail.xml"
    rail.write_text(RAIL)
    rig = Robot.load(rail).with_gains(np.array([40000.0, 90.0, 60.0, 3000.0]), np.array([900.0, 1.5, 1.0, 30.0]))
    go2 = Robot.load(example(EXAMPLES["go2"])).with_gains(25.0, 0.5)
    centre = np.tile([0.0, 0.8, -1.5], 4)
    go2 = go2.replace(posture=np.clip(centre, go2.lower, go2.upper))
    assert anymal.dynamics is not None
    good = True
    for name, robot, dynamics, targets in (
        ("anymal", anymal, anymal.dynamics, ("mjcf",)),
        ("go2", go2, drawn(go2, 0.0061), ("mjcf", "urdf")),
        ("rail", rig, drawn(rig, 0.0061), ("mjcf",)),
    ):
        fit, rec = fitted(robot, dynamics)
        for to in targets:
            began = time.perf_counter()
            made = export(fit, robot, to=to, out=folder / f"{name}_identified.{'urdf' if to == 'urdf' else 'xml'}", recording=rec)
            proof = prove(fit, robot, made.files[0], to, recording=rec)
            good &= show(f"{to}, {name}", proof, time.perf_counter() - began)
            source = model_file(robot)
            assert source is not None
            start = robot.model if to == "mjcf" and source.suffix == ".urdf" else source
            for what, (values, value) in twins(made.values).items():
                wrong = made.files[0].with_stem(f"{name}_wrong")
                write(values, to, start, wrong)
                good &= caught(f"  {to}, {name}, {what}", prove(fit, robot, wrong, to, recording=rec, probes=False), value)
    return good


def mjlab_proofs(folder: Path, python: Path) -> bool:
    """A delay on mjlab's grid of physics steps, one between its points, and wrong exports."""
    robot = Robot.load("anymal")
    assert robot.dynamics is not None
    good = True
    for delay in (0.0075, 0.0081):
        dynamics = robot.dynamics.replace(delay=np.array([delay]))
        rec = rehearse(robot, dynamics, chirp(robot, stop_hz=8.0), noise=3e-4, seed=1)
        fit = surefoot.identify(robot, [rec], unknowns=surefoot.Unknowns(fixed={"delay": delay}), seed=0)
        began = time.perf_counter()
        path = folder / f"anymal_{1e4 * delay:.0f}.py"
        made = export(fit, robot, to="mjlab", out=path, recording=rec)
        proof = prove(fit, robot, path, "mjlab", recording=rec, python=python, probes=delay == 0.0075)
        good &= show(f"mjlab, anymal, delay {1e3 * delay:g} ms", proof, time.perf_counter() - began)
        console.print(f"       {made.notes[0]}")
        console.print(f"       {proof.notes[0]}")
        if delay != 0.0075:
            continue
        short = rec.between(0.0, 4.0)
        for what, (values, value) in twins(made.values).items():
            wrong = folder / "wrong.py"
            write(values, "mjlab", "", wrong)
            good &= caught(
                f"  mjlab, {what}", prove(fit, robot, wrong, "mjlab", recording=short, python=python, probes=False), value
            )
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="mujoco", choices=("mujoco", "mjlab", "newton"))
    parser.add_argument("--env", type=Path, default=None, help="folder of the other simulator's environment")
    options = parser.parse_args()
    header(console, __file__)
    folder_of_env = options.env or Path(tempfile.gettempdir()) / f"surefoot-{options.what}-env"
    with tempfile.TemporaryDirectory() as name:
        if options.what == "mujoco":
            good = mujoco_proofs(Path(name))
        elif options.what == "mjlab":
            good = mjlab_proofs(Path(name), environment(folder_of_env, TORCH, MJLAB))
        else:
            from newton_usd import newton_proof

            good = newton_proof(Path(name), environment(folder_of_env, f"newton[sim,importers]=={NEWTON}"), console)
    console.print("all met" if good else "MISSED")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
