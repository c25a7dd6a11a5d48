"""A recipe says how a robot is to be moved; `Recipe.targets` makes the commands of it. Planning changes recipes, not commands."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.record.excitation.motion import Leaders, amplitudes, instants, leaders
from surefoot.record.excitation.shapes import DRAWN, Band, shaped
from surefoot.record.gains import per_joint
from surefoot.record.recording import Gains
from surefoot.record.targets import Targets
from surefoot.record.validation import Array
from surefoot.robot.spec import Robot
from surefoot.robot.symmetry import symmetries


@dataclass(frozen=True, kw_only=True, eq=False)
class Recipe:
    """One motion of all joints of a robot. With `mirror`, legs are mirror images, and the base is pushed as little as can be."""

    kind: str = "chirp"  # one of SHAPES
    duration: float = 20.0  # [s]
    rate: float = 400.0  # of the commands [Hz]
    start_hz: float = 0.1  # band of chirps, multisine and noise [Hz]
    stop_hz: float = 10.0
    corner_hz: float = np.inf  # from here on the amplitude falls as 1/f: the speed stays the same [Hz]
    dwell: float = 0.5  # time per level of steps and holds [s]
    ramp: float = 1.0  # in and out [s]
    amplitude: Array  # [rad], shape (n,)
    centre: Array  # [rad], shape (n,)
    stiffness: Array  # P [N·m/rad], shape (n,)
    damping: Array  # D [N·m·s/rad], shape (n,)
    mirror: bool = True
    seed: int = 0

    def replace(self, **changes: Any) -> Recipe:
        """The same recipe with some fields changed."""
        return dataclasses.replace(self, **changes)

    def targets(self, robot: Robot) -> Targets:
        """The commands: centre + amplitude × shape. Mirrored joints deviate from the posture as their leader does."""
        time = instants(self.duration, self.rate)
        lead = leaders(robot, symmetries(robot) if self.mirror else ())
        first = np.unique(lead.of)
        band = Band(
            start_hz=self.start_hz, stop_hz=self.stop_hz, corner_hz=self.corner_hz, dwell=self.dwell, seed=self.seed
        )  # fmt: skip
        shape = shaped(self.kind, time, len(first), band, self.ramp)
        deviation = (self.centre - robot.posture)[first] + self.amplitude[first] * shape
        return Targets(
            joints=robot.joints, time=time, target=robot.posture + lead.spread(deviation), stiffness=self.stiffness,
            damping=self.damping, kind=self.kind, seed=self.seed if self.kind in DRAWN else None, robot=robot.name,
        )  # fmt: skip


def recipe(
    robot: Robot, *, amplitude: Gains | None = None, centre: Gains | None = None, stiffness: Gains | None = None,
    damping: Gains | None = None, **settings: Any,
) -> Recipe:  # fmt: skip
    """A recipe for a robot; what is left out comes from the robot: its posture, its gains, an amplitude that its limits bear.

    Amplitude, centre and gains are one number for all, one per joint, or {joint pattern: number}; joints that no pattern
    names keep the robot's. Where legs mirror each other, what is said of one joint holds for its images.
    """
    for name, value in (("amplitude", amplitude), ("centre", centre)):
        if value is not None and not np.isfinite(list(value.values()) if isinstance(value, Mapping) else value).all():
            raise SurefootError(f"--{name} holds a value that is not a finite number: {value}.")
    lead = leaders(robot, symmetries(robot) if settings.get("mirror", True) else ())
    middle = robot.posture + _alike("centre", centre, robot, lead, robot.posture, origin=robot.posture)
    gains = [
        _filled(name, given, robot, getattr(robot, name)) for name, given in (("stiffness", stiffness), ("damping", damping))
    ]
    for name, row in zip(("stiffness", "damping"), gains, strict=True):
        if (odd := np.flatnonzero(~(row >= 0))).size:
            joint, value = robot.joints[odd[0]], row[odd[0]]
            raise SurefootError(f"{name} of {robot.name}'s joint {joint} is {value:g}; pass one of at least 0: --{name} 40.")
    usual = amplitudes(robot, None, middle)
    usual = np.array([usual[lead.of == leader].min() for leader in lead.of])  # mirror images share what the tightest can bear
    swing = _alike("amplitude", amplitude, robot, lead, usual)
    if (swing < 0).any():
        joint = int(np.argmax(swing < 0))
        raise SurefootError(
            f"amplitude of {robot.joints[joint]} is {swing[joint]:g}; expected at least 0: --amplitude {-swing[joint]:g}."
        )
    if not swing.any():
        raise SurefootError("amplitudes must not all be 0; for example --amplitude '*_HAA=0.1' '*_KFE=0.2'.")
    return Recipe(amplitude=swing, centre=middle, stiffness=gains[0], damping=gains[1], **settings)


def _filled(name: str, given: Gains | None, robot: Robot, default: Array) -> Array:
    """One number per joint; joints that nothing was said about keep their default."""
    if given is None:
        return np.array(default)
    if isinstance(given, Mapping):
        given = dict(zip(robot.joints, default.tolist(), strict=True)) | dict(given)
    return per_joint(name, given, robot.joints)


def _alike(
    name: str, given: Gains | None, robot: Robot, lead: Leaders, default: Array, *, origin: Array | None = None
) -> Array:  # fmt: skip
    """One number per joint, away from `origin`, that mirror images share: what is said of one of them holds for all."""
    about = np.zeros(robot.n) if origin is None else origin
    sign = np.ones(robot.n) if origin is None else lead.sign
    wanted, named = _filled(name, given, robot, default) - about, _named(given, robot)
    out = wanted.copy()
    for leader in np.unique(lead.of):
        members = np.flatnonzero(lead.of == leader)
        said = members[named[members]] if named[members].any() else members
        own = (sign[said] * wanted[said])[0]
        for j in said:
            if not np.isclose(wanted[j], sign[j] * own, atol=1e-6):
                raise SurefootError(
                    f"{name} of {robot.joints[j]} is {about[j] + wanted[j]:g}, but as the image of {robot.joints[said[0]]} it is "
                    f"{about[j] + sign[j] * own:g}; give one of them only, or --no-mirror to move the legs independently."
                )
        out[members] = sign[members] * own
    return out


def _named(given: Gains | None, robot: Robot) -> np.ndarray:
    """The joints that something was said about, as flags of shape (n,)."""
    if isinstance(given, Mapping):
        return np.array([any(fnmatchcase(joint, pattern) for pattern in given) for joint in robot.joints])
    return np.full(robot.n, given is not None)
