"""identify: recordings in, joint dynamics with intervals out (the paper's parameter identification)."""

from __future__ import annotations

import hashlib
import platform
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from surefoot.errors import SurefootError
from surefoot.identify.bounds import asked_torque, default_bounds
from surefoot.identify.fit import Fit, Score
from surefoot.identify.flags import interval, judge, misfit
from surefoot.identify.least_squares import Progress, Solution
from surefoot.identify.problem import Linear, Problem
from surefoot.identify.search import find
from surefoot.identify.stop import Stop
from surefoot.identify.uncertainty import Uncertainty, uncertainty
from surefoot.identify.unknowns import Space, Unknowns, make_space
from surefoot.record.recording import Recording
from surefoot.robot.dynamics import PARAMETERS, JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.inair import InAir
from surefoot.simulate.physics import Physics
from surefoot.simulate.replay import Choice, Engine, engine

Array = np.ndarray
Method = Literal["hybrid", "cmaes", "least-squares"]
STRONG = 0.9  # correlations that are worth showing


def identify(
    robot: Robot, recordings: Sequence[Recording], *, held_out: Sequence[Recording] = (), method: Method = "hybrid",
    seed: int = 0,
    physics: Physics | None = None, unknowns: Unknowns | None = None, torque_weight: float = 0.0, engine: Choice = "auto",
    population: int = 4096, generations: int = 200, max_iterations: int = 60, checkpoint: str | Path | None = None,
    resume: bool = False, tell: Callable[[Progress], None] | None = None, say: Callable[[str], None] | None = None,
) -> Fit:  # fmt: skip
    """Find the joint dynamics that make the simulated robot move like the recorded one.

    Recordings may differ in gains and motion; they must have the same joints. `held_out` recordings are only scored. `tell`
    hears about every iteration, `say` about what the user should know. With `checkpoint` a `cmaes` search keeps its state there
    after every generation, and `resume` goes on from it to the same result as an uninterrupted search.
    """
    began = time.perf_counter()
    physics, unknowns, say = physics or Physics(), unknowns or Unknowns(), say or (lambda _: None)
    recordings, held_out = _same_joints(robot, recordings, held_out)
    if method not in get_args(Method):
        raise SurefootError(f"method is {method!r}; valid: {', '.join(get_args(Method))}.")
    for name, count in (("generations", generations), ("max_iterations", max_iterations)):
        if count < 1:
            raise SurefootError(f"{name} is {count}; give at least 1.")
    engines = [_engine(robot, rec, physics, engine, say) for rec in recordings]
    links = link_inertia(engines[0], recordings[0].n)
    space = make_space(recordings[0].joints, recordings[0].prescribed, unknowns, default_bounds(robot, recordings, links))
    problem = Problem(robot, recordings, space, physics, torque_weight=torque_weight, engines=engines)
    short = None
    if method == "cmaes" and engine != "mujoco" and all(isinstance(e, InAir) for e in engines):
        short = Problem(robot, recordings, space, physics, choice=engine, torque_weight=torque_weight, dtype="float32")
    solution = find(
        problem, method, seed=seed, tell=tell, max_iterations=max_iterations, population=population, generations=generations,
        checkpoint=None if checkpoint is None else Path(checkpoint), resume=resume, short=short,
        key=_key(robot, recordings, physics, unknowns, seed, population, torque_weight),
    )  # fmt: skip
    around = solution.around or problem.linearise(solution.x)
    if not np.isfinite(around.squares):
        raise SurefootError(str(Stop.DIVERGED))
    sure = uncertainty(around, problem.samples * recordings[0].n)
    return _report(
        problem, space, solution, around, sure, held_out, method, seed, time.perf_counter() - began, links, unknowns,
        rollouts=problem.rollouts + (short.rollouts if short else 0), say=say, choice=engine,
    )  # fmt: skip


def _engine(robot: Robot, rec: Recording, physics: Physics, choice: Choice, say: Callable[[str], None]) -> Engine:
    return engine(robot, rec, physics, choice=choice, say=say)


def link_inertia(engine: Engine, n: int) -> Array:
    """Inertia that each joint feels from the links alone, at the reference posture [kg·m²], shape (n,)."""
    inertia = np.zeros(n)
    if isinstance(engine, InAir):
        for part in engine.parts:
            inertia[part.free] = np.diag(part.rest_inertia)
    return inertia


def _same_joints(
    robot: Robot, recordings: Sequence[Recording], held_out: Sequence[Recording]
) -> tuple[list[Recording], list[Recording]]:  # fmt: skip
    """Recordings in one joint order, the robot's; every joint known to the robot."""
    if not recordings:
        raise SurefootError("there is no recording to fit; pass at least one.")
    first = recordings[0]
    robot.select(first.joints)
    joints = tuple(j for j in robot.joints if j in first.joints)
    fitted = [rec.ordered_for(joints) for rec in recordings]
    for rec in fitted[1:]:
        if rec.prescribed != fitted[0].prescribed:
            raise SurefootError(
                f"recordings '{first.name}' and '{rec.name}' prescribe different joints: "
                f"{fitted[0].prescribed} and {rec.prescribed}."
            )
    if len(fitted[0].prescribed) == len(joints):
        raise SurefootError("every joint is prescribed; leave at least one to identify.")
    return fitted, [rec.ordered_for(joints) for rec in held_out]


def _key(
    robot: Robot, recordings: Sequence[Recording], physics: Physics, unknowns: Unknowns, seed: int, population: int, weight: float
) -> str:  # fmt: skip
    """Names a search: a saved one is continued only by the same."""
    drives = [robot.torque_limit, robot.stall_torque, robot.no_load_speed, robot.gear_position, robot.gear_ratio]
    machine = (robot.model, [row.tolist() for row in drives])
    text = repr((machine, [rec.hash for rec in recordings], physics, unknowns, seed, population, weight))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _report(
    problem: Problem, space: Space, solution: Solution, around: Linear, sure: Uncertainty, held_out: Sequence[Recording],
    method: str, seed: int, seconds: float, links: Array, unknowns: Unknowns, *, rollouts: int, say: Callable[[str], None],
    choice: Choice,
) -> Fit:  # fmt: skip
    """Simulate the answer again and put everything that is known about it together."""
    robot, recordings, physics = problem.robot, problem.recordings, problem.physics
    dynamics = space.decode(solution.x).lane(0)
    flags, findings = judge(space, solution.x, sure, _scales(robot, recordings, dynamics, links))
    low, high = interval(space, solution.x, sure)
    scores = [score(robot, rec, dynamics, physics, used=e) for rec, e in zip(recordings, problem.engines, strict=True)]
    kept = [score(robot, rec, dynamics, physics, choice=choice) for rec in held_out]
    labels = space.labels()
    strong = [
        (labels[i], labels[j], float(sure.correlation[i, j]))
        for i in range(space.size)
        for j in range(i)
        if abs(sure.correlation[i, j]) > STRONG
    ]
    strong.sort(key=lambda pair: -abs(pair[2]))
    free = np.array([joint not in recordings[0].prescribed for joint in dynamics.joints])
    rmse, scatter = (
        np.sqrt(np.mean(np.square(x), axis=0)) for x in ([s.rmse for s in scores], [_scatter(r) for r in recordings])
    )
    findings += misfit(dynamics.joints, np.where(free, rmse, 0.0), scatter)
    findings += _saturated(scores)
    return Fit(
        robot=robot.name,
        source=robot.source,
        joints=dynamics.joints,
        prescribed=recordings[0].prescribed,
        dynamics=dynamics,
        low=low,
        high=high,
        flags=flags,
        findings=tuple(findings),
        correlation=tuple(strong[:30]),
        recordings=tuple(scores),
        held_out=tuple(kept),
        physics=physics,
        method=method,
        seed=seed,
        seconds=seconds,
        rollouts=rollouts,
        stop=str(solution.stop),
        history=solution.history,
        versions=_versions(),
        unknowns={
            "torque_weight": problem.torque_weight,
            "extra": list(unknowns.extra),
            "joint_delays": unknowns.joint_delays,
            "fixed": dict(unknowns.fixed),
            "tied": list(unknowns.tied),
            "bounds": {k: list(map(float, v)) for k, v in unknowns.bounds.items()},
        },
        loss=around.squares / problem.samples,
    )


@lru_cache(maxsize=1)
def _versions() -> dict[str, str]:
    return {name: version(name) for name in ("surefoot", "mujoco", "numpy")} | {"python": platform.python_version()}


def _scales(robot: Robot, recordings: Sequence[Recording], dynamics: JointDynamics, links: Array) -> dict[str, Array]:
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
        "cutoff": np.full(1, 50.0),
        "tilt": np.full(2, 0.1),
        "gain_scale": np.full(1, 1.0),
    }
    return {name: own.get(name, np.ones(1)) for name in PARAMETERS}


def score(
    robot: Robot, rec: Recording, dynamics: JointDynamics, physics: Physics, *, used: Engine | None = None, choice: Choice =
    "auto"
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
    steps = max(1.0, rec.duration / physics.timestep)
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
    )


def _scatter(rec: Recording) -> Array:
    """How far encoder readings scatter around a smooth course [rad], shape (n,): their third differences, robustly."""
    return np.median(np.abs(np.diff(rec.position, 3, axis=0)), axis=0) / (0.6745 * np.sqrt(20.0)) + 1e-4 * np.ptp(
        rec.position, axis=0
    )


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
