"""How well a policy walks: its mean action, on commands that are held, without pushes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.robot.energy import cost_of_transport

if TYPE_CHECKING:
    from surefoot.train.task import Seen, Task

Array = np.ndarray
ROBOTS = 192
SECONDS, SKIPPED = 12.0, 2.0  # length of an evaluation, and how much of its beginning is not compared [s]
GOOD = {"velocity_error": 0.10, "yaw_error": 0.10, "falls": 0.02}
"""What a good policy stays below: [m/s], [rad/s], share of robots that fall."""


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """A policy's marks. A robot that has fallen stands still from then on; one that the engine lost is left out."""

    velocity_error: float  # ‖mean velocity over 10 s − command‖, mean over robots [m/s]
    yaw_error: float  # likewise about the vertical [rad/s]
    standing: float  # share of robots that have not fallen after 12 s
    power: float  # mean P_el + P_mech of the robots that stand [W]
    cot: float  # P / (m g v) of those that stand and walk [-]
    reward: float  # mean reward with all penalties in force; nothing after a fall [1/s]
    lost: int  # robots that the engine lost
    robots: int

    @classmethod
    def none(cls) -> Evaluation:
        """The marks of a policy that was never judged."""
        bad = float("inf")
        return cls(velocity_error=bad, yaw_error=bad, standing=0.0, power=bad, cot=bad, reward=-bad, lost=0, robots=0)

    @property
    def shortfall(self) -> float:
        """How far this is from GOOD; 0 when all marks are met with a fifth in hand."""
        marks = {"velocity_error": self.velocity_error, "yaw_error": self.yaw_error, "falls": 1.0 - self.standing}
        return sum(max(0.0, mark / (0.8 * GOOD[name]) - 1.0) for name, mark in marks.items())

    @property
    def rank(self) -> tuple[float, float]:
        """Larger is better: first come the marks, and among policies that meet them the reward, which weighs power too."""
        return (-self.shortfall, self.reward)

    def to_dict(self) -> dict[str, float | None]:
        """What training.json holds: what has no value, because nobody stands or walks, is null."""
        return {name: value if np.isfinite(value) else None for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, float | None]) -> Evaluation:
        """The inverse of `to_dict`."""
        lost = {"reward": float("-inf")}
        values: dict[str, Any] = {name: lost.get(name, float("inf")) if value is None else value for name, value in data.items()}
        return cls(**values)


def held_commands(low: Array, high: Array, robots: int = ROBOTS) -> Array:
    """Commands that cover the trained range, shape (robots, 3).

    Of every 192: the ends of each axis, 8 times each; standing still, 16 times; a grid of quarter points, twice.
    """
    middle, half = (np.asarray(low) + high) / 2, (np.asarray(high) - low) / 2
    at = np.array([-0.75, -0.25, 0.25, 0.75])
    grid = middle + half * np.stack(np.meshgrid(at, at, at, indexing="ij"), axis=-1).reshape(-1, 3)
    ends = np.concatenate([np.diag(np.asarray(high)), np.diag(np.asarray(low))])
    every = np.concatenate([np.tile(ends, (8, 1)), np.zeros((16, 3)), grid, grid])
    return np.resize(every, (robots, 3))


def evaluate(
    act: Callable[[Seen], Array],
    task: Task,
    commands: Array,
    *,
    seconds: float = SECONDS,
    watch: Callable[[], None] | None = None,
) -> Evaluation:
    """Let `act` drive the robots of a task without chance under held commands. `watch` is called after each step."""
    period = task.settings.period
    steps, skipped = round(seconds / period), round(SKIPPED / period)
    task.penalty = 1.0
    seen = _held(task, commands)
    up, lost = np.ones(task.robots, dtype=bool), np.zeros(task.robots, dtype=bool)
    moved = np.zeros((task.robots, 3))  # v_x, v_y, ω_yaw, summed over steps
    power, reward = np.zeros(task.robots), np.zeros(task.robots)
    for step in range(steps):
        outcome = task.step(act(seen))
        lost |= outcome.lost
        up &= ~outcome.fallen & ~outcome.lost
        task.chance.command[:] = commands
        seen = outcome.seen
        reward += np.where(up, outcome.reward, 0.0)
        if step >= skipped:
            moved += up[:, None] * np.column_stack([outcome.linear[:, :2], outcome.angular[:, 2]])
            power += up * outcome.power
        if watch:
            watch()
    counted = ~lost
    mean = moved / (steps - skipped)
    power /= steps - skipped
    error = np.linalg.norm(mean[:, :2] - commands[:, :2], axis=-1)
    speed = np.linalg.norm(mean[:, :2], axis=-1)
    walking = up & (np.linalg.norm(commands[:, :2], axis=-1) > 0.1)
    cot = float(cost_of_transport(power[walking].sum(), task.world.mass, speed[walking].sum())) if walking.any() else np.inf
    return Evaluation(
        velocity_error=float(error[counted].mean()), yaw_error=float(np.abs(mean[:, 2] - commands[:, 2])[counted].mean()),
        standing=float(up[counted].mean()), power=float(power[up].mean()) if up.any() else float("inf"), cot=cot,
        reward=float(reward[counted].mean() / seconds), lost=int(lost.sum()), robots=task.robots,
    )  # fmt: skip


def _held(task: Task, commands: Array) -> Seen:
    """Start every robot, with its command."""
    task.reset()
    task.chance.command[:] = commands
    return task.see(task.world.read())


def short(marks: Evaluation) -> str:
    """One line."""
    return (
        f"velocity error {marks.velocity_error:.3f} m/s, yaw error {marks.yaw_error:.3f} rad/s, "
        f"{100 * marks.standing:.1f} % stand, {marks.power:.0f} W, cost of transport {marks.cot:.2f}"
    )
