"""The paper's four rewards, each a pure function of what happened in one control step. Leading axes are robots."""

import numpy as np
from numpy.typing import ArrayLike

from surefoot.robot.dynamics import Array

WIDTH = 0.25  # σ_v [m²/s² and rad²/s²]; the paper does not give it
WINDOW = 3  # n_ftd: control steps over which a touch-down looks for the highest foot speed


def velocity_tracking(command: ArrayLike, linear: ArrayLike, angular: ArrayLike, *, width: float = WIDTH) -> Array:
    """r_v = exp(−‖v̂_xy − v_xy‖² / σ_v) + exp(−(ω̂_yaw − ω_yaw)² / σ_v), shape (...).

    `command` is (v̂_x, v̂_y, ω̂_yaw), `linear` and `angular` the base's velocity, all in the base's frame, shape (..., 3).
    """
    u, v, w = np.asarray(command), np.asarray(linear), np.asarray(angular)
    planar = ((u[..., :2] - v[..., :2]) ** 2).sum(-1)
    yaw = (u[..., 2] - w[..., 2]) ** 2
    return np.exp(-planar / width) + np.exp(-yaw / width)


def energy(command: ArrayLike, power: ArrayLike) -> Array:
    """r_e = γ_v P_total [W], γ_v = 1 / (‖v̂‖² + 1), shape (...).

    v̂ is the commanded linear velocity; P_total is the mean over the physics steps of the control step
    (see surefoot.robot.energy.total_power).
    """
    speed = (np.asarray(command)[..., :2] ** 2).sum(-1)
    return np.asarray(power) / (speed + 1.0)


def collision(beyond_limit: ArrayLike, touching: ArrayLike) -> Array:
    """r_c = 1 where any joint is beyond its limit or any thigh or knee touches something, else 0, shape (...).

    Both arguments are truth values over a last axis of joints or of geoms.
    """
    return (np.asarray(beyond_limit).any(-1) | np.asarray(touching).any(-1)).astype(float)


def touchdown(speeds: ArrayLike, landed: ArrayLike) -> Array:
    """r_ftd = Σ_j max over {t−2, t−1, t} of ‖v_j^foot‖ where foot j touches down at t [m/s], shape (...).

    `speeds` holds the last WINDOW speeds of the feet [m/s], shape (..., WINDOW, feet); `landed` their touch-downs, (..., feet).
    """
    return (np.asarray(speeds).max(-2) * np.asarray(landed)).sum(-1)
