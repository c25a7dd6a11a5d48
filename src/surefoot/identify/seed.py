"""A first guess without any search: regression on the measured motion, for a few delays.

With q, q̇, q̈ of the smoothed encoder and the commanded torque τ(T_d) = sat(P(û(t − T_d) − q) − D q̇), each joint obeys

    τ(T_d) − link torque(q, q̇, q̈)  =  I_a q̈ + d q̇ + τ_f sgn(q̇) + constant

which is linear in what is sought. Differentiated encoders make these numbers rough; they are where the real search starts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls

from surefoot.identify.motion import WINDOW, commanded, drive_demand, smoothed
from surefoot.identify.unknowns import Space
from surefoot.record.recording import Recording
from surefoot.robot.drive import torque_bounds
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.inverse import link_torque
from surefoot.simulate.physics import Physics

Array = np.ndarray
SAMPLES = 600  # of each recording that the regression looks at


def seeds(robot: Robot, recordings: Sequence[Recording], space: Space, physics: Physics, *, delays: int = 6) -> Array:
    """Points of the cube to start from, the most plausible first, shape (delays, d)."""
    prepared = [sampled(robot, rec) for rec in recordings]
    longest = max((e.upper for e in space.entries if e.name == "delay"), default=0.0)
    shortest = min((e.lower for e in space.entries if e.name == "delay"), default=0.0)
    found = []
    for delay in np.linspace(shortest, min(longest, shortest + 0.03), delays):
        parts = [balance(robot, rec, ready, float(delay)) for rec, ready in zip(recordings, prepared, strict=True)]
        dynamics, misfit = regress(recordings[0].joints, parts, float(delay), physics)
        found.append((misfit, space.encode(dynamics)))
    return np.array([x for _, x in sorted(found, key=lambda pair: pair[0])])


def sampled(robot: Robot, rec: Recording) -> tuple[Array, Array, Array, Array, Array]:
    """Times, smoothed q, q̇, q̈ and link torque at some of the samples, away from the ends, each of shape (S, n)."""
    time, q, v, a = smoothed(rec)
    edge = min(len(time) // 4, int(2 * WINDOW * rec.rate))
    pick = np.unique(np.linspace(edge, len(time) - 1 - edge, min(SAMPLES, max(2, len(time) - 2 * edge))).astype(int))
    return time[pick], q[pick], v[pick], a[pick], link_torque(robot, rec.joints, q[pick], v[pick], a[pick])


def balance(robot: Robot, rec: Recording, ready: tuple[Array, ...], delay: float) -> tuple[Array, Array, Array, Array]:
    """q̇, q̈, the left side of the regression (NaN where the drive was off or saturated or nothing valid was measured) and P."""
    time, q, v, a, links = ready
    torque = drive_demand(rec, (time, q, v, a), delay)
    rows = robot.select(rec.joints)
    full_q, full_v = np.tile(robot.posture, (len(q), 1)), np.zeros((len(q), robot.n))
    full_q[:, rows], full_v[:, rows] = q, v
    low, high = (bound[:, rows] for bound in torque_bounds(robot, full_q, full_v))
    usable = (torque > low) & (torque < high)
    for flags in ("enabled", "valid"):
        if getattr(rec, flags) is not None:
            usable &= commanded(rec, time, flags) > 0.999
    return v, a, np.where(usable, torque - links, np.nan), np.broadcast_to(rec.stiffness, v.shape)


def regress(
    joints: tuple[str, ...], parts: list[tuple[Array, ...]], delay: float, physics: Physics
) -> tuple[JointDynamics, float]:
    """Non-negative least squares, joint by joint; the misfit is relative to each joint's torque."""
    v, a, left, stiffness = (np.concatenate(x) for x in zip(*parts, strict=True))
    n = len(joints)
    values, misfit = np.zeros((4, n)), 0.0
    for j in range(n):
        usable = np.isfinite(left[:, j])
        if np.count_nonzero(usable) < 20:
            continue
        speed, right = v[usable, j], left[usable, j]
        crawl = 0.05 * np.sqrt((speed**2).mean()) + 1e-9
        one = np.ones_like(speed)
        design = np.stack([a[usable, j], speed, np.tanh(speed / crawl), one, -one], axis=1)
        scale = np.sqrt((design**2).mean(axis=0)) + 1e-30
        answer, _ = nnls(design / scale, right)
        answer = answer / scale
        residual = right - design @ answer
        misfit += float((residual**2).mean() / ((right - right.mean()) ** 2).mean().clip(1e-30))
        values[:3, j] = answer[:3]
        if physics.bias_form == "setpoint" and stiffness[usable, j].mean() > 0:
            values[3, j] = (answer[4] - answer[3]) / stiffness[usable, j].mean()
    armature, damping, friction, bias = values
    return JointDynamics(
        joints=joints, armature=armature, damping=damping, friction=friction, bias=bias, delay=np.array([delay])
    ), misfit
