"""A window in which a robot on the ground is seen as it moves, where there is a display."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.simulate.video import Filmed


class Window:
    """The first robot of a world, or a virtual robot; the camera walks along. A window that is shut is no reason to stop.

    Call `take` after every step, and `close` in the end.
    """

    def __init__(self, world: Filmed, *, rate: float = 50.0, real_time: bool = False) -> None:
        """Open it; `rate` is how often it is drawn [1/s], and with `real_time` `take` waits for the clock."""
        import mujoco
        import mujoco.viewer

        model = world.ground.model
        period = world.substeps * world.timestep
        self._world, self._data, self._real = world, mujoco.MjData(model), real_time
        self._every = max(1, round(1 / (rate * period)))
        self._frame, self._count, self._next = self._every * period, 0, time.perf_counter()
        others = set(threading.enumerate())
        self._viewer: Any = mujoco.viewer.launch_passive(model, self._data, show_left_ui=False, show_right_ui=False)
        self._threads = set(threading.enumerate()) - others
        with self._viewer.lock():
            camera = self._viewer.cam
            camera.type, camera.trackbodyid = mujoco.mjtCamera.mjCAMERA_TRACKING, 1
            camera.distance, camera.azimuth, camera.elevation = 6.0 * world.stand_height, 130.0, -20.0

    def take(self) -> None:
        """To be called after every step: shows the robot when a frame is due."""
        self._count += 1
        if self._count % self._every or not self._viewer.is_running():
            return
        import mujoco

        model = self._world.ground.model
        with self._viewer.lock():
            self._data.qpos[:] = self._world.stepper.state()[0][0]
            mujoco.mj_kinematics(model, self._data)
            mujoco.mj_comPos(model, self._data)
            mujoco.mj_camlight(model, self._data)
        self._viewer.sync()
        if self._real:
            self._next = max(self._next + self._frame, time.perf_counter() - 1.0)  # what was late is not caught up in one leap
            time.sleep(max(0.0, self._next - time.perf_counter()))

    @property
    def open(self) -> bool:
        """Whether nobody has shut it yet."""
        return bool(self._viewer.is_running())

    def close(self) -> None:
        """Shut it, and wait until nothing draws any more: the model may be freed afterwards."""
        self._viewer.close()
        for thread in self._threads:
            thread.join(timeout=5.0)


def has_display() -> bool:
    """Whether a window could be seen."""
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
