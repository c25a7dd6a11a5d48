"""What a policy sees: one function, for training and for hardware."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.robot.dynamics import Array

BLOCKS = ("linear_velocity", "angular_velocity", "gravity", "command", "position", "velocity", "action")
"""The parts of an observation in their order: 3, 3, 3, 3 and three times the number of joints."""


def observe(
    *,
    linear_velocity: ArrayLike,
    angular_velocity: ArrayLike,
    gravity: ArrayLike,
    command: ArrayLike,
    position: ArrayLike,
    velocity: ArrayLike,
    action: ArrayLike,
    posture: ArrayLike,
    out: NDArray[Any] | None = None,
) -> Array:
    """The observation o = [v_B, ω_B, g_B, (v̂_x, v̂_y, ω̂_yaw), q − q_0, q̇, a_{t−1}], shape (..., 12 + 3n); 48 for 12 joints.

    v_B [m/s] and ω_B [rad/s] are the base's velocity in its own frame, g_B the direction of gravity there (a unit vector), q the
    ENCODERS' reading [rad], q_0 the posture that actions are counted from, a_{t−1} the policy's last output. `out` takes the
    numbers, in its own precision, and is returned.
    """
    parts = (linear_velocity, angular_velocity, gravity, command, np.subtract(position, posture), velocity, action)
    return np.concatenate([np.asarray(part, dtype=float) for part in parts], axis=-1, out=out)


def observation_names(joints: Sequence[str]) -> tuple[str, ...]:
    """A name for each number of an observation."""
    base = [f"{block}.{axis}" for block in BLOCKS[:3] for axis in "xyz"] + ["command.x", "command.y", "command.yaw"]
    return (*base, *(f"{block}.{joint}" for block in BLOCKS[4:] for joint in joints))
