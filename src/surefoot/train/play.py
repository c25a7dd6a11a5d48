"""A trained policy at work again: rebuilt from the files of its training alone, judged, and filmed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.deploy.policy import Policy
from surefoot.errors import SurefootError
from surefoot.simulate.physics import Physics
from surefoot.simulate.video import Film
from surefoot.simulate.window import Window
from surefoot.train.evaluate import held_commands
from surefoot.train.observation import Noise
from surefoot.train.settings import LearnerSettings, TaskSettings
from surefoot.train.train import Plan

if TYPE_CHECKING:
    from surefoot.robot.spec import Robot
    from surefoot.train.evaluate import Evaluation
    from surefoot.train.task import Task


def play(
    robot: Robot, run: Path, *, terrain: str | None, seconds: float, seed: int, video: Path | None, robots: int,
    window: bool = False,
) -> tuple[Evaluation, Path | None]:  # fmt: skip
    """Marks of the policy in `run`, and the film of its first robots if a file is given; with `window`, the first is watched."""
    from surefoot.train.run import judge, new_task

    if not seconds > 2.5:
        raise SurefootError(f"--seconds is {seconds:g}; expected more than 2.5, because the first 2 s are not compared.")
    policy = Policy.load(run)
    policy.spec.check(robot)
    record = read_record(run)
    if "network" in record["origin"]:
        raise SurefootError(
            f"the policy in {run} was trained with the drive network {record['origin']['network']}, which is not kept beside it; "
            "walk it on a machine: surefoot run."
        )
    plan = replace(plan_of(record), seed=seed, judged=robots, judged_seconds=seconds)
    plan = plan if terrain is None else replace(plan, terrain=terrain)
    task = new_task(robot, policy.spec.dynamics, plan, robots=robots, seed=seed, judged=True)
    film = None if video is None else _film(task, plan, seconds)
    screen = Window(task.world, real_time=True) if window else None

    def watch() -> None:
        for eye in (film, screen):
            if eye is not None:
                eye.take()

    try:
        marks = judge(lambda seen: policy(seen.policy), task, plan, watch=watch)
    finally:
        if screen is not None:
            screen.close()
    return marks, film.write(video) if film and video else None


def _film(task: Task, plan: Plan, seconds: float) -> Film:
    """On a terrain: of each kind of ground, in equal shares, the robot at half height that is told to walk fastest."""
    ground, course = task.world.terrain, task.course
    if ground.flat:
        return Film(task.world)
    commands = held_commands(np.array(plan.task.command_low), np.array(plan.task.command_high), task.robots)
    speed = np.where(course.level == ground.levels // 2, np.linalg.norm(commands[:, :2], axis=1), -1.0)
    kinds = np.array(ground.kinds)[course.column]
    stars = [int(np.argmax(np.where(kinds == kind, speed, -2.0))) for kind in dict.fromkeys(ground.kinds)]
    return Film(task.world, rate=12.5, stars=stars, scene=seconds / len(stars))


def read_record(run: Path) -> dict[str, Any]:
    """What training.json says."""
    path = run / "training.json"
    if not path.is_file():
        raise SurefootError(
            f"there is no training in {run}: {path} does not exist. Train one with surefoot train ROBOT FIT --out {run}."
        )
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        plan_of(record)
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise SurefootError(f"{path} was not written by surefoot train: {type(error).__name__} {error}.") from None
    return record


def plan_of(record: Mapping[str, Any]) -> Plan:
    """The plan that training.json describes."""
    task, learner = (_tuples(record[part]) for part in ("task", "learner"))
    task["noise"] = Noise(**task["noise"])
    return Plan(
        preset=record["preset"], terrain=record["terrain"], seed=record["seed"], minutes=record["minutes"],
        randomise=record["randomise"], origin=record["origin"], task=TaskSettings(**task),
        learner=LearnerSettings(**learner),
        physics=Physics(timestep=record["timestep"], delay_on=record["delay_on"], bias_form=record["bias_form"]),
    )  # fmt: skip


def _tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
