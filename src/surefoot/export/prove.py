"""Proof that an export says what the fit says: every value read back, the motion replayed, every value felt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from surefoot.export import mjcf, stubs, tables, urdf, usd
from surefoot.export.proof import FELT, Check, Probe, Proof
from surefoot.export.runners import Mjlab, Mujoco
from surefoot.export.values import Values, values_of
from surefoot.identify.fit import Fit
from surefoot.record.excitation import chirp
from surefoot.record.recording import Recording
from surefoot.robot.dynamics import PARAMETERS, JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.physics import Physics, hung_model
from surefoot.simulate.replay import replay as simulate
from surefoot.simulate.tree import branches

Array = np.ndarray
TOLERANCE = {"mjcf": 1e-6, "urdf": 1e-6, "mjlab": 1e-4}  # [rad] rmse of the worst joint, where the motion can be replayed
CLOSE = {"usd": 1e-6, "mjlab": 1e-9}  # relative; USD keeps 32-bit floats
PROBE = 1.5  # [s] of the recording that probes replay


def prove(
    fit: Fit, robot: Robot | str | Path, path: str | Path, to: str, *, recording: Recording | None = None, probes: bool = True,
    python: str | Path | None = None, say: Callable[[str], None] | None = None,
) -> Proof:  # fmt: skip
    """Read an export back, replay the recording's command in the target where it can run here, and probe each value.

    Without a recording the motion is a standard chirp at the robot's gains. `python` is an interpreter with mjlab, for which
    alone it is needed.
    """
    path, robot = Path(path), robot if isinstance(robot, Robot) else Robot.load(robot)
    values = values_of(fit, robot, recording)
    motion, own = _motion(fit, robot, values, recording)
    checks = tuple(_checks(values, read(path, to, values.joints), to))
    if to not in TOLERANCE or (to == "mjlab" and python is None):
        return Proof(target=to, joints=values.joints, checks=checks, notes=(_unseen(to),))
    runner = Mjlab(path, robot, fit, python) if to == "mjlab" and python else Mujoco(path, to, robot, fit)
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
        ("load_friction", "friction that grows with the load"),
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


# --- probes -------------------------------------------------------------------------------------------------------------------
def _probes(
    values: Values, runner: Mujoco | Mjlab, motion: Recording, robot: Robot, say: Callable[[str], None] | None
) -> list[Probe]:
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
