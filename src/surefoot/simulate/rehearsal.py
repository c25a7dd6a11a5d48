"""A rehearsal: the recording that a robot with known joint dynamics would give, simulated by MuJoCo and read by real encoders."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.signal import lfilter

from surefoot.errors import SurefootError
from surefoot.record.excitation import Excitation
from surefoot.record.recording import Recording
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.physics import Physics
from surefoot.simulate.reference import Reference

Array = np.ndarray


def rehearse(
    robot: Robot, dynamics: JointDynamics, motion: Excitation, *, stiffness: ArrayLike | None = None,
    damping: ArrayLike | None = None, noise: float = 0.0, colour: float = 0.0, resolution: float = 0.0, seed: int = 0,
    physics: Physics | None = None, name: str = "",
) -> Recording:  # fmt: skip
    """Record `motion` on a robot whose joint dynamics are known.

    The encoders add Gaussian noise of standard deviation `noise` [rad], correlated from sample to sample by `colour` (0:
    white), and round to `resolution` [rad].
    """
    p = np.broadcast_to(robot.stiffness if stiffness is None else np.asarray(stiffness, float), (robot.n,))
    d = np.broadcast_to(robot.damping if damping is None else np.asarray(damping, float), (robot.n,))
    if np.isnan(p).any() or np.isnan(d).any():
        raise SurefootError(f"{robot.name} has no default gains; pass stiffness=... and damping=... .")
    blank = Recording(
        joints=robot.joints, time=motion.time, target=motion.target, position=np.repeat(motion.target[:1], len(motion.time), 0),
        stiffness=p, damping=d, velocity=np.zeros_like(motion.target), name=name or motion.name,
    )  # fmt: skip
    position, _, _ = Reference(robot, blank, physics or Physics()).replay(dynamics)
    if not np.isfinite(position).all():
        worst = robot.joints[int(np.argmax(~np.isfinite(position).all(axis=0)))]
        raise SurefootError(f"the rehearsal diverged (joint {worst}): gains {p[0]:g}/{d[0]:g} are too stiff for this timestep.")
    rng = np.random.default_rng(seed)
    white = rng.standard_normal(position.shape) * noise * np.sqrt(1 - colour**2)
    read = position + (lfilter([1.0], [1.0, -colour], white, axis=0) if colour else white)
    if resolution > 0:
        read = np.round(read / resolution) * resolution
    return blank.replace(position=read, velocity=None, notes={"origin": "simulated by MuJoCo"})
