"""Inverse dynamics along a measured motion: the torque that the bare links need, and their inertia, by MuJoCo."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.robot.spec import Robot
from surefoot.simulate.physics import Physics, hung_model, hung_order

Array = np.ndarray


def link_torque(robot: Robot, joints: Sequence[str], q: Array, v: Array, a: Array) -> Array:
    """M(q) q̈ + c(q, q̇) of the links alone [N·m], shape (T, n): no armature, damping or friction."""
    import mujoco

    model = hung_model(robot, joints, Physics())
    model.dof_armature[:] = 0.0
    model.dof_damping[:] = 0.0
    model.dof_frictionloss[:] = 0.0
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    order, data = hung_order(model, joints), mujoco.MjData(model)
    out = np.empty_like(q)
    for i in range(len(q)):
        data.qpos[order], data.qvel[order], data.qacc[order] = q[i], v[i], a[i]
        mujoco.mj_inverse(model, data)
        out[i] = data.qfrc_inverse[order]
    return out


def mass_matrix(robot: Robot, joints: Sequence[str], q: Array | None = None) -> Array:
    """M(q) of the links alone [kg·m²], shape (..., n, n) for q of shape (..., n); without q at the reference of the model."""
    import mujoco

    model = hung_model(robot, joints, Physics())
    model.dof_armature[:] = 0.0
    order, data, mass = hung_order(model, joints), mujoco.MjData(model), np.zeros((model.nv, model.nv))
    data.qpos[:] = model.qpos0
    at = np.asarray(data.qpos[order] if q is None else q, dtype=float)
    n = at.shape[-1]
    out = np.empty((at.size // n, n, n))
    for row, posture in zip(out, at.reshape(-1, n), strict=True):
        data.qpos[order] = posture
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        mujoco.mj_fullM(model, data, mass)
        row[:] = mass[np.ix_(order, order)]
    return out.reshape(*at.shape, n)


def link_inertia(robot: Robot, joints: Sequence[str]) -> Array:
    """Inertia that each joint feels from the links alone, at the reference posture [kg·m²], shape (n,)."""
    return np.diag(mass_matrix(robot, joints)).copy()
