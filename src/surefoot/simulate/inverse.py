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


def link_mass(robot: Robot, joints: Sequence[str], q: Array) -> Array:
    """Mass matrix M(q) of the links alone along a motion [kg·m²], shape (T, n, n): no armature."""
    import mujoco

    model = hung_model(robot, joints, Physics())
    model.dof_armature[:] = 0.0
    order, data = hung_order(model, joints), mujoco.MjData(model)
    mass, out = np.zeros((model.nv, model.nv)), np.empty((*q.shape, q.shape[1]))
    for i in range(len(q)):
        data.qpos[order] = q[i]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_crb(model, data)
        mujoco.mj_fullM(model, data, mass)
        out[i] = mass[np.ix_(order, order)]
    return out


def link_inertia(robot: Robot, joints: Sequence[str]) -> Array:
    """Inertia that each joint feels from the links alone, at the reference posture [kg·m²], shape (n,)."""
    import mujoco

    model = hung_model(robot, joints, Physics())
    model.dof_armature[:] = 0.0
    data, mass = mujoco.MjData(model), np.zeros((model.nv, model.nv))
    data.qpos[:] = model.qpos0
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, data, mass)
    return np.diag(mass)[hung_order(model, joints)]
