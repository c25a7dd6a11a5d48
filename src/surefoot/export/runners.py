"""Targets that run here: MuJoCo on the file that was written, and mjlab on the module, in its own environment."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import numpy as np

from surefoot.errors import SurefootError
from surefoot.export import hang, urdf
from surefoot.export.values import Values
from surefoot.identify.fit import Fit
from surefoot.record.recording import Recording
from surefoot.robot.canonical import canonical_text
from surefoot.robot.spec import Robot
from surefoot.simulate.physics import hung_model
from surefoot.simulate.schedule import Schedule

Array = np.ndarray


class Mujoco:
    """MuJoCo, running the file that was written."""

    def __init__(self, path: Path, to: str, robot: Robot, fit: Fit) -> None:
        self.path, self.to, self.robot, self.fit = path, to, robot, fit
        self.notes: list[str] = []

    def run(self, values: Values, motion: Recording, path: Path | None = None) -> Array:
        """Encoder readings of the file's model [rad], shape (T, n)."""
        return self.motion(values, motion, path)[0]

    def motion(self, values: Values, motion: Recording, path: Path | None = None) -> Array:
        """Encoder readings and joint positions [rad], shape (2, T, n)."""
        model, notes = (hang.compiled if self.to == "mjcf" else urdf.compiled)(path or self.path)
        options = hang.in_the_air(model, self.robot, motion, self.fit.physics, self.fit.dynamics.tilt)
        self.notes += notes + (options if self.to == "mjcf" else [])
        reading = hang.replay(model, self.robot, motion, self.fit.physics, values.joints)
        return np.stack([reading, reading + hang.offsets(model, motion.joints)])

    def probe(self, values: Values, changed: list[Values], motion: Recording) -> tuple[Array, list[Array]]:
        """The motion (2, T, n) of the file, and that of files in which one value is another."""
        from surefoot.export.targets import write

        before = self.motion(values, motion)
        after = []
        for other in changed:
            with tempfile.TemporaryDirectory() as folder:
                copy = Path(folder) / self.path.name
                write(other, self.to, self.path if self.to == "mjcf" else _plain(self.path), copy)
                after.append(self.motion(other, motion, copy))
        return before, after


def _plain(path: Path) -> str:
    """A written URDF without its ros2_control block, so that it can be written again."""
    text = path.read_text(encoding="utf-8")
    start, end = text.find("<ros2_control"), text.rfind("</ros2_control>")
    return text[:start] + text[end + len("</ros2_control>") :] if start >= 0 else text


class Mjlab:
    """mjlab on the CPU, in its own interpreter."""

    def __init__(self, path: Path, robot: Robot, fit: Fit, python: str | Path) -> None:
        self.path, self.robot, self.fit, self.python = path, robot, fit, str(python)
        self.notes: list[str] = []

    def run(self, values: Values, motion: Recording) -> Array:
        """Encoder readings of mjlab's robot [rad], shape (T, n)."""
        return self._call(values, motion, [])[0][0]

    def probe(self, values: Values, changed: list[Values], motion: Recording) -> tuple[Array, list[Array]]:
        """The motion (2, T, n) of the module, and that of modules in which one value is another."""
        from surefoot.export.targets import write

        with tempfile.TemporaryDirectory() as folder:
            others = [Path(folder) / f"probe_{i}.py" for i in range(len(changed))]
            for other, path in zip(changed, others, strict=True):
                write(other, "mjlab", "", path)
            motions = self._call(values, motion, others)
        return motions[0], motions[1:]

    def _call(self, values: Values, motion: Recording, others: list[Path]) -> list[Array]:
        if (
            motion.prescribed
            or motion.enabled is not None
            or motion.feedforward is not None
            or motion.target_velocity is not None
        ):
            raise SurefootError("the mjlab proof replays position commands to all joints; choose a recording with nothing else.")
        schedule = Schedule.of(motion, self.fit.physics)
        if not schedule.on_grid:
            raise SurefootError(
                "the mjlab proof needs a recording with one stamp per physics step; pass no --recording to use a chirp."
            )
        with tempfile.TemporaryDirectory() as folder:
            job, result = Path(folder) / "job.npz", Path(folder) / "motion.npz"
            np.savez(
                job, model=np.array(self._model(motion)), joints=np.array(motion.joints), target=motion.target,
                start=schedule.start_position, velocity=schedule.start_velocity, timestep=np.array(self.fit.physics.timestep),
                modules=np.array([str(p.resolve()) for p in (self.path, *others)]), measured=np.array(values.encoder),
            )  # fmt: skip
            script = Path(__file__).with_name("mjlab_replay.py")
            done = subprocess.run([self.python, str(script), str(job), str(result)], capture_output=True, text=True, check=False)
            if done.returncode:
                raise SurefootError(f"mjlab failed in {self.python}:\n{done.stderr.strip()[-2000:]}")
            self.notes.append(done.stdout.strip().splitlines()[-1])
            with np.load(result) as file:
                return list(file["motion"])

    def _model(self, motion: Recording) -> str:
        """The robot in the air, joints that are not in the recording held."""
        model = hung_model(self.robot, motion.joints, self.fit.physics)
        return canonical_text(model, self.robot.name, [model.joint(j).name for j in range(model.njnt)], {})
