"""The verb: joint dynamics in, policy.onnx out, with everything that happened beside it.

OUT/policy.onnx      the best policy, by the mean action on held commands; written whenever a better one is found
OUT/training.json    settings, seed, versions, and the evaluation of that policy
OUT/curves.csv       figures of every iteration
OUT/checkpoint.pt    where --resume goes on
OUT/tensorboard/     the same figures for TensorBoard
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.robot.drive import gear_ratio
from surefoot.robot.dynamics import JointDynamics
from surefoot.simulate.physics import Physics
from surefoot.train.evaluate import ROBOTS, SECONDS
from surefoot.train.settings import LearnerSettings, TaskSettings, preset

if TYPE_CHECKING:
    from surefoot.robot.spec import Robot
    from surefoot.simulate.plug import Drive
    from surefoot.train.evaluate import Evaluation

EVALUATE_EVERY = 50  # iterations
CHECKPOINT_EVERY = 25  # iterations
WALKING = 0.4  # [m/s] a policy whose training error is larger is not worth an evaluation


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is trained, and for how long; the files say all of it."""

    preset: str
    terrain: str
    seed: int
    task: TaskSettings
    learner: LearnerSettings
    physics: Physics
    minutes: float | None = None  # None: until all iterations are done
    randomise: float = 0.0  # the baseline: dynamics drawn anew per robot, up to this share off
    judged: int = ROBOTS  # robots of an evaluation
    judged_seconds: float = SECONDS  # its length [s]
    origin: Mapping[str, Any] = field(default_factory=dict)  # of the joint dynamics

    @classmethod
    def of(
        cls, name: str, *, dynamics_timestep: float | None, timestep: float | None = None, terrain: str = "flat", seed: int = 0,
        minutes: float | None = None, iterations: int | None = None, robots: int | None = None, randomise: float = 0.0,
        physics: Physics | None = None, origin: Mapping[str, Any] | None = None,
    ) -> Plan:  # fmt: skip
        """A preset with what the user changed; a step that is not the fit's is refused."""
        task, learner = preset(name)
        changes = {"timestep": timestep, "iterations": iterations, "robots": robots}
        learner = learner.replace(**{key: value for key, value in changes.items() if value is not None})
        _positive(minutes=minutes, iterations=iterations, robots=robots)
        if not 0 <= randomise <= 1:
            raise SurefootError(f"--randomise is {randomise:g}; expected a share from 0 to 1, for example 0.3.")
        _same_step(dynamics_timestep, learner.timestep)
        world = physics or Physics(timestep=learner.timestep)
        return cls(
            preset=name, terrain=terrain, seed=seed, task=task, learner=learner, minutes=minutes, randomise=randomise,
            physics=Physics(timestep=learner.timestep, delay_on=world.delay_on, bias_form=world.bias_form), origin=origin or {},
        )  # fmt: skip


def _positive(**given: float | None) -> None:
    for name, value in given.items():
        if value is not None and not value > 0:
            raise SurefootError(f"--{name} is {value:g}; expected a number above 0.")


def _same_step(fitted: float | None, asked: float) -> None:
    """One world: joint dynamics hold at the step they were identified at."""
    if fitted is not None and abs(fitted - asked) > 1e-9:
        raise SurefootError(
            f"This fit used dt = {1e3 * fitted:g} ms; training asked for {1e3 * asked:g} ms. Joint dynamics do not carry over "
            f"between step sizes. Pass --timestep {fitted:g}, or identify again with --timestep {asked:g}."
        )


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a training is, for whoever watches."""

    iteration: int
    iterations: int
    seconds: float
    left: float  # [s], an estimate
    samples_per_second: float
    figures: Mapping[str, float]
    evaluation: Evaluation | None  # made after this iteration
    best: Evaluation | None  # so far


@dataclass(frozen=True, kw_only=True)
class Trained:
    """What a training left behind."""

    folder: Path
    evaluation: Evaluation
    iteration: int  # of the chosen policy
    iterations: int  # made in all
    seconds: float
    stopped: str  # why it ended
    passed: Mapping[str, int]  # highest level passed by kind of ground
    lost: int  # times the engine lost a robot


def train(
    robot: Robot, dynamics: JointDynamics, plan: Plan, out: Path, *, resume: bool = False,
    drive: Callable[[], Drive] | None = None,
    tell: Callable[[Progress], None] | None = None, stop: Callable[[], bool] = lambda: False,
) -> Trained:  # fmt: skip
    """Train until the plan's iterations or minutes are over, or `stop` says so; every process of torchrun calls this alike.

    `drive` makes what stands in the place of the robot's own drives, a network for example; `dynamics` then act beside it.
    """
    from surefoot.train.run import Run
    from surefoot.train.training import DivergedError

    run = Run(robot, dynamics, plan, Path(out), drive)
    if resume:
        run.resume()
    if plan.learner.iterations <= run.training.iteration:
        raise SurefootError(
            f"the training in {out} has made all its {run.training.iteration} iterations. To go on, raise them: --iterations "
            f"{2 * run.training.iteration}; to see it walk: surefoot play {out}."
        )
    began, first, reason = time.perf_counter(), run.training.iteration, "all iterations are done"
    while run.training.iteration < plan.learner.iterations:
        try:
            figures = run.iterate()
        except DivergedError as error:
            run.finish("diverged", whole=False)
            raise SurefootError(
                f"{error} The best policy and the last checkpoint until then, if there are any, are in {out}. Chance "
                "decides here: train again with another --seed."
            ) from None
        iteration, seconds = run.training.iteration, time.perf_counter() - began
        due = iteration % EVALUATE_EVERY == 0 and figures["velocity_error"] < WALKING
        marks = run.evaluate() if due else None
        left = (plan.learner.iterations - iteration) * seconds / (iteration - first)
        over = plan.minutes is not None and seconds > 60 * plan.minutes
        if plan.minutes is not None:
            left = min(left, max(0.0, 60 * plan.minutes - seconds))
        if tell and run.first:
            tell(Progress(
                iteration=iteration, iterations=plan.learner.iterations, seconds=seconds, left=left, figures=figures,
                samples_per_second=(iteration - first) * run.batch / seconds, evaluation=marks, best=run.best,
            ))  # fmt: skip
        ended = run.agree("interrupted" if stop() else f"{plan.minutes:g} minutes are over" if over else "")
        if ended or iteration % CHECKPOINT_EVERY == 0:
            run.save()
        if ended:
            reason = ended
            break
    return run.finish(reason)


def describe(plan: Plan) -> dict[str, Any]:
    """A plan as training.json holds it."""
    return {
        "preset": plan.preset, "terrain": plan.terrain, "seed": plan.seed, "minutes": plan.minutes, "randomise": plan.randomise,
        "timestep": plan.physics.timestep, "delay_on": plan.physics.delay_on, "bias_form": plan.physics.bias_form,
        "origin": dict(plan.origin), "task": _lists(asdict(plan.task)), "learner": _lists(asdict(plan.learner)),
    }  # fmt: skip


def _lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lists(item) for key, item in value.items()}
    return list(value) if isinstance(value, tuple) else value


def randomised(dynamics: JointDynamics, robots: int, share: float, seed: int) -> JointDynamics:
    """The baseline that surefoot makes needless: armature, damping, friction and delay drawn per robot, up to `share` off."""
    rng = np.random.default_rng([seed, 77])
    factor = lambda value: value * rng.uniform(1 - share, 1 + share, (robots, *value.shape))  # noqa: E731
    names = ("armature", "damping", "friction", "delay")
    rows = {k: np.broadcast_to(v, (robots, *v.shape)) for k, v in dynamics.arrays().items()}
    return dynamics.replace(**(rows | {name: factor(getattr(dynamics, name)) for name in names}))


SLOW, LAG, STICTION, LATEST = 3.0, 0.1, 0.02, 0.015  # [Hz], [s], [-], [s]


def broadly(robot: Robot, robots: int, share: float, seed: int) -> JointDynamics:
    """The other baseline: no measurement at all, so that everything is drawn per robot from what the gains and limits allow.

    Armature 0 … P / (2π 3 Hz)², damping 0 … P · 0.1 s, friction 0 … 2 % of the torque limit, bias ±0.03 rad, delay 0 … 15 ms,
    each range cut to a `share` of it.
    """
    rng = np.random.default_rng([seed, 78])
    limit = robot.torque_limit * np.where(robot.geared, gear_ratio(robot, robot.posture), 1.0)
    free = [joint for joint, x in zip(robot.joints, limit, strict=True) if not np.isfinite(x)]
    if free:
        raise SurefootError(f"{robot.name}: {', '.join(free)} has no torque limit to draw friction from; add torque_limit.")
    draw = lambda low, high: share * rng.uniform(low, high, (robots, np.size(high)))  # noqa: E731
    p, zero = robot.stiffness, np.zeros(robot.n)
    return JointDynamics(
        joints=robot.joints, armature=draw(zero, p / (2 * np.pi * SLOW) ** 2), damping=draw(zero, LAG * p),
        friction=draw(zero, STICTION * limit), bias=draw(zero - 0.03, zero + 0.03), delay=draw(np.zeros(1), np.full(1, LATEST)),
    )  # fmt: skip
