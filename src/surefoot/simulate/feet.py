"""Where a robot's feet are, seen from its base, and what its joints do there: the kinematics of legged odometry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.robot.dynamics import JointDynamics
from surefoot.simulate.ground import Ground
from surefoot.simulate.physics import Physics
from surefoot.simulate.terrain import Terrain

if TYPE_CHECKING:
    from surefoot.robot.spec import Robot

Array = np.ndarray


class Feet:
    """The feet that `Ground` finds, as points of their links. Everything is in base axes, the base's origin at zero."""

    def __init__(self, robot: Robot) -> None:
        import mujoco

        self._mujoco = mujoco
        ground = Ground.of(robot, JointDynamics.no_model(robot.joints), Physics(), Terrain())
        self.names, self.mass = ground.feet, ground.mass
        self._model, self._data = ground.model, mujoco.MjData(ground.model)
        self._positions, self._dofs = ground.positions, ground.dofs
        self._bodies = [ground.model.body(name).id for name in ground.feet]
        self._shapes = [int(ground.model.sensor(f"foot_position{i}").objid[0]) for i in range(len(ground.feet))]
        self._radius = ground.model.geom_size[self._shapes, 0]  # of a sphere or a capsule [m]
        self._data.qpos[:7] = [0, 0, 0, 1, 0, 0, 0]
        self._whole = np.zeros((3, ground.model.nv))
        self._load = np.zeros(ground.model.nv)
        self.point = np.zeros((len(self.names), 3))  # p: where each foot meets the ground [m], shape (F, 3)
        self.jacobian = np.zeros((len(self.names), 3, robot.n))  # ∂p/∂q, shape (F, 3, n)

    def update(self, position: Array, gravity: Array) -> None:
        """Fill `point` and `jacobian` at joint positions q [rad], with gravity along a unit vector in base axes.

        The point of a round foot that touches the ground lies its radius below the foot's centre; as a point of the link it
        stands still while the foot rolls, so that rolling is no slip.
        """
        mujoco, m, d = self._mujoco, self._model, self._data
        d.qpos[self._positions] = position
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        for i, (body, shape) in enumerate(zip(self._bodies, self._shapes, strict=True)):
            self.point[i] = d.geom_xpos[shape] + self._radius[i] * gravity
            mujoco.mj_jac(m, d, self._whole, None, self.point[i], body)
            self.jacobian[i] = self._whole[:, self._dofs]

    def torque(self, velocity: Array, acceleration: Array, rate: Array, force: Array) -> Array:
        """Torque that moves the links as they move where `update` left them, if no foot touched anything [N·m], shape (n,).

        Joint velocity and acceleration [rad/s, rad/s²]; the base turns with `rate` [rad/s] and feels the specific force `force`
        [m/s²], which is all that gravity and its own acceleration do to the legs.
        """
        mujoco, m, d = self._mujoco, self._model, self._data
        d.qvel[3:6], d.qvel[self._dofs], d.qacc[self._dofs] = rate, velocity, acceleration
        m.opt.gravity[:] = -force
        mujoco.mj_comVel(m, d)
        mujoco.mj_rne(m, d, 1, self._load)
        return self._load[self._dofs]
