"""The actuator, once: what a drive makes of its command. Replay, training and the robot's controller all use this.

Every function broadcasts over leading axes; the last axis is the robot's joints in `robot.joints` order.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from surefoot.robot.dynamics import Array

if TYPE_CHECKING:
    from surefoot.robot.spec import Robot


def gear_ratio(robot: "Robot", position: ArrayLike) -> Array:
    """Gear ratio r(q) [-], shape (..., n): the table, linear between its points and constant beyond its ends."""
    q = np.asarray(position, dtype=float)
    ratio = np.broadcast_to(robot.gear_ratio[:, 0], q.shape).copy()
    for j in np.flatnonzero(robot.geared):
        ratio[..., j] = np.interp(q[..., j], robot.gear_position[j], robot.gear_ratio[j])
    return ratio


def torque_bounds(robot: "Robot", position: ArrayLike, velocity: ArrayLike) -> tuple[Array, Array]:
    """The lowest and highest torque [N·m] that the drives can give at a state, each of shape (..., n).

    high = min(limit, stall (1 − v / no_load)) and low = max(−limit, −stall (1 + v / no_load)). Beyond its no-load speed
    a drive cannot push further, yet need not brake: high ≥ 0 ≥ low. A geared joint has its motor's values scaled by
    r(q): limit and stall grow with r, the no-load speed shrinks with it.
    """
    q, v = np.broadcast_arrays(np.asarray(position, dtype=float), np.asarray(velocity, dtype=float))
    r = np.where(robot.geared, gear_ratio(robot, q), 1.0)
    limit, stall, no_load = r * robot.torque_limit, r * robot.stall_torque, robot.no_load_speed / r
    high = np.minimum(limit, stall * (1.0 - v / no_load))
    low = np.maximum(-limit, -stall * (1.0 + v / no_load))
    return np.minimum(low, 0.0), np.maximum(high, 0.0)


def drive_torque(
    robot: "Robot",
    target: ArrayLike,
    position: ArrayLike,
    velocity: ArrayLike,
    *,
    stiffness: ArrayLike,
    damping: ArrayLike,
    bias: ArrayLike = 0.0,
    target_velocity: ArrayLike = 0.0,
    feedforward: ArrayLike = 0.0,
    enabled: ArrayLike = True,
    filtered_velocity: ArrayLike | None = None,
) -> Array:
    """Torque of the drives [N·m], shape (..., n): τ = sat(P(û − (q − q_b)) + D(û̇ − q̇) + τ_ff), 0 where not enabled.

    `position` q is the TRUE joint position; the drive sees its encoder, q − q_b. The bounds of sat hold at the true
    q and q̇. `filtered_velocity`, when given, replaces q̇ in the D term alone.
    """
    q, v = np.asarray(position, dtype=float), np.asarray(velocity, dtype=float)
    seen = v if filtered_velocity is None else np.asarray(filtered_velocity, dtype=float)
    encoder = q - np.asarray(bias, dtype=float)
    wanted = np.asarray(stiffness) * (np.asarray(target) - encoder)
    wanted = wanted + np.asarray(damping) * (np.asarray(target_velocity) - seen) + np.asarray(feedforward)
    low, high = torque_bounds(robot, q, v)
    return np.where(np.asarray(enabled, dtype=bool), np.clip(wanted, low, high), 0.0)


def safe_target(robot: "Robot", target: ArrayLike, position: ArrayLike) -> Array:
    """Target [rad], shape (..., n), that asks for no torque toward a hard joint limit (the paper's saturation).

    Where q is in the soft band inside a hard limit and û lies beyond that limit:
    û ← û − (q − q_soft) / (q_hard − q_soft) (û − q_hard), so that û = q_hard once q = q_hard (and beyond).
    """
    u, q = np.asarray(target, dtype=float), np.asarray(position, dtype=float)
    depth_up = np.clip((q - (robot.upper - robot.soft_band)) / robot.soft_band, 0.0, 1.0)
    depth_down = np.clip(((robot.lower + robot.soft_band) - q) / robot.soft_band, 0.0, 1.0)
    return u - depth_up * np.maximum(u - robot.upper, 0.0) - depth_down * np.minimum(u - robot.lower, 0.0)
