"""A virtual robot on the ground as a film or a window sees it."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.simulate.virtual.hardware import VirtualHardware

Array = np.ndarray


class Stage:
    """One virtual robot in the place of a world: `surefoot.simulate.video.Filmed`. A frame may be taken at every state."""

    def __init__(self, hardware: VirtualHardware) -> None:
        body = hardware.body
        if body.ground is None:
            raise SurefootError("a virtual robot whose base is fixed is not filmed; put it on the ground.")
        self.ground, self.terrain, self.stepper = body.ground, body.terrain, self
        self.timestep, self.substeps, self.stand_height = hardware.period, 1, body.ground.stand_height
        self._data = body.data

    def state(self) -> tuple[Array, Array]:
        """qpos and qvel of the one robot."""
        return self._data.qpos[None], self._data.qvel[None]


class Window:
    """A window in which a virtual robot is seen, where there is a display."""

    def __init__(self, hardware: VirtualHardware, rate: float = 50.0) -> None:
        import mujoco.viewer

        self._every, self._count = max(1, round(1 / (rate * hardware.period))), 0
        self._viewer: Any = mujoco.viewer.launch_passive(hardware.body.model, hardware.body.data)

    def take(self) -> None:
        """To be called at every state."""
        self._count += 1
        if self._count % self._every == 0 and self._viewer.is_running():
            self._viewer.sync()

    def close(self) -> None:
        """Shut it."""
        self._viewer.close()


def has_display() -> bool:
    """Whether a window could be seen."""
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
