"""The world's mechanics on all CPU cores: `mujoco.batch`."""

from __future__ import annotations

import numpy as np

from surefoot.simulate.drives import Drives, Effort
from surefoot.simulate.ground import Ground

Array = np.ndarray


class BatchStepper:
    """N simulations of one model on a pool of threads."""

    def __init__(self, ground: Ground, drives: Drives, *, threads: int = 0) -> None:
        import mujoco
        from mujoco.batch import Batch

        self.ground = ground
        stiffness, damping = drives.feedback
        model = ground.model
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)  # a lost robot is the world's to see
        self.batch = Batch(model, drives.robots, threads)
        self._velocity_stage = int(mujoco.mjtStage.mjSTAGE_VEL)
        self._bounds = self.batch.expand("actuator_forcerange")
        self._friction = self.batch.expand("geom_friction")
        self._joint_friction = self.batch.expand("dof_frictionloss")
        self.batch.bind("qfrc_applied")[:, ground.dofs] = drives.dynamics.load
        self._sensors, self._torque = self.batch.bind("sensordata"), self.batch.bind("actuator_force")
        self._q, self._v, self._control = (self.batch.bind(name) for name in ("qpos", "qvel", "ctrl"))
        self._wrench = self.batch.bind("xfrc_applied")[:, ground.base]
        bias = self.batch.expand("actuator_biasprm")
        bias[:, :, 1], bias[:, :, 2] = -stiffness, -damping
        if drives.dynamics.batch:
            for name, value in (("dof_armature", "armature"), ("dof_damping", "damping"), ("dof_frictionloss", "friction")):
                self.batch.expand(name)[:, ground.dofs] = getattr(drives.dynamics, value)
            self.batch.set_const()

    def state(self) -> tuple[Array, Array]:
        """qpos and qvel now."""
        return self._q, self._v

    def put(self, which: Array, qpos: Array, qvel: Array) -> None:
        """Set the state of some robots."""
        self._q[which], self._v[which] = qpos, qvel
        self.batch.bind("qacc_warmstart")[which] = 0.0
        self.batch.forward(ids=which, stage=self._velocity_stage)

    def step(self, effort: Effort, friction: Array, wrench: Array) -> None:
        """One physics step."""
        self._control[:] = effort.control
        self._bounds[..., 0], self._bounds[..., 1] = effort.low, effort.high
        self._friction[:, self.ground.shapes, 0] = friction[:, None]
        self._wrench[:] = wrench
        if effort.friction is not None:
            self._joint_friction[:, self.ground.dofs] = effort.friction
        self.batch.step()

    def sensors(self) -> Array:
        """Sensor readings as the last step began."""
        return self._sensors.copy()

    def torque(self) -> Array:
        """What the actuators gave in the last step."""
        return self._torque.copy()
