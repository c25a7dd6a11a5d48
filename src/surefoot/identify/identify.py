"""identify: recordings in, joint dynamics with intervals out (the paper's parameter identification)."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np

from surefoot.errors import SurefootError
from surefoot.identify.answer import Provenance, model_hash, report
from surefoot.identify.bounds import default_bounds
from surefoot.identify.fit import Fit
from surefoot.identify.least_squares import Progress
from surefoot.identify.objectives import Loss
from surefoot.identify.problem import Problem
from surefoot.identify.search import BLACK_BOX, Method, budget, find
from surefoot.identify.stop import Stop
from surefoot.identify.uncertainty import uncertainty
from surefoot.identify.unknowns import Unknowns, make_space
from surefoot.record.recording import Recording
from surefoot.robot.spec import Robot
from surefoot.simulate.inair import InAir
from surefoot.simulate.inverse import link_inertia
from surefoot.simulate.physics import Physics
from surefoot.simulate.replay import Choice


def identify(
    robot: Robot, recordings: Sequence[Recording] | Recording, *, held_out: Sequence[Recording] = (), method: Method = "hybrid",
    seed: int = 0, physics: Physics | None = None, unknowns: Unknowns | None = None, torque_weight: float = 0.0,
    loss: Loss = "position", engine: Choice = "auto", population: int | None = None, generations: int | None = None,
    max_iterations: int = 60, checkpoint: str | Path | None = None, resume: bool = False,
    tell: Callable[[Progress], None] | None = None, say: Callable[[str], None] | None = None,
) -> Fit:  # fmt: skip
    """Find the joint dynamics that make the simulated robot move like the recorded one.

    Recordings may differ in gains and motion; they must have the same joints. `held_out` recordings are only scored. `tell`
    hears about every iteration, `say` about what the user should know. With `checkpoint` a `cmaes` search keeps its state there
    after every generation, and `resume` goes on from it to the same result as an uninterrupted search. `loss` is what a black-box
    method makes small (see `objectives`); `population` and `generations` are theirs too, each method's own unless given.
    """
    began = time.perf_counter()
    physics, unknowns = physics or Physics(), unknowns or Unknowns()
    recordings = [recordings] if isinstance(recordings, Recording) else list(recordings)
    recordings, held_out = _same_joints(robot, recordings, held_out)
    _refuse(method, loss, torque_weight, generations=generations, max_iterations=max_iterations)
    joints = recordings[0].joints
    links = link_inertia(robot, joints)
    space = make_space(joints, recordings[0].prescribed, unknowns, default_bounds(robot, recordings, links))
    problem = Problem(robot, recordings, space, physics, torque_weight=torque_weight, choice=engine, say=say)
    population, generations = budget(method, space.size, population, generations)
    short = None
    if method == "cmaes" and all(isinstance(e, InAir) for e in problem.engines):
        short = Problem(robot, recordings, space, physics, choice=engine, torque_weight=torque_weight, dtype="float32")

    def heard(progress: Progress) -> None:
        if tell is not None:
            tell(progress if progress.x is None else replace(progress, dynamics=space.decode(progress.x).lane(0)))

    solution = find(
        problem, method, seed=seed, tell=heard if tell else None, max_iterations=max_iterations, population=population,
        generations=generations, checkpoint=None if checkpoint is None else Path(checkpoint), resume=resume,
        short=short, loss=loss, key=_key(robot, recordings, physics, unknowns, seed, population, torque_weight, engine, loss),
    )  # fmt: skip
    around = solution.around or problem.linearise(solution.x)
    if not np.isfinite(around.squares):
        raise SurefootError(str(Stop.DIVERGED))
    made = Provenance(
        method=method, seed=seed, seconds=time.perf_counter() - began, unknowns=unknowns, choice=engine, loss=loss,
        rollouts=problem.rollouts + (short.rollouts if short else 0),
    )  # fmt: skip
    return report(problem, solution, around, uncertainty(around, int(problem.samples * len(joints))), held_out, links, made)


def _refuse(method: str, loss: str, torque_weight: float, **counts: int | None) -> None:
    """Options that mean nothing."""
    if method not in get_args(Method):
        raise SurefootError(f"method is {method!r}; valid: {', '.join(get_args(Method))}.")
    if loss not in get_args(Loss):
        raise SurefootError(f"loss is {loss!r}; valid: {', '.join(get_args(Loss))}.")
    if loss != "position" and method not in BLACK_BOX:
        raise SurefootError(f"{method} minimises position errors; for the loss {loss!r} choose one of {', '.join(BLACK_BOX)}.")
    if loss != "position" and torque_weight:
        raise SurefootError(f"torque_weight belongs to the loss 'position'; with the loss {loss!r} leave it at 0.")
    if not (np.isfinite(torque_weight) and torque_weight >= 0):
        raise SurefootError(f"torque_weight is {torque_weight:g}; give a finite number of at least 0.")
    for name, count in counts.items():
        if count is not None and count < 1:
            raise SurefootError(f"{name} is {count}; give at least 1.")


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
    return fitted, [rec.ordered_for(joints).prescribe(*fitted[0].prescribed) for rec in held_out]


def _key(
    robot: Robot, recordings: Sequence[Recording], physics: Physics, unknowns: Unknowns, seed: int,
    population: int, weight: float, choice: Choice, loss: Loss,
) -> str:  # fmt: skip
    """Names a search: a saved one is continued only by the same."""
    parts = (model_hash(robot), choice, [rec.hash for rec in recordings], physics, unknowns, seed, population, weight, loss)
    text = repr(parts)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
