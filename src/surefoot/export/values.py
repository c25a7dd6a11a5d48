"""What an export carries: the fit's numbers joint by joint, the drive's gains and limits, and where they come from."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from dataclasses import replace as _replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import SurefootError
from surefoot.identify.fit import Fit
from surefoot.record.recording import Recording
from surefoot.robot.drive import gear_ratio
from surefoot.robot.dynamics import PARAMETERS
from surefoot.robot.spec import Robot

Array = NDArray[np.float64]

UNITS: dict[str, tuple[str, str]] = {
    "armature": ("kg m^2", "kg"),
    "damping": ("N m s/rad", "N s/m"),
    "friction": ("N m", "N"),
    "static_friction": ("N m", "N"),
    "bias": ("rad", "m"),
    "delay": ("s", "s"),
    "stiffness": ("N m/rad", "N/m"),
    "velocity_gain": ("N m s/rad", "N s/m"),
    "torque_limit": ("N m", "N"),
    "stall_torque": ("N m", "N"),
    "no_load_speed": ("rad/s", "m/s"),
}
"""Unit of each value, for a hinge and for a slide."""

MEANING = {
    "armature": "inertia of the rotor as the joint feels it",
    "damping": "viscous friction of the joint; not a gain",
    "friction": "Coulomb friction of the moving joint",
    "static_friction": "Coulomb friction at standstill",
    "bias": "joint position minus encoder reading",
    "delay": "from a command to its effect",
    "stiffness": "position gain P of the drive",
    "velocity_gain": "velocity gain D of the drive",
    "torque_limit": "largest torque of the drive",
    "stall_torque": "torque-speed envelope at standstill",
    "no_load_speed": "torque-speed envelope at zero torque",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Values:
    """The numbers to write, one per joint, as the fit means them.

    encoder = q - bias, torque = sat(P(u(t - delay) - (q - bias)) - D v).
    """

    robot: str
    joints: tuple[str, ...]
    kinds: tuple[str, ...]  # "hinge" or "slide"
    armature: Array  # [kg·m²], shape (n,)
    damping: Array  # [N·m·s/rad]
    friction: Array  # sliding [N·m]
    static_friction: Array  # at standstill [N·m]; the same unless the fit has `breakaway`
    bias: Array  # [rad]
    delay: Array  # [s]
    stiffness: Array  # P [N·m/rad]
    velocity_gain: Array  # D [N·m·s/rad]
    torque_limit: Array  # [N·m], inf: none
    stall_torque: Array  # [N·m], inf: none
    no_load_speed: Array  # [rad/s], inf: none
    encoder: bool = True  # the encoder reads q - bias; False: the encoder reads q and the set-point is shifted by the bias
    timestep: float = 0.0025  # [s] of the physics in which the fit is true
    low: Mapping[str, Array] = field(default_factory=dict)  # 95 % interval by parameter, each of shape (n,)
    high: Mapping[str, Array] = field(default_factory=dict)
    provenance: Mapping[str, str] = field(default_factory=dict)
    lost: tuple[str, ...] = ()  # what this form of the numbers cannot say, a sentence each

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joints)

    def replace(self, **changes: Any) -> Self:
        """The same values with some changed."""
        return _replace(self, **changes)

    def arrays(self) -> dict[str, Array]:
        """Every value by name, each of shape (n,)."""
        return {name: getattr(self, name) for name in UNITS}

    def unit(self, name: str, j: int) -> str:
        """Unit of one joint's value."""
        return UNITS[name][self.kinds[j] == "slide"]

    def by_joint(self, name: str) -> dict[str, float]:
        """One value by joint name; joints without a limit are left out."""
        return {joint: float(v) for joint, v in zip(self.joints, getattr(self, name), strict=True) if np.isfinite(v)}


def fit_hash(fit: Fit) -> str:
    """Sixteen hex digits that name a fit: they change with any number in its fit.json."""
    return hashlib.sha256(json.dumps(fit.to_dict(), sort_keys=True).encode()).hexdigest()[:16]


def values_of(fit: Fit, robot: Robot, recording: Recording | None = None, *, date: str = "") -> Values:
    """The fit's numbers for the robot's drives; gains are the recording's, or the robot's when there is no recording."""
    joints = _identified(fit)
    if missing := [joint for joint in joints if joint not in robot.joints]:
        raise SurefootError(
            f"the fit is about joints that {robot.name} does not have: {', '.join(missing)}; it has {', '.join(robot.joints)}. "
            "Pass the robot that was fitted: --robot NAME or FILE."
        )
    rows = robot.select(joints)
    d, low, high = (x.ordered_for(joints) for x in (fit.dynamics, fit.low, fit.high))
    stiffness, velocity_gain = _gains(robot, recording, joints)
    ratio = np.where(robot.geared, gear_ratio(robot, robot.posture), 1.0)[rows]
    full = lambda x: np.broadcast_to(x, (len(joints),)).astype(float)  # noqa: E731
    names = [name for name in ("armature", "damping", "friction", "bias", "delay") if name in fit.parameters]
    return Values(
        robot=robot.name,
        joints=joints,
        kinds=tuple(robot.kinds[i] for i in rows),
        armature=d.armature,
        damping=d.damping,
        friction=d.friction,
        static_friction=d.friction + d.breakaway,
        bias=d.bias,
        delay=full(d.delay),
        stiffness=stiffness * d.gain_scale,
        velocity_gain=velocity_gain * d.gain_scale,
        torque_limit=ratio * robot.torque_limit[rows],
        stall_torque=ratio * robot.stall_torque[rows],
        no_load_speed=robot.no_load_speed[rows] / ratio,
        encoder=fit.physics.bias_form == "encoder",
        timestep=fit.physics.timestep,
        low={name: full(getattr(low, name)) for name in names},
        high={name: full(getattr(high, name)) for name in names},
        provenance=_provenance(fit, recording, date),
        lost=tuple(_lost(fit, robot, joints)),
    )


def _identified(fit: Fit) -> tuple[str, ...]:
    """The joints whose parameters were found."""
    return tuple(joint for joint in fit.joints if joint not in fit.prescribed)


def _gains(robot: Robot, recording: Recording | None, joints: tuple[str, ...]) -> tuple[Array, Array]:
    if recording is not None:
        return recording.select(joints).stiffness, recording.select(joints).damping
    rows = robot.select(joints)
    stiffness, damping = robot.stiffness[rows], robot.damping[rows]
    for name, gain in (("stiffness", stiffness), ("damping", damping)):
        if bad := [joint for joint, value in zip(joints, gain, strict=True) if np.isnan(value)]:
            raise SurefootError(
                f"the {name} of {', '.join(bad)} is not known: {robot.name} has no gains. Pass the recording whose gains the "
                "drives keep, --recording chirp.npz, or give the gains in a robot.toml."
            )
    return stiffness, damping


def _provenance(fit: Fit, recording: Recording | None, date: str) -> dict[str, str]:
    from surefoot import __version__

    return {
        "tool": f"surefoot {__version__}",
        "fit": fit_hash(fit),
        "date": date or datetime.date.today().isoformat(),
        "robot": fit.robot,
        "recordings": ", ".join(f"{s.name} {s.hash}" for s in fit.recordings),
        "gains": f"of recording {recording.name}" if recording else "of the robot",
        "timestep": f"{fit.physics.timestep:g} s, implicitfast",
    }


def _lost(fit: Fit, robot: Robot, joints: tuple[str, ...]) -> list[str]:
    """What the common form of the numbers cannot carry."""
    d, rows, lost = fit.dynamics.ordered_for(joints), robot.select(joints), []
    if robot.geared[rows].any():
        lost.append("joints with a gear table got the limits that their gear ratio gives at the default posture.")
    for name, what in (
        ("load", "constant load torque"),
        ("cutoff", "low-pass on the velocity in the drive"),
        ("tilt", "tilt of the stand (a property of the stand, not of the robot)"),
    ):
        neutral = PARAMETERS[name].neutral
        if (getattr(d, name) != neutral).any():
            lost.append(f"the fit's {name} ({what}) is not exported: {getattr(d, name).tolist()}.")
    return lost


def command_delay(fit: Fit, target: str) -> None:
    """Refuse to write a delay that sits elsewhere than the target's."""
    if fit.physics.delay_on != "command":
        raise SurefootError(
            f"this fit delays the torque, {target} delays the command: the same number would be another delay. "
            "Identify again with --delay-on command, or export --to json."
        )


def header(values: Values, *, intervals: bool = True) -> list[str]:
    """Provenance as plain ASCII lines: tool, fit, date, and each value with its 95 % interval."""
    p = dict(values.provenance)
    lines = [f"{p.pop('tool', 'surefoot')}: joint dynamics of {values.robot}, fit {p.pop('fit', '?')}, {p.pop('date', '?')}"]
    lines += [f"{key}: {text}" for key, text in p.items() if key != "robot" and text]
    lines += [f"not carried: {sentence}" for sentence in values.lost]
    if intervals:
        for name, low in values.low.items():
            value, high = getattr(values, name), values.high[name]
            cells = zip(values.joints, value, low, high, strict=True)
            one = name == "delay" and len(set(value)) == 1
            rows = [f"{joint} {v:.6g} [{lo:.4g}, {hi:.4g}]" for joint, v, lo, hi in cells]
            lines.append(f"{name} [{UNITS[name][0]}], 95 %: " + (rows[0].split(" ", 1)[1] if one else ", ".join(rows)))
    return [line.encode("ascii", "backslashreplace").decode() for line in lines]


def table(values: Values) -> dict[str, Any]:
    """Everything as plain data, for JSON and YAML."""
    parameters = {}
    for name, array in values.arrays().items():
        entry: dict[str, Any] = {
            "unit": UNITS[name][0],
            "meaning": MEANING[name],
            "value": {joint: _plain(v) for joint, v in zip(values.joints, array, strict=True)},
        }
        if name in values.low:
            entry["low"] = {joint: _plain(v) for joint, v in zip(values.joints, values.low[name], strict=True)}
            entry["high"] = {joint: _plain(v) for joint, v in zip(values.joints, values.high[name], strict=True)}
        parameters[name] = entry
    return {
        "format": "surefoot-export-1",
        "provenance": dict(values.provenance),
        "robot": values.robot,
        "joints": list(values.joints),
        "kinds": list(values.kinds),
        "timestep": values.timestep,
        "law": "torque = clip(stiffness * (target(t - delay) - (q - bias)) - velocity_gain * dq, -torque_limit, torque_limit); "
        + ("encoder = q - bias" if values.encoder else "encoder = q"),
        "parameters": parameters,
        "not_carried": list(values.lost),
    }


def _plain(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def from_table(data: Mapping[str, Any]) -> dict[str, Array]:
    """The values of a table, by name; what was null is infinite."""
    joints = data["joints"]
    return {
        name: np.array([np.inf if entry["value"].get(joint) is None else entry["value"][joint] for joint in joints])
        for name, entry in data["parameters"].items()
    }
