"""What every method is given: recordings to learn from, recordings to be judged on, and, of a virtual robot, the truth."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from reality import humanoid, pendulum, servo
from surefoot import JointDynamics, Recording, Robot, Unknowns, chirp, steps
from surefoot.record.recorder import record
from surefoot.record.targets import Targets
from surefoot.simulate import Physics
from surefoot.simulate.virtual.hardware import VirtualHardware

TOP = {"anymal": 4.0, "tytan": 8.0, "minimal": 10.0}  # [Hz] that each robot's chirp ends at
AMPLITUDE = {"anymal": 0.15, "tytan": 0.15, "minimal": 0.2}  # [rad]
STIFFER = (1.7, 1.5)  # the other gains, over those of the training chirp
RATIO = 0.0967  # kt/R of the XL330 as reality.py finds it with kp 400 held out [N·m/V]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One robot and its recordings."""

    name: str
    robot: Robot
    train: list[Recording]
    tests: dict[str, list[Recording]]  # by kind: gains, steps, chirp, later
    physics: Physics = field(default_factory=Physics)
    unknowns: Unknowns = field(default_factory=Unknowns)
    truth: JointDynamics | None = None  # what comes nearest to a virtual robot's hidden drives
    inputs: tuple[str, ...] = ("error", "velocity")  # of a network

    @property
    def seconds(self) -> float:
        """Of training data [s]."""
        return sum(rec.duration for rec in self.train)

    @property
    def period(self) -> float:
        """Of a network: the whole number of physics steps that is nearest to 5 ms [s]."""
        h = self.physics.timestep
        return max(1, round(0.005 / h)) * h


def virtual(name: str, seed: int, *, seconds: float, leg: bool) -> Case:
    """A hidden machine with drives richer than any fitted model, on its stand; with `leg` only its first leg is looked at."""
    robot = Robot.load(name)
    top, amplitude = TOP[name], AMPLITUDE[name]
    p, d = robot.stiffness, robot.damping
    motions = {
        "train": (chirp(robot, duration=seconds, stop_hz=top, amplitude=amplitude), 1.0, 1.0),
        "gains": (chirp(robot, duration=seconds / 2, stop_hz=top, amplitude=amplitude), *STIFFER),
        "steps": (steps(robot, duration=seconds / 2, amplitude=amplitude, seed=seed), 1.0, 1.0),
        "chirp": (chirp(robot, duration=seconds / 2, start_hz=0.3, stop_hz=0.7 * top, amplitude=1.4 * amplitude), 1.0, 1.0),
    }
    made = {}
    for kind, (motion, stiffer, damper) in motions.items():
        machine = VirtualHardware(robot, seed)
        targets = Targets(joints=motion.joints, time=motion.time, target=motion.target, stiffness=stiffer * p, damping=damper * d)
        rec = record(machine, targets, name=kind)
        made[kind] = rec.select(robot.joints[: robot.n // 4]) if leg else rec
    truth = machine.machine.equivalent(robot, machine.period).ordered_for(made["train"].joints)
    tests = {kind: [rec] for kind, rec in made.items() if kind != "train"}
    return Case(name=f"{name}:{seed}" + ("" if leg else ":whole"), robot=robot, train=[made["train"]], tests=tests, truth=truth)


def virtual_names(count: int, whole: int) -> list[str]:
    """The three bundled quadrupeds in turn, a seed each: one leg of each (13 unknowns), and some of them whole (49)."""
    kinds = tuple(TOP)
    return [f"{kinds[i % 3]}:{i}" for i in range(count)] + [f"{kinds[i % 3]}:{i}:whole" for i in range(whole)]


# --- real hardware -----------------------------------------------------------------------------------------------------------
def double_pendulum(folder: Path) -> Case:
    """75 s at 300 Hz, the first half to learn from; the delay sits inside the host's loop (see reality/pendulum.py)."""
    robot = Robot.load(folder / "double_pendulum_A0_model_2.0.xml").replace(torque_limit=np.full(2, 10.0))
    measured = np.loadtxt(next(folder.glob("*_PD_measured.csv")), delimiter=",", skiprows=1)
    desired = np.loadtxt(folder / "trajectory-pos-20.csv", delimiter=",", skiprows=1)
    whole = pendulum.recorded(robot, measured, pendulum.host_command(desired, measured[:, 0]))
    return Case(
        name="dfki_double_pendulum", robot=robot, train=[whole.between(0, pendulum.HALF).replace(name="first half")],
        tests={"later": [whole.between(pendulum.HALF).replace(name="second half")]},
        physics=Physics(timestep=pendulum.STEP, delay_on="torque"), inputs=("error", "velocity_error"),
    )  # fmt: skip


def igris(folder: Path) -> Case:
    """A linear chirp of 60 s, the first 40 s to learn from; a delay for each joint (see reality/humanoid.py)."""
    robot = Robot.load(folder / "igris_c_legs.xml")
    order = ["Joint_Waist_Roll", "Joint_Waist_Pitch", *(f"Joint_{p}_{s}" for s in ("Left", "Right") for p in humanoid.PARTS)]
    rec = Recording.load(
        folder / "chirp_data.pt", joints=order, stiffness=humanoid.STIFFNESS, damping=humanoid.DAMPING
    )  # fmt: skip
    rec = rec.prescribe(*(j for j in order if "Waist" in j or "Ankle" in j)).mark_held()
    return Case(
        name="igris_c", robot=robot, train=[rec.between(0, humanoid.FITTED).replace(name="0-40 s")],
        tests={"later": [rec.between(humanoid.FITTED).replace(name="40-60 s")]},
        physics=Physics(timestep=humanoid.STEP, bias_form="setpoint", delay_on="torque"), unknowns=Unknowns(joint_delays=True),
        inputs=("demand", "velocity"),
    )  # fmt: skip


def xl330(folder: Path) -> Case:
    """Sixteen runs of 6 s; those of one firmware gain, kp 400, to be judged on (see reality/servo.py)."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "xl330.xml"
        file.write_text(servo.PENDULUM, encoding="utf-8")
        robot = Robot.load(file)
    runs = [json.loads(file.read_text(encoding="utf-8")) for file in sorted((folder / "raw").glob("*.json"))]
    drive, recordings = servo.driven(robot, runs, servo.KT, RATIO)
    held = [r["kp"] == 400 for r in runs]
    return Case(
        name="bam_xl330", robot=drive, train=[rec for rec, h in zip(recordings, held, strict=True) if not h],
        tests={"gains": [rec for rec, h in zip(recordings, held, strict=True) if h]}, physics=servo.PHYSICS,
        inputs=("demand", "velocity"),
    )  # fmt: skip


REAL = {"dfki_double_pendulum": double_pendulum, "igris_c": igris, "bam_xl330": xl330}


def every(names: list[str], data: Path | None, *, count: int, whole: int, seconds: float) -> Iterator[Callable[[], Case]]:
    """The cases that were asked for, each made when it is its turn; all of them if none was."""
    asked = names or virtual_names(count, whole) + (list(REAL) if data else [])
    for name in asked:
        if name in REAL:
            if data is None:
                raise SystemExit(f"{name} is a recording of real hardware: pass --data PATH")
            yield lambda name=name: REAL[name](data / name)
        else:
            robot, seed, all_legs = (*name.split(":"), "", "")[:3]
            if robot not in TOP or not seed.isdigit() or all_legs not in ("", "whole"):
                raise SystemExit(f"no case {name}; valid: {', '.join(f'{n}:SEED[:whole]' for n in TOP)}, {', '.join(REAL)}")
            yield lambda robot=robot, seed=int(seed), leg=not all_legs: virtual(robot, seed, seconds=seconds, leg=leg)
