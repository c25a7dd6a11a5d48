"""Proof that an export says what the fit says: every value read back, the motion replayed, every value felt."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.export import hang, mjcf, stubs, tables, urdf, usd
from surefoot.export.values import Values, values_of
from surefoot.identify.fit import Fit
from surefoot.record.excitation import chirp
from surefoot.record.recording import Recording
from surefoot.robot.canonical import canonical_text
from surefoot.robot.dynamics import PARAMETERS, JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.physics import Physics, hung_model
from surefoot.simulate.replay import replay as simulate
from surefoot.simulate.schedule import Schedule
from surefoot.simulate.tree import branches

Array = np.ndarray
TOLERANCE = {"mjcf": 1e-6, "urdf": 1e-6, "mjlab": 1e-4}  # [rad] rmse of the worst joint, where the motion can be replayed
CLOSE = {"usd": 1e-6, "mjlab": 1e-9}  # relative; USD keeps 32-bit floats
FELT = 1e-9  # [rad] a value whose change moves a joint by less has not reached the simulator
PROBE = 1.5  # [s] of the recording that probes replay


@dataclass(frozen=True, kw_only=True)
class Check:
    """One value, read back by the target's own means."""

    name: str
    joint: str
    expected: float
    found: float
    unit: str = ""
    good: bool = True

    def __str__(self) -> str:
        return f"{self.name} of {self.joint}: the export says {self.found:.6g}, the fit {self.expected:.6g} {self.unit}".rstrip()


@dataclass(frozen=True, kw_only=True)
class Probe:
    """One value changed in the file, and how far the motion moved."""

    name: str
    joint: str
    moved: float  # rms of the largest change of any joint of its leg, or of its encoder [rad]

    @property
    def good(self) -> bool:
        """The simulator felt the change."""
        return self.moved > FELT

    def __str__(self) -> str:
        return (
            f"{self.name} of {self.joint} was changed in the export and the motion stayed the same (within {self.moved:.1g} rad)"
        )


@dataclass(frozen=True, kw_only=True)
class Proof:
    """What was shown of an export."""

    target: str
    joints: tuple[str, ...]
    checks: tuple[Check, ...]
    probes: tuple[Probe, ...] = ()
    rmse: Array | None = None  # of the target's replay against the fit's own [rad], shape (n,); None: it cannot run here
    reasons: tuple[str, ...] = ()  # what a drive of the target cannot have
    lost: Array | None = None  # what that alone costs [rad], shape (n,): the fit's own motion without it
    rest: Array | None = None  # of the target's replay against the fit's own motion without it [rad], shape (n,)
    tolerance: float = np.inf
    seconds: float = 0.0  # of motion that was replayed
    notes: tuple[str, ...] = ()

    @property
    def failures(self) -> list[str]:
        """What is wrong, a sentence each; none: the export is proven as far as it can be here."""
        out = [str(check) for check in self.checks if not check.good]
        error = self.rmse if self.rest is None else self.rest
        if error is not None:
            bad = np.flatnonzero(~(error <= self.tolerance))
            out += [
                f"{self.joints[j]} moves differently: rmse {error[j]:.3g} rad against the fit's own motion, "
                f"allowed {self.tolerance:g}"
                for j in bad
            ]
        return out + [str(probe) for probe in self.probes if not probe.good]

    @property
    def good(self) -> bool:
        """Nothing is wrong."""
        return not self.failures


def prove(
    fit: Fit, robot: Robot, path: str | Path, to: str, *, recording: Recording | None = None, probes: bool = True,
    python: str | Path | None = None, say: Callable[[str], None] | None = None,
) -> Proof:  # fmt: skip
    """Read an export back, replay the recording's command in the target where it can run here, and probe each value.

    Without a recording the motion is a standard chirp at the robot's gains. `python` is an interpreter with mjlab, for which
    alone it is needed.
    """
    path = Path(path)
    values = values_of(fit, robot, recording)
    motion, own = _motion(fit, robot, values, recording)
    checks = tuple(_checks(values, read(path, to, values.joints), to))
    if to not in TOLERANCE or (to == "mjlab" and python is None):
        return Proof(target=to, joints=values.joints, checks=checks, notes=(_unseen(to),))
    runner = _Mjlab(path, robot, fit, python) if to == "mjlab" and python else _Mujoco(path, to, robot, fit)
    columns = [motion.joints.index(joint) for joint in values.joints]
    seen = runner.run(values, motion)
    compare = lambda a, b: _rmse(a, b, motion.valid)[columns]  # noqa: E731
    rmse, lost, rest = compare(seen, own), None, None
    reasons, possible = [], own
    for reason, able, kept in _poorer(fit, robot, values, _expected(values, "delay", to)):
        before, possible = possible, simulate(able, motion, kept.ordered_for(motion.joints), physics=fit.physics).position
        reasons += [reason] if np.abs(possible - before).max() > FELT else []
    if reasons:
        lost, rest = compare(possible, own), compare(seen, possible)
    felt: tuple[Probe, ...] = ()
    if probes and np.isfinite(rmse).all():
        felt = tuple(_probes(values, runner, motion, robot, say))
    return Proof(
        target=to, joints=values.joints, checks=checks, probes=felt, rmse=rmse, lost=lost, rest=rest, reasons=tuple(reasons),
        tolerance=TOLERANCE[to], seconds=motion.duration, notes=tuple(dict.fromkeys(runner.notes)),
    )  # fmt: skip


def _rmse(a: Array, b: Array, valid: Array | None) -> Array:
    seen = np.ones(a.shape, bool) if valid is None else valid
    return np.sqrt(np.where(seen, (a - b) ** 2, 0.0).sum(0) / np.maximum(seen.sum(0), 1))


def _poorer(fit: Fit, robot: Robot, values: Values, delay: Array) -> Iterator[tuple[str, Robot, JointDynamics]]:
    """Robot and dynamics without what a position drive of the target cannot have, one thing after another."""
    rows, kept = robot.select(values.joints), fit.dynamics
    if np.abs(delay - values.delay).max() > 1e-9:
        full = np.broadcast_to(kept.delay, (len(fit.joints),)).copy()
        full[[fit.joints.index(joint) for joint in values.joints]] = delay
        kept = kept.replace(delay=full)
        yield "the delay is rounded to whole steps", robot, kept
    for name, what in (
        ("load", "constant load torque"),
        ("breakaway", "break-away friction"),
        ("cutoff", "low-pass on the velocity"),
    ):
        neutral = np.full_like(getattr(kept, name), PARAMETERS[name].neutral)
        if (getattr(kept, name) != neutral).any():
            kept = kept.replace(**{name: neutral})
            yield f"there is no {what}", robot, kept
    if np.isfinite(robot.stall_torque[rows]).any() or robot.geared[rows].any():
        limit, none = robot.torque_limit.copy(), np.full(robot.n, np.inf)
        limit[rows] = values.torque_limit
        able = robot.replace(torque_limit=limit, stall_torque=none, no_load_speed=none, geared=np.zeros(robot.n, bool))
        yield "the torque limit is constant: no torque-speed envelope, no gear table", able, kept


def read(path: Path, to: str, joints: tuple[str, ...]) -> dict[str, Array]:
    """The values of an export, by the target's own library or parser, in the fit's terms."""
    if to == "mjcf":
        return mjcf.read(path, joints)
    if to == "urdf":
        return urdf.read(path, joints)
    if to == "usd":
        return usd.read(path, joints)
    if to in ("json", "yaml", "ros2"):
        return tables.read(path, to, joints)
    return stubs.read(path, to, joints)


def _unseen(to: str) -> str:
    if to == "mjlab":
        return (
            "the motion was not replayed: mjlab pins its own MuJoCo and lives in its own environment. Make one "
            "(python -m venv mjlab-env && mjlab-env/bin/pip install mjlab==1.6.0) and pass --python mjlab-env/bin/python."
        )
    if to in ("json", "yaml", "ros2"):
        return "a table does not move: its values were read back."
    return f"{to} cannot run here: its values were read back, its motion was not seen."


def _motion(fit: Fit, robot: Robot, values: Values, recording: Recording | None) -> tuple[Recording, Array]:
    """What is replayed, and how the fit's own simulation moves then [rad], shape (T, n)."""
    if recording is None:
        sweep = chirp(robot)
        motion = Recording(
            joints=robot.joints, time=sweep.time, target=sweep.target, position=np.repeat(sweep.target[:1], len(sweep.time), 0),
            stiffness=np.ones(robot.n), damping=np.ones(robot.n), velocity=np.zeros_like(sweep.target), name="standard chirp",
        ).select(values.joints)  # fmt: skip
        motion = motion.with_gains(values.stiffness / fit.dynamics.gain_scale, values.velocity_gain / fit.dynamics.gain_scale)
        return motion, simulate(robot, motion, fit.dynamics.ordered_for(motion.joints), physics=fit.physics).position
    motion = recording.ordered_for(fit.joints)
    for score in fit.recordings:
        if score.hash == recording.hash and score.simulated.shape == motion.position.shape:
            return motion, score.simulated
    return motion, simulate(robot, motion, fit.dynamics, physics=fit.physics).position


# --- reading back ------------------------------------------------------------------------------------------------------------
def _checks(values: Values, found: dict[str, Array], to: str) -> list[Check]:
    """Compare each value that the target holds with the fit's."""
    checks = []
    for name, row in found.items():
        expected = _expected(values, name, to)
        for j, joint in enumerate(values.joints):
            close = np.isclose(row[j], expected[j], rtol=CLOSE.get(to, 1e-9), atol=1e-12)
            checks.append(
                Check(
                    name=name,
                    joint=joint,
                    expected=float(expected[j]),
                    found=float(row[j]),
                    unit=_unit(values, name, j),
                    good=bool(close),
                )
            )
    return checks


def _expected(values: Values, name: str, to: str) -> Array:
    """The fit's number for a value as the target names it; delays are what the target's grid makes of them."""
    word = name.split(" ")[-1]
    if name.startswith("Isaac Gym's own"):
        return np.zeros(values.n)
    if word == "encoder_bias":
        return values.bias if values.encoder else np.zeros(values.n)
    if word == "delay" and to == "mjlab":
        return np.round(values.delay / values.timestep) * values.timestep
    if word == "delay" and to == "mjcf":
        return np.array([mjcf.history(delay, values.timestep)[1] for delay in values.delay])
    if (word == "bias" and to in ("mjcf", "legged_gym")) or name == "drive bias":
        return np.where(values.stiffness > 0, values.bias, np.nan)
    return getattr(values, word)


def _unit(values: Values, name: str, j: int) -> str:
    word = name.split(" ")[-1].removeprefix("encoder_")
    return values.unit(word, j) if hasattr(values, word) else ""


# --- replays ------------------------------------------------------------------------------------------------------------------
class _Mujoco:
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


class _Mjlab:
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


# --- probes -------------------------------------------------------------------------------------------------------------------
def _probes(values: Values, runner: Any, motion: Recording, robot: Robot, say: Callable[[str], None] | None) -> list[Probe]:
    """Change each written value in the file and see that its leg moves differently; legs do not feel each other in the air."""
    names = ("armature", "damping", "friction", "bias", "delay", "stiffness", "velocity_gain", "torque_limit")
    legs = _legs(values, motion, robot)
    rounds = [[leg[k] for leg in legs if k < len(leg)] for k in range(max(map(len, legs)))]
    cases = [(name, joints) for name in names for joints in rounds]
    changed = []
    for name, joints in cases:
        other = values
        for j in joints:
            other = _changed(other, name, j)
        changed.append(other)
    short = motion.between(motion.time[0], motion.time[0] + PROBE) if motion.duration > PROBE else motion
    if say:
        say(f"probing {len(names) * values.n} values in {len(cases)} replays")
    before, after = runner.probe(values, changed, short)
    columns = [motion.joints.index(joint) for joint in values.joints]
    out = []
    for (name, joints), moved in zip(cases, after, strict=True):
        change = np.sqrt((np.nan_to_num(moved - before, nan=1.0) ** 2).mean(1)).max(0)[columns]  # reading or joint
        for j in joints:
            leg = next(leg for leg in legs if j in leg)
            out.append(Probe(name=name, joint=values.joints[j], moved=float(change[leg].max())))
    return out


def _legs(values: Values, motion: Recording, robot: Robot) -> list[list[int]]:
    """Identified joints by independent branch of the robot."""
    model = hung_model(robot, motion.joints, Physics())
    names = [[model.joint(model.dof_jntid[dof]).name for dof in branch.dofs] for branch in branches(model)]
    legs = [[values.joints.index(name) for name in leg if name in values.joints] for leg in names]
    return [leg for leg in legs if leg]


def _changed(values: Values, name: str, j: int) -> Values:
    """The same values with one of them clearly another."""
    row = getattr(values, name).copy()
    small = 0.02 * max(values.stiffness[j], 1e-9)
    more = {"armature": 0.02 * small, "damping": 0.1 * small, "friction": small, "bias": 0.01, "delay": values.timestep}
    row[j] = (
        0.1 * small if name == "torque_limit" else row[j] + more.get(name, 0.0) if name in more else 1.2 * row[j] + 0.1 * small
    )
    extra = {"static_friction": row} if name == "friction" else {}
    return values.replace(**{name: row}, **extra)


def describe(proof: Proof) -> dict[str, Any]:
    """A proof as plain data."""
    return {
        "target": proof.target,
        "good": proof.good,
        "values": len(proof.checks),
        "probes": len(proof.probes),
        "rmse": None if proof.rmse is None else dict(zip(proof.joints, proof.rmse.tolist(), strict=True)),
        "failures": proof.failures,
        "notes": list(proof.notes),
    }


def dumps(proof: Proof) -> str:
    """A proof as JSON."""
    return json.dumps(describe(proof), indent=1)
