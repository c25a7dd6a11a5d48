"""A film of robots on the ground, drawn without a screen and written as MP4."""

from __future__ import annotations

import copy
import importlib
import os
import platform
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from surefoot.errors import SurefootError
from surefoot.simulate.ground import Ground
from surefoot.simulate.terrain import Terrain

Array = np.ndarray
ABREAST = 4  # robots shown at most on flat ground, side by side
AROUND = 12  # robots shown at most on a terrain: those nearest to the star
SEEN = 12.0  # [m] ground is drawn on a terrain, to either side of the star
BACKENDS = ("egl", "osmesa", "glfw")  # in this order, where MUJOCO_GL does not say


class Moving(Protocol):
    """Where the places of robots are read."""

    def state(self) -> tuple[Array, Array]:
        """qpos (N, nq) and qvel (N, nv) now."""
        ...


class Filmed(Protocol):
    """What can be filmed: a world, or a virtual robot."""

    @property
    def ground(self) -> Ground:
        """The model, and what in it is a robot's."""
        ...

    @property
    def stepper(self) -> Moving:
        """Where the robots are."""
        ...

    @property
    def terrain(self) -> Terrain:
        """What they walk on."""
        ...

    timestep: float  # [s]
    substeps: int  # between two frames that could be taken
    stand_height: float  # [m]


class Film:
    """Frames of a world's first robots; the camera walks along with them.

        film = Film(world)
        for ...:
            world.step(target)
            film.take()
        film.write(Path("walk.mp4"))

    On flat ground the first four are drawn side by side (robots may stand inside one another), on a terrain one robot and those
    near it: the first, or each of `stars` in turn.
    """

    def __init__(
        self, world: Filmed, *, size: tuple[int, int] = (960, 540), rate: float = 25.0, stars: Sequence[int] = (0,),
        scene: float = 4.0,
    ) -> None:  # fmt: skip
        """`size` is width and height in pixels; `rate` is the film's [1/s], at most one frame per control step.

        On a terrain the camera walks along with each of `stars` for a `scene` [s], and with the last to the end.
        """
        import mujoco

        width, height = size
        if width % 16 or height % 2:
            raise SurefootError(
                f"a film of {width} x {height} pixels cannot be coded; take a width in sixteens and an even height."
            )
        self.world, self.size = world, size
        self._gl = _context(width, height)
        self._gl.make_current()
        self._model = model = copy.copy(world.ground.model)
        model.vis.global_.offwidth, model.vis.global_.offheight = size
        self._data = mujoco.MjData(model)
        self._scene = mujoco.MjvScene(model, maxgeom=2000)
        self._scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = False  # slow without a graphics card
        self._look, self._camera = mujoco.MjvOption(), mujoco.MjvCamera()
        self._draw = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        self._release = weakref.finalize(self, _free, self._gl, self._draw)
        self._release.atexit = False
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._draw)
        period = world.substeps * world.timestep
        self._every = max(1, round(1 / (rate * period)))
        self.rate = 1 / (self._every * period)  # [1/s], so that the film runs in real time
        self._steps = 0
        self._stars, self._scene_frames = tuple(stars), max(1, round(scene * self.rate))
        self._star = self._stars[0]
        self._centre: Array | None = None
        self._middle: Array | None = None  # of the ground that is drawn [m]
        self.frames: list[Array] = []

    def take(self) -> None:
        """To be called after every control step: draws a frame when one is due."""
        if self._steps % self._every == 0:
            self.frames.append(self.frame())
        self._steps += 1

    def frame(self) -> Array:
        """The robots now, as pixels of shape (height, width, 3)."""
        import mujoco

        self._gl.make_current()
        self._turn()
        world, model, (width, height) = self.world, self._model, self.size
        qpos = np.array(world.stepper.state()[0])
        if not world.terrain.flat:
            self._cut(qpos[self._star, :2])
        qpos = self._shown(qpos) if world.ground.free else qpos[:1]
        self._aim(qpos[: ABREAST if world.terrain.flat else 1, :3].mean(axis=0) if world.ground.free else np.zeros(3))
        for k, place in enumerate(qpos):
            self._data.qpos[:] = place
            mujoco.mj_kinematics(model, self._data)
            mujoco.mj_comPos(model, self._data)
            mujoco.mj_camlight(model, self._data)
            if k == 0:
                every = mujoco.mjtCatBit.mjCAT_ALL
                mujoco.mjv_updateScene(model, self._data, self._look, None, self._camera, every, self._scene)
            else:
                moving = mujoco.mjtCatBit.mjCAT_DYNAMIC
                mujoco.mjv_addGeoms(model, self._data, self._look, mujoco.MjvPerturb(), moving, self._scene)
        pixels = np.zeros((height, width, 3), dtype=np.uint8)
        window = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(window, self._scene, self._draw)
        mujoco.mjr_readPixels(pixels, None, window, self._draw)
        return pixels[::-1].copy()

    def write(self, path: Path) -> Path:
        """The frames so far as an MP4 file."""
        if not self.frames:
            raise SurefootError("the film has no frame yet; call take() after each control step.")
        try:
            import imageio_ffmpeg
        except ImportError:
            raise SurefootError('a video needs imageio-ffmpeg: pip install "surefoot[deploy]"') from None
        path.parent.mkdir(parents=True, exist_ok=True)
        rate: Any = self.rate
        writer = imageio_ffmpeg.write_frames(str(path), self.size, fps=rate, quality=7, macro_block_size=2)
        writer.send(None)
        for pixels in self.frames:
            writer.send(np.ascontiguousarray(pixels))
        writer.close()
        return path

    def close(self) -> None:
        """Give the graphics back; frames stay."""
        self._release()

    def _cut(self, at: Array) -> None:
        """Of the height field only what is around the star: millions of triangles take seconds without a graphics card."""
        import mujoco

        terrain, model, start = self.world.terrain, self._model, np.array(self.world.terrain.corner)
        if self._middle is not None and np.abs(at - self._middle).max() < SEEN / 3:
            return
        count = np.minimum(round(2 * SEEN / terrain.cell) + 1, terrain.heights.shape)
        first = np.clip(np.rint((at - SEEN - start) / terrain.cell).astype(int), 0, np.array(terrain.heights.shape) - count)
        (i, j), (m, n) = first, count
        low, high = float(terrain.heights.min()), float(terrain.heights.max())
        rows = (terrain.heights[i : i + m, j : j + n].T - low) / (high - low)  # MuJoCo's rows run along y
        model.hfield_nrow[0], model.hfield_ncol[0] = rows.shape
        model.hfield_data[: rows.size] = rows.ravel()
        extent = (count - 1) * terrain.cell / 2
        model.hfield_size[0, :2] = extent
        model.geom_pos[model.geom_type == mujoco.mjtGeom.mjGEOM_HFIELD, :2] = start + first * terrain.cell + extent
        mujoco.mjr_uploadHField(model, self._draw, 0)
        self._middle = np.array(at)

    def _turn(self) -> None:
        """To the star whose scene it is."""
        star = self._stars[min(len(self.frames) // self._scene_frames, len(self._stars) - 1)]
        if star != self._star:
            self._star, self._centre = star, None

    def _shown(self, qpos: Array) -> Array:
        """The robots to draw: on flat ground the first few, moved apart; on a terrain the star and those around it."""
        if not self.world.terrain.flat:
            away = np.linalg.norm(qpos[:, :2] - qpos[self._star, :2], axis=1)
            away[self._star] = -1.0
            return qpos[np.argsort(away, kind="stable")[:AROUND]]
        few = qpos[:ABREAST].copy()
        few[:, 1] += 2.5 * self.world.stand_height * (np.arange(len(few)) - (len(few) - 1) / 2)
        return few

    def _aim(self, at: Array) -> None:
        """Look at the robots from their front left; follow them smoothly along the ground, and not their bouncing."""
        height = self.world.stand_height
        centre = np.array([at[0], at[1], self.world.terrain.height(at[:2]) + 0.6 * height])
        self._centre = centre if self._centre is None else self._centre + 0.1 * (centre - self._centre)
        self._camera.lookat[:] = self._centre
        self._camera.distance, self._camera.azimuth, self._camera.elevation = 8.0 * height, 130.0, -20.0


def _free(gl: Any, draw: Any) -> None:
    """Free what was drawn with in the context where it lives; another film's may be the current one."""
    gl.make_current()
    draw.free()
    gl.free()


def _context(width: int, height: int) -> Any:
    """A place to draw without a window."""
    import mujoco

    if platform.system() != "Linux":
        return mujoco.GLContext(width, height)
    wanted = os.environ.get("MUJOCO_GL", "").strip().lower()
    failures = []
    for name in [wanted] if wanted in BACKENDS else BACKENDS:
        if name == "glfw" and not os.environ.get("DISPLAY"):
            failures.append("glfw: no display")
            continue
        try:
            return importlib.import_module(f"mujoco.{name}").GLContext(width, height)
        except Exception as error:  # each library fails in its own way
            failures.append(f"{name}: {' '.join(str(error).split())}")
    raise SurefootError(
        f"nothing here can draw a video ({'; '.join(failures)}). Install a software renderer, for example "
        "apt install libegl1 libgl1-mesa-dri, or leave the video out."
    )
