"""What a search found, as a `Fit`: the answer simulated again, its intervals, its flags, and what they mean."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from typing import Any

import numpy as np

from surefoot.identify.bounds import asked_torque
from surefoot.identify.fit import Fit, Score
from surefoot.identify.flags import interval, judge, misfit
from surefoot.identify.least_squares import Solution
from surefoot.identify.motion import bridged
from surefoot.identify.objectives import Loss
from surefoot.identify.problem import Linear, Problem
from surefoot.identify.stop import Stop
from surefoot.identify.uncertainty import Uncertainty
from surefoot.identify.unknowns import Unknowns
from surefoot.record.held import resolution
from surefoot.record.recording import Recording
from surefoot.robot.dynamics import PARAMETERS, JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.physics import Physics
from surefoot.simulate.replay import Choice, Engine, engine

Array = np.ndarray
STRONG = 0.9  # correlations that are worth showing
UNFINISHED = (Stop.LIMIT, Stop.INTERRUPTED)


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """How a fit was asked for, and what it cost."""

    method: str
    seed: int
    seconds: float
    rollouts: int
    unknowns: Unknowns
    choice: Choice
    loss: Loss = "position"


def report(
    problem: Problem, solution: Solution, around: Linear, sure: Uncertainty, held_out: Sequence[Recording], links: Array,
    made: Provenance,
) -> Fit:  # fmt: skip
    """Simulate the answer again and put everything that is known about it together."""
    robot, recordings, physics, space = problem.robot, problem.recordings, problem.physics, problem.space
    dynamics = space.decode(solution.x).lane(0)
    flags, findings = judge(space, solution.x, sure, scales(robot, recordings, dynamics, links))
    low, high = interval(space, solution.x, sure)
    scores = [score(robot, rec, dynamics, physics, used=e) for rec, e in zip(recordings, problem.engines, strict=True)]
    kept = [score(robot, rec, dynamics, physics, choice=made.choice) for rec in held_out]
    if solution.stop in UNFINISHED:
        findings = ["the search did not converge: its intervals and flags do not describe the best fit. " + str(solution.stop)]
    else:
        findings += misfit(dynamics.joints, _pooled(scores), np.sqrt(np.mean([_scatter(r) ** 2 for r in recordings], axis=0)))
    return Fit(
        robot=robot.name,
        source=robot.source,
        model_hash=model_hash(robot),
        joints=dynamics.joints,
        kinds=tuple(robot.kinds[robot.index(j)] for j in dynamics.joints),
        prescribed=recordings[0].prescribed,
        dynamics=dynamics,
        low=low,
        high=high,
        flags={name: row for name, row in flags.items() if PARAMETERS[name].core or name in made.unknowns.extra},
        findings=(*findings, *_saturated(scores)),
        correlation=_strong(space.labels(), sure.correlation),
        recordings=tuple(scores),
        held_out=tuple(kept),
        physics=physics,
        method=made.method,
        seed=made.seed,
        seconds=made.seconds,
        rollouts=made.rollouts,
        stop=str(solution.stop),
        history=solution.history,
        versions=_versions(),
        unknowns=_as_given(made.unknowns, problem.torque_weight, made.loss),
        loss=around.squares / problem.samples,
        labels=tuple(space.labels()),
        matrix=sure.correlation,
    )


def model_hash(robot: Robot) -> str:
    """Sixteen hex digits that change with the robot's links, joints and drives."""
    drives = [robot.torque_limit, robot.stall_torque, robot.no_load_speed, robot.gear_position, robot.gear_ratio, robot.posture]
    text = repr((robot.model, [row.tolist() for row in drives]))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _pooled(scores: Sequence[Score]) -> Array:
    """Error per joint over all recordings [rad]; 0 where prescribed."""
    return np.nan_to_num(np.sqrt(np.mean([s.rmse**2 for s in scores], axis=0)))


def _strong(labels: list[str], correlation: Array) -> tuple[tuple[str, str, float], ...]:
    """The pairs of parameters that the data can hardly tell apart, the strongest first."""
    rows, columns = np.nonzero(np.tril(np.abs(correlation) > STRONG, -1))
    pairs = [(labels[i], labels[j], float(correlation[i, j])) for i, j in zip(rows, columns, strict=True)]
    return tuple(sorted(pairs, key=lambda pair: -abs(pair[2]))[:30])


def _as_given(unknowns: Unknowns, torque_weight: float, loss: Loss) -> dict[str, Any]:
    """The user's choice, as JSON."""
    return {
        "objective": loss,
        "torque_weight": float(torque_weight),
        "extra": list(unknowns.extra),
        "joint_delays": unknowns.joint_delays,
        "fixed": {k: float(v) for k, v in unknowns.fixed.items()},
        "tied": list(unknowns.tied),
        "bounds": {k: list(map(float, v)) for k, v in unknowns.bounds.items()},
    }


@lru_cache(maxsize=1)
def _versions() -> dict[str, str]:
    return {name: version(name) for name in ("surefoot", "mujoco", "numpy")} | {"python": platform.python_version()}


def scales(robot: Robot, recordings: Sequence[Recording], dynamics: JointDynamics, links: Array) -> dict[str, Array]:
    """What a parameter is measured against before its interval is called wide: the whole of which it is a part."""
    torque = np.max([asked_torque(robot, rec) for rec in recordings], axis=0)
    gain = np.max([rec.damping for rec in recordings], axis=0)
    own = {
        "armature": links + dynamics.armature,
        "damping": gain + dynamics.damping,
        "friction": torque,
        "bias": np.full(dynamics.n, 0.1),
        "delay": np.full(1, 0.005),
        "load": torque,
        "breakaway": torque,
        "load_friction": np.full(dynamics.n, 0.2),
        "cutoff": np.full(1, 50.0),
        "tilt": np.full(2, 0.1),
        "gain_scale": np.full(1, 1.0),
    }
    return {name: own.get(name, np.ones(1)) for name in PARAMETERS}


def score(
    robot: Robot, rec: Recording, dynamics: JointDynamics, physics: Physics, *, used: Engine | None = None,
    choice: Choice = "auto",
) -> Score:  # fmt: skip
    """Error of some joint dynamics on a recording, beside that of no model at all."""
    used = used or engine(robot, rec, physics, choice=choice)
    both = JointDynamics.stack([dynamics, JointDynamics.no_model(dynamics.joints)])
    position, _, saturated = used.trajectories(both)
    weight = np.ones_like(rec.position, bool) if rec.valid is None else rec.valid
    count = np.maximum(weight.sum(0), 1)
    with np.errstate(over="ignore", invalid="ignore"):
        rmse = np.sqrt((np.where(weight, position - rec.position, 0.0) ** 2).sum(axis=1) / count)
    given = np.array([joint in rec.prescribed for joint in rec.joints])
    rmse = np.where(given, np.nan, np.where(np.isfinite(rmse), rmse, np.inf))
    steps = int(rec.duration / physics.timestep) + 1
    return Score(
        name=rec.name,
        hash=rec.hash,
        joints=rec.joints,
        rmse=rmse[0],
        rmse_no_model=rmse[1],
        time=rec.time,
        measured=rec.position,
        simulated=position[0],
        no_model=position[1],
        saturated=saturated[0] / steps,
        target=rec.target,
        valid=np.zeros((0, 0), bool) if rec.valid is None else rec.valid,
        stiffness=rec.stiffness,
        damping=rec.damping,
        samples=weight.sum(0),
    )


def _scatter(rec: Recording) -> Array:
    """How far encoder readings scatter around a smooth course [rad], shape (n,).

    Third differences, robustly; at least what an encoder's own steps scatter, and a ten-thousandth of the motion.
    """
    measured = bridged(rec)
    jitter = np.median(np.abs(np.diff(measured, 3, axis=0)), axis=0) / (0.6745 * np.sqrt(20.0))
    steps = np.array([resolution(column) for column in measured.T]) / np.sqrt(12.0)
    return np.maximum(jitter, steps) + 1e-4 * np.ptp(measured, axis=0)


def _saturated(scores: Sequence[Score]) -> list[str]:
    """Joints whose drives were clamped for a good part of a fitted recording."""
    out = []
    for s in scores:
        often = [(j, share) for j, share in zip(s.joints, s.saturated, strict=True) if share > 0.02]
        if often:
            names = ", ".join(f"{j} {100 * share:.0f} %" for j, share in often)
            out.append(
                f"recording '{s.name}': drives were saturated for part of the time ({names}); there the motion says little "
                "about the joint. Lower the amplitude, or check the torque limit and the torque-speed envelope in robot.toml."
            )
    return out
