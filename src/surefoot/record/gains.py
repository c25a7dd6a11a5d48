"""Gains as people give them (a number, a list, a pattern table) to one number per joint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import SurefootError, unknown
from surefoot.record.recording import Gains
from surefoot.record.validation import Array

if TYPE_CHECKING:
    from surefoot.robot.spec import Robot


def per_joint(gain: str, value: Gains, joints: Sequence[str]) -> Array:
    """One gain for every joint, shape (n,); later patterns override; every joint must match one."""
    if isinstance(value, Mapping):
        out = np.full(len(joints), np.nan)
        for pattern, number in value.items():
            hits = [k for k, joint in enumerate(joints) if fnmatchcase(joint, pattern)]
            if not hits:
                raise unknown(f"joint or pattern in {gain}", [pattern], tuple(joints))
            out[hits] = _number(gain, number)
        if missing := [joint for joint, number in zip(joints, out, strict=True) if np.isnan(number)]:
            raise SurefootError(f"{gain} is not given for {', '.join(missing)}; add a pattern such as '*' that matches.")
        return out
    out = _number(gain, value)
    if out.ndim > 1 or (out.ndim == 1 and out.shape != (len(joints),)):
        raise SurefootError(f"{gain} has {out.size} numbers; expected one, or one per joint ({', '.join(joints)}).")
    return np.broadcast_to(out, (len(joints),)).copy()


def find_gain(gain: str, given: Gains | None, stored: Array | None, joints: Sequence[str], robot: Robot | None) -> Array:
    """What was passed, else what the file holds, else the robot's default; the error says what to pass."""
    if given is not None:
        return per_joint(gain, given, joints)
    if stored is not None:
        return stored
    symbol = {"stiffness": "P [N·m/rad]", "damping": "D [N·m·s/rad]"}[gain]
    if robot is None:
        raise SurefootError(
            f"the file holds no {gain}. Pass the {symbol} that was in force in the drives, --{gain} (in Python {gain}=85.0) or "
            f"one number per joint ({', '.join(joints)}), or a robot that has it: robot=Robot.load(...)."
        )
    if wrong := [joint for joint in joints if joint not in robot.joints]:
        raise unknown(f"joint of robot {robot.name}", wrong, robot.joints)
    out = np.array([getattr(robot, gain)[robot.joints.index(joint)] for joint in joints])
    if missing := [joint for joint, number in zip(joints, out, strict=True) if np.isnan(number)]:
        raise SurefootError(
            f"neither the file nor robot {robot.name} holds the {gain} of {', '.join(missing)}. Pass --{gain} ({gain}=...), the "
            f"{symbol} that was in force, or set {gain} in robot.toml."
        )
    return out


def _number(gain: str, value: Any) -> Array:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise SurefootError(f"{gain} is {value!r}; expected a number, or one per joint.") from None
