"""A training at work: worlds, learner, the best policy so far, and the files that say so."""

from __future__ import annotations

import json
import os
import subprocess
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from surefoot.deploy.policy import Specification
from surefoot.errors import SurefootError
from surefoot.robot.symmetry import symmetries
from surefoot.simulate.on_ground import make_world
from surefoot.simulate.terrain import SCAN, terrain
from surefoot.simulate.world import Start
from surefoot.train import checkpoint, onnx
from surefoot.train.course import Course
from surefoot.train.evaluate import Evaluation, evaluate, held_commands
from surefoot.train.learner import agree, rank, ranks
from surefoot.train.log import Curves
from surefoot.train.observation import critic_size
from surefoot.train.symmetry import group, mirror
from surefoot.train.task import Task
from surefoot.train.train import Plan, Trained, broadly, describe, randomised
from surefoot.train.training import Training

if TYPE_CHECKING:
    from collections.abc import Callable

    from surefoot.robot.dynamics import JointDynamics
    from surefoot.robot.spec import Robot
    from surefoot.simulate.plug import Drive
    from surefoot.simulate.world import World
    from surefoot.train.symmetry import Mirror
    from surefoot.train.task import Seen

Array = np.ndarray
ONE_CELL = np.zeros((1, 2))  # a height scan of flat ground, whose cells are all equal
REASONS = ("", "interrupted", "time is over")


def new_task(
    robot: Robot, dynamics: JointDynamics, plan: Plan, *, robots: int, seed: int, judged: bool = False,
    drive: Callable[[], Drive] | None = None,
) -> Task:  # fmt: skip
    """N robots in a world of the plan's; `judged`: for evaluation, without chance and spread evenly over the terrain."""
    substeps = round(plan.task.period / plan.physics.timestep)
    ground = terrain(plan.terrain, seed=plan.seed)
    if plan.randomise and not judged:
        measured = any(getattr(dynamics, name).any() for name in ("armature", "damping", "friction", "delay"))
        share = plan.randomise
        dynamics = randomised(dynamics, robots, share, seed) if measured else broadly(robot, robots, share, seed)
    world = make_world(
        robot, dynamics, physics=plan.physics, robots=robots, substeps=substeps, terrain=ground, threads=cores(),
        drive=drive() if drive else None,
    )  # fmt: skip
    settings = plan.task.without_chance() if judged else plan.task
    return Task(robot, world, settings, Course(ground, robots, seed=seed, spread=judged), seed=seed)


def cores() -> int:
    """Cores for each process: those that it may use, shared between the processes of torchrun."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, allowed // ranks())


def mirrors(robot: Robot, world: World, cells: Array = SCAN) -> list[Mirror]:
    """All mirror images that the robot has; none for a robot without mirror planes. `cells`: of the height scan."""
    found = symmetries(robot)
    feet = standing_feet(robot, world)
    return group([mirror(plane, feet, cells) for plane in found])


def standing_feet(robot: Robot, world: World) -> Array:
    """Where the feet are in base axes when the robot stands in its posture [m], shape (F, 3)."""
    home = Start(
        position=np.array([[0.0, 0.0, world.stand_height]]), quaternion=np.array([[1.0, 0.0, 0.0, 0.0]]),
        joint_position=robot.posture[None],
    )  # fmt: skip
    world.reset(np.array([0]), home)
    return world.read().foot_position[0] - home.position[0]


class Run:
    """One process's share of a training."""

    def __init__(
        self, robot: Robot, dynamics: JointDynamics, plan: Plan, out: Path, drive: Callable[[], Drive] | None = None
    ) -> None:
        self.drive = drive
        self.robot, self.dynamics, self.plan, self.out = robot, dynamics, plan, out
        self.first = rank() == 0
        torch.set_num_threads(cores())
        seed = plan.seed * 1000 + rank()
        task = new_task(robot, dynamics, plan, robots=plan.learner.robots, seed=seed, drive=drive)
        pruned = plan.learner.prune and task.world.terrain.flat
        cells = ONE_CELL if pruned else SCAN
        images = mirrors(robot, task.world, cells) if plan.learner.mirrored else []
        columns = critic_size(robot.n, len(task.world.feet), len(cells))
        self.training = Training(task, plan.learner, images, seed=seed, columns=columns)
        if ranks() > 1:
            self.training.ppo.broadcast_parameters()
        self.images = 1 + len(images)
        self.judge: Task | None = None
        self.best: Evaluation | None = None
        self.chosen = 0  # iteration of the best policy
        self.lost = 0
        self.curves = Curves(out) if self.first else None
        self.versions = versions()  # of what runs, not of what is on the disk when it ends
        self.earlier, self.began = 0.0, time.perf_counter()  # [s] of training before a resume; since when it goes on

    @property
    def batch(self) -> int:
        """Control steps of all robots of all processes in one iteration."""
        return self.plan.learner.robots * self.plan.learner.steps * ranks()

    @property
    def seconds(self) -> float:
        """Of training so far, with what was before a resume."""
        return self.earlier + time.perf_counter() - self.began

    def iterate(self) -> dict[str, float]:
        """One iteration, written into the curves."""
        figures = self.training.iterate()
        self.lost += int(figures["lost"])
        if self.curves:
            self.curves.add(self.training.iteration, self.training.samples * ranks(), figures)
        return {name: agree(value) if name == "velocity_error" else value for name, value in figures.items()}

    def evaluate(self) -> Evaluation | None:
        """Judge the mean policy; the best one so far becomes policy.onnx."""
        if not self.first:
            return None
        kept = torch.get_rng_state()
        marks = judge(self.training.act, self._judged(), self.plan)
        torch.set_rng_state(kept)
        if self.best is None or marks.rank > self.best.rank:
            self.best, self.chosen = marks, self.training.iteration
            self._write(marks)
        if self.curves:
            self.curves.evaluated(self.training.iteration, marks)
        return marks

    def _judged(self) -> Task:
        if self.judge is None:
            self.judge = new_task(
                self.robot, self.dynamics, self.plan, robots=self.plan.judged, seed=self.plan.seed, judged=True, drive=self.drive
            )
        return self.judge

    def agree(self, reason: str) -> str:
        """The first process's reason to stop, for all."""
        if ranks() == 1:
            return reason
        kind = REASONS.index(reason) if reason in REASONS else 2
        kind = int(agree(kind))
        return reason if kind == 2 and reason else REASONS[kind]

    # --- files ----------------------------------------------------------------------------------------------------------------
    def save(self) -> None:
        """Write the checkpoint of this process."""
        state = self.training.state_dict() | {
            "plan": describe(self.plan) | {"robot": self.robot.name}, "processes": ranks(), "lost": self.lost,
            "seconds": self.seconds, "chosen": self.chosen, "best": None if self.best is None else self.best.to_dict(),
        }  # fmt: skip
        checkpoint.write(checkpoint.path_of(self.out, rank()), state)

    def resume(self) -> None:
        """Go on where the checkpoint stops; a training of something else is refused."""
        path = checkpoint.path_of(self.out, rank())
        state = checkpoint.read(path)
        if state["processes"] != ranks():
            raise SurefootError(
                f"the training in {self.out} ran in {state['processes']} processes and this one in {ranks()}; resume it with "
                f"torchrun --nproc-per-node {state['processes']}."
            )
        mine, theirs = (_fixed(plan) for plan in (describe(self.plan) | {"robot": self.robot.name}, state["plan"]))
        if differ := [key for key in mine if mine[key] != theirs.get(key)]:
            what = ", ".join(differ)
            raise SurefootError(
                f"the training in {self.out} is another one (it differs in {what}); resume it with the options it began with, or "
                "give another --out."
            )
        self.training.load_state_dict(state)
        self.lost, self.chosen = state["lost"], state["chosen"]
        self.earlier, self.began = state.get("seconds", 0.0), time.perf_counter()
        self.best = None if state["best"] is None else Evaluation.from_dict(state["best"])
        if self.curves:
            self.curves.rewind(self.training.iteration)

    def finish(self, reason: str, *, whole: bool = True) -> Trained:
        """The last evaluation, training.json, and the end of the log; of networks that are not `whole` nothing is kept."""
        seconds = self.seconds
        if whole:
            self.save()
            self.evaluate()
        if ranks() > 1:
            torch.distributed.barrier()
            torch.distributed.destroy_process_group()
        best = self.best or Evaluation.none()
        trained = Trained(
            folder=self.out, evaluation=best, iteration=self.chosen, iterations=self.training.iteration, seconds=seconds,
            stopped=reason, passed=self.training.task.course.passed(), lost=self.lost,
        )  # fmt: skip
        if self.first:
            self._describe(trained)
        if self.curves:
            self.curves.close()
        return trained

    def _write(self, marks: Evaluation) -> None:
        self.out.mkdir(parents=True, exist_ok=True)
        onnx.write(self.training.ppo.get_policy(), self.specification(marks), self.out / "policy.onnx")

    def specification(self, marks: Evaluation) -> Specification:
        """All that must be true where the policy runs."""
        robot, plan = self.robot, self.plan
        rows = {name: getattr(robot, name) for name in ("stiffness", "damping", "posture", "lower", "upper", "soft_band")}
        physics = {key: getattr(plan.physics, key) for key in ("timestep", "delay_on", "bias_form")}
        return Specification(
            robot=robot.name, joints=robot.joints, action_scale=plan.task.action_scale, period=plan.task.period,
            command_low=np.array(plan.task.command_low), command_high=np.array(plan.task.command_high),
            dynamics=self.dynamics, physics=physics, evaluation=marks.to_dict(),
            training=describe(plan) | {"iteration": self.training.iteration, "versions": self.versions}, **rows,
        )  # fmt: skip

    def _describe(self, trained: Trained) -> None:
        text = describe(self.plan) | {
            "robot": self.robot.name, "source": self.robot.source, "rewards": dict(self.robot.rewards),
            "dynamics": self.dynamics.to_dict(), "evaluation": trained.evaluation.to_dict(), "iteration": trained.iteration,
            "iterations": trained.iterations, "samples": self.training.samples * ranks(), "images": self.images,
            "processes": ranks(), "seconds": trained.seconds, "stopped": trained.stopped, "passed": dict(trained.passed),
            "lost": trained.lost, "versions": self.versions,
        }  # fmt: skip
        part = self.out / "training.part"
        part.write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")
        part.replace(self.out / "training.json")


def _fixed(plan: dict[str, Any]) -> dict[str, Any]:
    """What a training that is taken up again may not change: all but its length and where its dynamics came from."""
    fixed = {key: value for key, value in plan.items() if key not in ("minutes", "origin")}
    return fixed | {"learner": {key: value for key, value in plan["learner"].items() if key != "iterations"}}


def judge(act: Callable[[Seen], Array], task: Task, plan: Plan, watch: Callable[[], None] | None = None) -> Evaluation:
    """The marks of a policy; the same chance each time."""
    task.chance.rng = np.random.default_rng([plan.seed, 1])
    commands = held_commands(np.array(plan.task.command_low), np.array(plan.task.command_high), task.robots)
    return evaluate(act, task, commands, seconds=plan.judged_seconds, watch=watch)


def versions() -> dict[str, str]:
    """What made this."""
    found: dict[str, Any] = {}
    for name in ("surefoot", "mujoco", "torch", "rsl-rl-lib", "numpy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "?"
    return found | ({"commit": here} if (here := commit(Path(__file__).parent)) else {})


def commit(folder: Path) -> str:
    """The git commit of a source folder, with a + where files differ from it; empty outside a checkout, as when installed."""
    ask = ["git", "-C", str(folder)]
    try:
        tracked = subprocess.run([*ask, "ls-files", "--error-unmatch", "."], capture_output=True, check=False, timeout=10)
        said = subprocess.run([*ask, "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"], capture_output=True,
                              text=True, check=False, timeout=10)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return said.stdout.strip() if tracked.returncode == 0 and said.returncode == 0 else ""
