"""Thirty recordings of the bench, each identified alone, as the paper does."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.progress import track

from single_drive.bench import GAINS, LOADS, Load, loaded, machine, mechanical
from surefoot import JointDynamics, Physics, Recording, Unknowns, identify
from surefoot.analyze import FrequencyResponse, joint_response, joint_transfer

PHYSICS = Physics(timestep=5e-5, delay_on="torque")  # the electrical step; what is late is the current loop: delay on the torque
BAND = (0.3, 10.0)  # [Hz]
AMPLITUDE = 0.15  # [rad]


@dataclass(frozen=True, kw_only=True)
class Run:
    """One recording and what was identified from it."""

    load: Load
    gains: tuple[float, float]
    compensation: bool
    dynamics: JointDynamics
    half_width: float  # of the 95 % interval of the armature [kg·m²]
    three: float  # armature with the paper's three parameters, no delay [kg·m²]
    response: FrequencyResponse  # H_q

    @property
    def inertia(self) -> float:
        """At the output [kg·m²]: the model's link and the armature found."""
        return self.load.inertia + float(self.dynamics.armature[0])

    @property
    def error(self) -> float:
        """Against the analytic inertia [-]."""
        return self.inertia / self.load.total - 1

    @property
    def paper_error(self) -> float:
        """Likewise of the three-parameter fit [-]."""
        return (self.load.inertia + self.three) / self.load.total - 1

    @property
    def offset(self) -> float:
        """What the drive has beyond its drawing [kg·m²]."""
        return self.inertia - self.load.total


def unknowns(*, delay: bool) -> Unknowns:
    """Free: armature, damping, friction and, if asked for, the delay. The velocity filter of the firmware is known."""
    fixed = {"bias": 0.0, "cutoff": float(machine(compensation=False).drives.velocity_cutoff[0])}
    return Unknowns(extra=("cutoff",), fixed=fixed if delay else fixed | {"delay": 0.0})


def one(case: tuple[Load, tuple[float, float], bool, float]) -> Run:
    """Record and identify one case."""
    load, gains, compensation, seconds = case
    recording: Recording = mechanical(load, gains, compensation=compensation, seconds=seconds, amplitude=AMPLITUDE)
    robot = loaded(load)
    fit = identify(robot, [recording], physics=PHYSICS, unknowns=unknowns(delay=True))
    three = identify(robot, [recording], physics=PHYSICS, unknowns=unknowns(delay=False))
    return Run(
        load=load, gains=gains, compensation=compensation, dynamics=fit.dynamics,
        half_width=float(fit.high.armature[0] - fit.low.armature[0]) / 2, three=float(three.dynamics.armature[0]),
        response=joint_response(recording, "drive", resolution=0.25, band=BAND),
    )  # fmt: skip


def study(console: Console, *, seconds: float) -> list[Run]:
    """All five loads under three gain sets in both firmware modes."""
    cases = [(load, gains, mode, seconds) for mode in (False, True) for load in LOADS for gains in GAINS]
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        done = pool.map(one, cases)
        return list(track(done, "30 recordings", total=len(cases), console=console, transient=True))


def outer_model(run: Run, f: np.ndarray) -> np.ndarray:
    """H_q with what was identified from a run; friction has no place in it."""
    return joint_transfer(
        f, inertia=run.inertia, viscous=float(run.dynamics.damping[0]), stiffness=run.gains[0], damping=run.gains[1],
        delay=float(run.dynamics.delay[0]),
    )  # fmt: skip


def pick(runs: Sequence[Run], **wanted: object) -> list[Run]:
    """The runs with these values: load, gains, compensation, or group."""
    value = lambda run, key: run.load.group if key == "group" else getattr(run, key)  # noqa: E731
    return [run for run in runs if all(value(run, key) == wish for key, wish in wanted.items())]


def spread(runs: Sequence[Run]) -> float:
    """Standard deviation over the gain sets, relative to the analytic inertia, the worst load of the group [-]."""
    loads = {run.load.name: run.load.total for run in runs}
    return max(float(np.std([r.inertia for r in runs if r.load.name == name], ddof=1)) / total for name, total in loads.items())
