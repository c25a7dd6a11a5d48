"""The world's mechanics on MuJoCo Warp, in float32: on a GPU, or on the CPU where there is none (slow; for tests).

The drives are the same NumPy code as everywhere: per physics step, positions and speeds come to the host and the actuators'
input goes back, a few hundred bytes per robot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.simulate.drives import Drives, Effort
from surefoot.simulate.ground import Ground

Array = np.ndarray
CONTACTS, ROWS = 64, 256  # contacts and constraint rows per robot, at most


class WarpStepper:
    """N worlds of one model on a Warp device."""

    def __init__(self, ground: Ground, drives: Drives) -> None:
        import mujoco

        try:
            import mujoco_warp
            import warp
        except ImportError:
            raise SurefootError('engine "warp" needs MuJoCo Warp: pip install "surefoot[warp]"') from None
        warp.config.log_level = warp.LOG_WARNING
        self.ground, self.drives, n = ground, drives, drives.robots
        model = ground.model
        model.opt.tolerance = max(model.opt.tolerance, 1e-6)  # float32 cannot do better
        own = ["actuator_forcerange", "actuator_biasprm", "geom_friction", "dof_frictionloss"]
        if drives.dynamics.batch:
            raise SurefootError('engine "warp" takes one set of joint dynamics for all robots; use engine "batch".')
        self.device = mujoco_warp.put_model(model, batch_sizes=dict.fromkeys(own, n))
        data = mujoco.MjData(model)
        self.device.opt.warn_overflow &= ~mujoco_warp.OverflowType.ITERATIONS
        self.data = mujoco_warp.put_data(model, data, nworld=n, nconmax=CONTACTS, njmax=ROWS)
        self._step = _recorded(lambda: mujoco_warp.step(self.device, self.data))
        self._forward = lambda: mujoco_warp.forward(self.device, self.data)
        stiffness, damping = drives.feedback
        self._bias = self._host(self.device.actuator_biasprm)
        self._bias[:, :, 1], self._bias[:, :, 2] = -stiffness, -damping
        self.device.actuator_biasprm.assign(self._bias)
        self._bounds = self._host(self.device.actuator_forcerange)
        self._friction = self._host(self.device.geom_friction)
        self._joint_friction = self._host(self.device.dof_frictionloss)
        self._wrench = self._host(self.data.xfrc_applied)
        applied = self._host(self.data.qfrc_applied)
        applied[:, ground.dofs] = drives.dynamics.load
        self.data.qfrc_applied.assign(applied)
        self._now = self._host(self.data.qpos), self._host(self.data.qvel)

    @staticmethod
    def _host(array: Any) -> Array:
        return array.numpy().copy()

    def state(self) -> tuple[Array, Array]:
        """qpos and qvel now."""
        qpos, qvel = self._now
        return qpos.astype(float), qvel.astype(float)

    def put(self, which: Array, qpos: Array, qvel: Array) -> None:
        """Set the state of some robots."""
        for rows, new, array in zip(self._now, (qpos, qvel), (self.data.qpos, self.data.qvel), strict=True):
            rows[which] = new
            array.assign(rows)
        warm = self._host(self.data.qacc_warmstart)
        warm[which] = 0.0
        self.data.qacc_warmstart.assign(warm)
        self._forward()

    def step(self, effort: Effort, friction: Array, wrench: Array) -> None:
        """One physics step."""
        self.data.ctrl.assign(effort.control)
        self._bounds[..., 0], self._bounds[..., 1] = effort.low, effort.high
        self.device.actuator_forcerange.assign(self._bounds)
        self._friction[:, self.ground.shapes, 0] = friction[:, None]
        self.device.geom_friction.assign(self._friction)
        self._wrench[:, self.ground.base] = wrench
        self.data.xfrc_applied.assign(self._wrench)
        if effort.friction is not None:
            self._joint_friction[:, self.ground.dofs] = effort.friction
            self.device.dof_frictionloss.assign(self._joint_friction)
        self._step()
        self._now = self._host(self.data.qpos), self._host(self.data.qvel)

    def sensors(self) -> Array:
        """Sensor readings as the last step began."""
        return self._host(self.data.sensordata).astype(float)

    def torque(self) -> Array:
        """What the actuators gave in the last step."""
        return self._host(self.data.actuator_force).astype(float)


def _recorded(call: Callable[[], None]) -> Callable[[], None]:
    """The same work as one CUDA graph, where there is CUDA: launching its many kernels one by one costs more than they do."""
    import warp

    if not warp.get_device().is_cuda:
        return call
    call()  # compiles the kernels
    with warp.ScopedCapture() as capture:
        call()
    graph: Any = capture.graph
    return lambda: warp.capture_launch(graph)
