"""What the moving legs do to the stand: force and moment on the base, by inverse dynamics, over time and over frequency.

The wrench is that of all links that move, about the origin of the base, less its value at rest: what changes is what shakes
a stand. Rotors turn with their links here; their gyroscopic share is left out.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from surefoot.robot.spec import Robot
from surefoot.simulate.physics import Physics, hung_model, hung_order

Array = np.ndarray
BANDS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 25.0)  # [Hz] edges that a stand's behaviour is told in


@dataclass(frozen=True, kw_only=True, eq=False)
class Stand:
    """What a stand bears without moving; inf: not known."""

    force: float = np.inf  # [N]
    moment: float = np.inf  # [N·m]


@dataclass(frozen=True, kw_only=True, eq=False)
class Wrench:
    """Force and moment of the moving links on the base, less those at rest."""

    time: Array  # [s], shape (T,)
    force: Array  # [N], shape (T, 3)
    moment: Array  # [N·m], about the base's origin, shape (T, 3)

    @property
    def peaks(self) -> tuple[float, float]:
        """The largest force [N] and moment [N·m]."""
        return float(np.linalg.norm(self.force, axis=1).max()), float(np.linalg.norm(self.moment, axis=1).max())

    def bands(self) -> list[tuple[float, float, float, float]]:
        """For each band: its edges [Hz], and the largest force and moment of what lies in it."""
        f = np.fft.rfftfreq(len(self.time), self.time[1] - self.time[0])
        out = []
        for low, high in itertools.pairwise(BANDS):
            inside = ((f >= low) & (f < high))[:, None]
            part = [np.fft.irfft(np.fft.rfft(x, axis=0) * inside, len(x), axis=0) for x in (self.force, self.moment)]
            out.append((low, high, *(float(np.linalg.norm(x, axis=1).max()) for x in part)))
        return out

    def bearable(self, stand: Stand | None) -> float:
        """The frequency up to which no band is more than the stand bears [Hz]; inf where it bears all."""
        if stand is None:
            return np.inf
        return min(
            (low for low, _, force, moment in self.bands() if force > stand.force or moment > stand.moment), default=np.inf
        )


def base_wrench(robot: Robot, time: Array, q: Array) -> Wrench:
    """The wrench along uniformly sampled joint positions (T, n), whose derivatives are central differences."""
    import mujoco

    model = hung_model(robot, robot.joints, Physics())
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    order, data = hung_order(model, robot.joints), mujoco.MjData(model)
    v = np.gradient(q, time, axis=0)
    a = np.gradient(v, time, axis=0)
    roots = [body for body in range(1, model.nbody) if model.body_parentid[body] == 0]
    force, moment = np.empty((len(q) + 1, 3)), np.empty((len(q) + 1, 3))
    still = np.zeros(robot.n)
    for i, state in enumerate([(q[0], still, still), *zip(q, v, a, strict=True)]):
        data.qpos[order], data.qvel[order], data.qacc[order] = state
        mujoco.mj_inverse(model, data)
        mujoco.mj_rnePostConstraint(model, data)
        pulls, turns = data.cfrc_int[roots, 3:], data.cfrc_int[roots, :3]
        force[i] = -pulls.sum(axis=0)  # what the base gives to the links, they give back
        moment[i] = -(turns + np.cross(data.subtree_com[model.body_rootid[roots]], pulls)).sum(axis=0)
    return Wrench(time=time, force=force[1:] - force[0], moment=moment[1:] - moment[0])
