"""A virtual robot on the ground as a film or a window sees it."""

from __future__ import annotations

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
