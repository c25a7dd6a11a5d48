"""Replay: recorded command in, simulated joint motion out, by the in-air kernel or, where it cannot, by MuJoCo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from surefoot.errors import SurefootError
from surefoot.record.recording import Recording
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.inair import InAir
from surefoot.simulate.physics import Physics
from surefoot.simulate.reference import Reference
from surefoot.simulate.schedule import Schedule
from surefoot.simulate.tree import Unsupported

Array = np.ndarray
Choice = Literal["auto", "kernel", "mujoco"]


class Engine(Protocol):
    """What replays candidates on a recording."""

    schedule: Schedule

    @property
    def groups(self) -> list[Array]:
        """Joints of each independent branch."""
        ...

    def trajectories(self, candidates: JointDynamics, *, torque: bool = False) -> tuple[Array, Array | None, Array]:
        """Encoder readings (L, T, n), drive torques and saturation counts."""
        ...

    def scores(self, candidates: JointDynamics) -> Array:
        """Mean squared error per candidate and joint."""
        ...


@dataclass(frozen=True, kw_only=True)
class Replay:
    """What one robot did in simulation, at the recording's time stamps."""

    joints: tuple[str, ...]
    time: Array  # [s], shape (T,)
    position: Array  # what the encoders would have read [rad], shape (T, n)
    torque: Array  # of the drives [N·m], shape (T, n)
    saturated: Array  # share of physics steps at which each drive was clamped [-], shape (n,)


def engine(
    robot: Robot, recording: Recording, physics: Physics, *, choice: Choice = "auto", dtype: str = "float64",
    say: Callable[[str], None] | None = None, candidates: JointDynamics | None = None, torque: bool = False,
) -> Engine:  # fmt: skip
    """The in-air kernel, or MuJoCo where the kernel cannot serve, with one line that says so.

    Kernels are compiled when they are first used. `candidates` like those that will be replayed have theirs compiled here, so
    that a failure is noticed in time; without them a small function shows that code can be compiled on this machine at all.
    """
    if choice not in ("auto", "kernel", "mujoco"):
        raise SurefootError(f"engine is {choice!r}; valid: auto, kernel, mujoco.")
    if choice == "mujoco":
        return Reference(robot, recording, physics)
    try:
        kernel = InAir(robot, recording, physics, dtype=dtype)
        kernel.prepare(candidates, torque=torque)
    except (Unsupported, ImportError, RuntimeError) as reason:
        if choice == "kernel":
            raise
        if say:
            say(f"MuJoCo replays instead of the in-air kernel, some hundred times slower: {reason}")
        return Reference(robot, recording, physics)
    return kernel


def replay(
    robot: Robot, recording: Recording, dynamics: JointDynamics, *, physics: Physics | None = None, choice: Choice = "auto"
) -> Replay:
    """One candidate through one recording."""
    recording = recording if recording.joints == dynamics.joints else recording.ordered_for(dynamics.joints)
    one = JointDynamics.stack([dynamics])
    used = engine(robot, recording, physics or Physics(), choice=choice, candidates=one, torque=True)
    position, torque, saturated = used.trajectories(one, torque=True)
    steps = used.schedule.steps
    assert torque is not None
    return Replay(
        joints=recording.joints, time=recording.time, position=position[0], torque=torque[0], saturated=saturated[0] / steps
    )
