"""One training: rollouts, updates, schedules, figures; all of it can be written down and taken up again to the same bits."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from tensordict import TensorDict

from surefoot.errors import SurefootError
from surefoot.robot.spec import REWARDS
from surefoot.train.learner import ppo, tensors
from surefoot.train.schedules import entropy_coefficient, penalty_scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from surefoot.train.settings import LearnerSettings
    from surefoot.train.symmetry import Mirror
    from surefoot.train.task import Outcome, Seen, Task

Array = np.ndarray


class DivergedError(SurefootError):
    """An update that left no network."""


@dataclass(kw_only=True)
class Tally:
    """Sums over the control steps of one iteration; robots that the engine lost count in `lost` and nowhere else."""

    steps: int = 0  # robot-steps that count
    sums: dict[str, float] = field(default_factory=dict)
    lost: int = 0

    def add(self, outcome: Outcome, command: Array) -> None:
        """Count one control step of all robots; `command` is what they followed in it."""
        keep = ~outcome.lost
        error = np.linalg.norm(outcome.linear[:, :2] - command[:, :2], axis=-1)
        columns = outcome.terms | {
            "reward": outcome.reward, "velocity_error": error, "yaw_error": np.abs(outcome.angular[:, 2] - command[:, 2]),
            "power": outcome.power, "falls": outcome.fallen,
        }  # fmt: skip
        for name, column in columns.items():
            self.sums[name] = self.sums.get(name, 0.0) + float(column[keep].sum())
        self.steps += int(keep.sum())
        self.lost += int(outcome.lost.sum())

    def figures(self, period: float) -> dict[str, float]:
        """Means: rewards and falls per second and robot, errors [m/s, rad/s], power [W]."""
        mean = {name: total / max(self.steps, 1) for name, total in self.sums.items()}
        per_second = (*REWARDS, "reward", "falls")
        return {name: x / period if name in per_second else x for name, x in mean.items()} | {"lost": float(self.lost)}


class Training:
    """A task, a learner, and how far they have come."""

    def __init__(
        self, task: Task, settings: LearnerSettings, mirrors: Sequence[Mirror], *, seed: int, columns: int | None = None
    ) -> None:
        """Begin. The critic takes the first `columns` of its state, or all of it."""
        torch.manual_seed(seed)
        torch.set_float32_matmul_precision(settings.matmul)
        self.task, self.settings = task, settings
        self.iteration = 0  # t: finished iterations
        self.samples = 0  # control steps of all robots so far
        self.columns = columns
        self.seen = tensors(task.reset(), columns)
        task.age[:] = task.chance.rng.integers(0, task.last, task.robots)  # or all episodes would end together
        self.ppo = ppo(settings, self.seen, task.robot.n, mirrors)

    def iterate(self) -> dict[str, float]:
        """One iteration: `steps` control steps of all robots, then the update. What happened, in figures."""
        began, tally, s = time.perf_counter(), Tally(), self.settings
        self.task.penalty = penalty_scale(self.iteration, half_life=s.penalty_half_life)
        self.ppo.entropy_coef = entropy_coefficient(
            self.iteration,
            first=s.entropy_first,
            last=s.entropy_last,
            turn_over=s.entropy_turn_over,
            steepness=s.entropy_steepness,
        )
        with torch.inference_mode():
            for _ in range(s.steps):
                actions = self.ppo.act(self.seen)
                command = self.task.command.copy()
                outcome = self.task.step(actions.numpy())
                self.seen = tensors(outcome.seen, self.columns)
                tally.add(outcome, command)
                # neither the end of the time nor a failure of the engine is the policy's doing: what was expected goes on
                unjudged = torch.from_numpy((outcome.late | outcome.lost).astype(np.float32))
                self.ppo.process_env_step(
                    self.seen, torch.from_numpy(outcome.reward).float(), torch.from_numpy(outcome.done), {"time_outs": unjudged}
                )
            self.ppo.compute_returns(self.seen)
        rolled = time.perf_counter()
        losses = self.ppo.update()
        if not all(bool(weights.isfinite().all()) for net in (self.ppo.actor, self.ppo.critic) for weights in net.parameters()):
            raise DivergedError(f"learning diverged in iteration {self.iteration + 1}: its networks are not numbers any more.")
        self.iteration += 1
        self.samples += s.steps * self.task.robots
        ended = time.perf_counter()
        return tally.figures(self.task.settings.period) | {
            "std": self.ppo.get_policy().output_std.mean().item(),
            "penalty": self.task.penalty, "entropy_coefficient": float(self.ppo.entropy_coef),
            "learning_rate": self.ppo.learning_rate, "value_loss": losses["value"], "surrogate_loss": losses["surrogate"],
            "rollout_seconds": rolled - began, "update_seconds": ended - rolled,
        }  # fmt: skip

    def act(self, seen: Seen) -> Array:
        """The mean action of the policy as it is."""
        with torch.inference_mode():
            observation = TensorDict({"policy": torch.from_numpy(seen.policy).float()}, batch_size=[len(seen.policy)])
            return self.ppo.actor(observation).numpy()

    # --- what a checkpoint keeps ----------------------------------------------------------------------------------------------
    def state_dict(self) -> dict[str, Any]:
        """Weights, normalisers, optimiser, schedules (the iteration), task, world and random generators."""
        return {
            "learner": self.ppo.save(), "learning_rate": self.ppo.learning_rate, "iteration": self.iteration,
            "samples": self.samples, "seen": dict(self.seen.items()), "task": self.task.state_dict(),
            "torch_rng": torch.get_rng_state(),
        }  # fmt: skip

    def load_state_dict(self, kept: dict[str, Any]) -> None:
        """The inverse of `state_dict`."""
        self.ppo.load(kept["learner"], None, strict=True)
        self.ppo.learning_rate = kept["learning_rate"]
        self.iteration, self.samples = kept["iteration"], kept["samples"]
        self.seen = TensorDict(kept["seen"], batch_size=[self.task.robots])
        self.task.load_state_dict(kept["task"])
        torch.set_rng_state(kept["torch_rng"])
