"""The numbers of a training in two presets: `paper`, as published, and `laptop`, which walks in minutes on two cores."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from dataclasses import replace as _replace
from typing import Any, Literal, Self

from surefoot.errors import SurefootError
from surefoot.train.observation import Noise


@dataclass(frozen=True, kw_only=True)
class TaskSettings:
    """What the robots are asked to do, and what is random about it. Dynamics are not."""

    period: float = 0.02  # of the policy [s]
    episode: float = 20.0  # [s]
    action_scale: float = 0.5  # [rad] per unit of action
    command_low: tuple[float, float, float] = (-1.0, -1.0, -1.0)  # v̂_x, v̂_y [m/s], ω̂_yaw [rad/s]
    command_high: tuple[float, float, float] = (1.0, 1.0, 1.0)
    resample: float = 10.0  # a new command every [s]
    still: float = 0.1  # share of commands that are zero
    friction: tuple[float, float] = (0.4, 1.2)  # of the ground [-]
    push_every: float = 8.0  # mean time between two pushes [s]
    push_speed: float = 0.5  # velocity that a push gives a free robot, at most, along x and y [m/s]
    push_length: float = 0.1  # how long a push lasts [s]
    tilt: float = 1.05  # a base that leans further has fallen [rad]
    crouch: float = 0.4  # a base lower than this share of its standing height has fallen [-]
    posture_noise: float = 0.1  # of the joints at a start [rad]
    velocity_noise: float = 0.3  # of the base at a start [m/s, rad/s]
    noise: Noise = field(default_factory=Noise)

    def __post_init__(self) -> None:
        _ordered("command", zip(self.command_low, self.command_high, strict=True))
        _ordered("friction", [self.friction])
        if not 0 <= self.still <= 1:
            raise SurefootError(f"still is {self.still:g}; expected a share of the commands, between 0 and 1.")
        for name in ("period", "episode", "action_scale", "resample", "push_every", "push_length"):
            if not getattr(self, name) > 0:
                raise SurefootError(f"{name} is {getattr(self, name):g}; expected a number above 0.")

    def without_chance(self) -> Self:
        """The same task without pushes, for evaluation; observations stay noisy."""
        return _replace(self, push_speed=0.0, resample=float("inf"), still=0.0)


@dataclass(frozen=True, kw_only=True)
class LearnerSettings:
    """PPO and its schedules; the paper's names are in the comments."""

    robots: int  # N
    hidden: tuple[int, ...]  # of actor and critic
    mirrored: bool  # every sample is learnt from together with its mirror images
    timestep: float  # of the physics [s]
    iterations: int  # of the whole training
    steps: int = 24  # N_step: control steps per robot and iteration
    epochs: int = 5  # N_epoch
    mini_batches: int = 10  # N_mb
    first_std: float = 1.5  # σ_0
    learning_rate: float = 1e-3  # η, adaptive
    desired_kl: float = 1e-2  # D_KL^target
    clip: float = 0.2  # ε
    discount: float = 0.99  # γ
    gae: float = 0.95  # λ
    value_weight: float = 1.0  # c_v
    max_gradient: float = 1.0  # ‖∇‖_max
    entropy_first: float = 2e-3  # α, initial
    entropy_last: float = 5e-4  # α, final
    entropy_turn_over: float = 20000.0  # T_ℰ [iterations]
    entropy_steepness: float = 5e-4  # η of the schedule [1/iteration]; the paper does not give it
    penalty_half_life: float = 500.0  # of κ [iterations]
    prune: bool = False  # on flat ground the critic takes one cell of the height scan: all of them are equal there
    bfloat16: bool = False  # hidden layers in bfloat16 during the update
    matmul: Literal["highest", "high", "medium"] = "highest"  # precision of matrix products

    def replace(self, **changes: Any) -> Self:
        """The same settings with some changed."""
        return _replace(self, **changes)


def _ordered(name: str, ranges: Any) -> None:
    for low, high in ranges:
        if not low <= high:
            raise SurefootError(f"{name} runs from {low:g} to {high:g}; the first number must not be above the second.")


PRESETS: dict[str, tuple[TaskSettings, LearnerSettings]] = {
    "paper": (
        TaskSettings(action_scale=1.0),
        LearnerSettings(
            robots=4096, hidden=(256, 256, 256, 128), mirrored=False, timestep=0.0025, iterations=30000,
        ),
    ),
    "laptop": (
        TaskSettings(),
        LearnerSettings(
            robots=512, hidden=(128, 128, 128), mirrored=True, timestep=0.005, iterations=1000, mini_batches=4, first_std=1.0,
            entropy_turn_over=650.0, entropy_steepness=0.005, prune=True, matmul="medium",
        ),
    ),
}  # fmt: skip
"""Settings by name. The number of robots of the paper is not published; 4096 is usual."""


def preset(name: str) -> tuple[TaskSettings, LearnerSettings]:
    """The task and the learner of a preset."""
    if name not in PRESETS:
        raise SurefootError(f"--preset is {name!r}; valid: {', '.join(PRESETS)}.")
    return PRESETS[name]


def plain(settings: TaskSettings | LearnerSettings) -> dict[str, Any]:
    """Settings as JSON holds them."""
    return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(settings).items()}
