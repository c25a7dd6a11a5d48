"""What only training sees: noise on the policy's observation, and the critic's privileged state."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefoot.robot.dynamics import Array


@dataclass(frozen=True, kw_only=True)
class Noise:
    """Half-widths of the uniform noise on what the policy observes; commands and actions have none."""

    linear_velocity: float = 0.1  # [m/s]
    angular_velocity: float = 0.2  # [rad/s]
    gravity: float = 0.05  # [-]
    position: float = 0.01  # [rad]
    velocity: float = 1.5  # [rad/s]

    def widths(self, n: int) -> Array:
        """The half-width of each number of an observation, shape (12 + 3n,)."""
        parts = [(self.linear_velocity, 3), (self.angular_velocity, 3), (self.gravity, 3), (0.0, 3),
                 (self.position, n), (self.velocity, n), (0.0, n)]  # fmt: skip
        return np.concatenate([np.full(count, width) for width, count in parts])


def privileged(*, wrench: ArrayLike, friction: ArrayLike, contacts: ArrayLike, scan: ArrayLike) -> Array:
    """The critic's own part of the state, shape (..., 7 + feet + cells); 305 with 4 feet and a scan of 14 × 21.

    `wrench` (..., 6) is the force [N] and the moment [N·m] on the base, `friction` (...) the ground's, `contacts` (..., feet)
    whether each foot touches, `scan` (..., 294) how high the base is above the ground around it [m].
    """
    parts = (wrench, np.asarray(friction)[..., None], contacts, scan)
    return np.concatenate([np.asarray(part, dtype=float) for part in parts], axis=-1)


def critic_size(joints: int, feet: int, cells: int) -> int:
    """Length of the critic's state: the policy's observation without noise and `privileged`; 48 + 305 for a quadruped."""
    return 12 + 3 * joints + 7 + feet + cells
