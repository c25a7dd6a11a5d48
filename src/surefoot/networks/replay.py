"""A drive network in the in-air replay, scored as a fit is."""

from __future__ import annotations

import numpy as np

from surefoot.identify.fit import Score
from surefoot.networks.network import Network
from surefoot.record.recording import Recording
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.driven import Driven
from surefoot.simulate.physics import Physics
from surefoot.simulate.replay import engine

Array = np.ndarray


def score_network(
    robot: Robot, rec: Recording, network: Network, *, physics: Physics | None = None, dynamics: JointDynamics | None = None
) -> Score:
    """Error of a network on a recording, beside that of no model at all.

    `dynamics` act beside the network in the place of what its convention says.
    """
    physics = physics or Physics()
    beside = network.convention.dynamics(rec.joints) if dynamics is None else dynamics
    position, _, saturated = Driven(robot, rec, physics, network.drive).replay(beside)
    none = JointDynamics.stack([JointDynamics.no_model(rec.joints)])
    bare = engine(robot, rec, physics, candidates=none).trajectories(none)[0][0]
    seen = np.ones_like(rec.position, bool) if rec.valid is None else rec.valid
    given = np.array([joint in rec.prescribed for joint in rec.joints])

    def rmse(run: Array) -> Array:
        squares = np.where(seen, run - rec.position, 0.0) ** 2
        value = np.sqrt(squares.sum(axis=0) / np.maximum(seen.sum(axis=0), 1))
        return np.where(given, np.nan, np.where(np.isfinite(value), value, np.inf))

    with np.errstate(over="ignore", invalid="ignore"):
        errors = rmse(position), rmse(bare)
    return Score(
        name=rec.name, hash=rec.hash, joints=rec.joints, rmse=errors[0], rmse_no_model=errors[1], time=rec.time,
        measured=rec.position, simulated=position, no_model=bare, samples=seen.sum(0),
        saturated=saturated / (int(rec.duration / physics.timestep) + 1),
    )  # fmt: skip
