"""A rehearsal: the recording that a robot with known joint dynamics would give, simulated by MuJoCo and read by real encoders."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.signal import lfilter

from surefoot.errors import SurefootError
from surefoot.record.excitation import Excitation
from surefoot.record.recording import Recording
from surefoot.record.targets import Targets
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.physics import Physics
from surefoot.simulate.reference import Reference

Array = np.ndarray


def at_rest(targets: Targets) -> Recording:
    """A recording of these commands in which nothing has moved yet: what a simulation of them starts from."""
    return Recording(
        joints=targets.joints, time=targets.time, target=targets.target, stiffness=targets.stiffness, damping=targets.damping,
        position=np.repeat(targets.target[:1], len(targets.time), 0), velocity=np.zeros_like(targets.target),
        target_velocity=targets.target_velocity, feedforward=targets.feedforward, name=targets.kind,
    )  # fmt: skip


def encoded(position: Array, *, noise: float = 0.0, colour: float = 0.0, resolution: float = 0.0, seed: int = 0) -> Array:
    """What encoders make of joint positions, shape (T, n).

    They add Gaussian noise of standard deviation `noise` [rad], correlated from sample to sample by `colour` (0: white), and
    round to `resolution` [rad].
    """
    white = np.random.default_rng(seed).standard_normal(position.shape) * noise * np.sqrt(1 - colour**2)
    read = position + (np.asarray(lfilter([1.0], [1.0, -colour], white, axis=0)) if colour else white)
    return np.round(read / resolution) * resolution if resolution > 0 else read


def rehearse(
    robot: Robot, dynamics: JointDynamics, motion: Excitation | Targets, *, stiffness: ArrayLike | None = None,
    damping: ArrayLike | None = None, noise: float = 0.0, colour: float = 0.0, resolution: float = 0.0, seed: int = 0,
    physics: Physics | None = None, name: str = "",
) -> Recording:  # fmt: skip
    """Record `motion` on a robot whose joint dynamics are known, with encoders as `encoded` has them.

    Gains that are not given are the motion's own, then the robot's.
    """
    own = motion if isinstance(motion, Targets) else robot
    p = np.broadcast_to(own.stiffness if stiffness is None else np.asarray(stiffness, float), (robot.n,))
    d = np.broadcast_to(own.damping if damping is None else np.asarray(damping, float), (robot.n,))
    if np.isnan(p).any() or np.isnan(d).any():
        raise SurefootError(f"{robot.name} has no default gains; pass stiffness=... and damping=... .")
    if isinstance(motion, Targets):
        blank = at_rest(motion.ordered_for(robot.joints).replace(stiffness=p, damping=d)).replace(name=name or motion.kind)
    else:
        targets = Targets(joints=robot.joints, time=motion.time, target=motion.target, stiffness=p, damping=d)
        blank = at_rest(targets).replace(name=name or motion.name)
    position, _, _ = Reference(robot, blank, physics or Physics()).replay(dynamics)
    if not np.isfinite(position).all():
        worst = robot.joints[int(np.argmax(~np.isfinite(position).all(axis=0)))]
        raise SurefootError(f"the rehearsal diverged (joint {worst}): gains {p[0]:g}/{d[0]:g} are too stiff for this timestep.")
    read = encoded(position, noise=noise, colour=colour, resolution=resolution, seed=seed)
    return blank.replace(position=read, velocity=None, notes={"origin": "simulated by MuJoCo"})
