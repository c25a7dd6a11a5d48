"""Recordings as drive networks see them: on the grid of their period, with everything that is asked for beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.errors import SurefootError
from surefoot.identify.motion import WINDOW, bridged, commanded, smoothed
from surefoot.identify.seed import regress
from surefoot.networks.convention import Convention
from surefoot.record.recording import Recording
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.inverse import link_torque
from surefoot.simulate.physics import Physics

Array = np.ndarray
SAMPLES = 2000  # of each recording that the regression looks at


@dataclass(frozen=True, kw_only=True, eq=False)
class Series:
    """One recording on a uniform grid of N times; every series of shape (N, n)."""

    time: Array  # [s], shape (N,)
    target: Array  # û [rad]
    target_velocity: Array  # û̇ [rad/s]
    position: Array  # encoders [rad]
    smooth: Array  # the same, smoothed [rad]
    velocity: Array  # of the smoothed positions [rad/s]
    torque: Array  # measured, 0 where the recording has none [N·m]
    usable: Array  # bool: the drive was on and the sample is valid
    stiffness: Array  # in force, shape (n,)
    damping: Array

    def inputs(self, convention: Convention, joints: Sequence[str]) -> Array:
        """The network's rows at every time and joint, shape (N, n, width); before the first time all was as it was then."""
        now = convention.rows(self.target, self.target_velocity, self.position, self.velocity, self.stiffness, self.damping)
        index = np.arange(len(now))
        seen = np.stack([now[np.maximum(index - lag, 0)] for lag in convention.lags or (0,)], axis=-1)
        told = np.eye(len(convention.joints))[[convention.joints.index(j) for j in joints]] if convention.joints else None
        rows = seen.reshape(*now.shape[:2], -1)
        if told is None:
            return rows
        return np.concatenate([rows, np.broadcast_to(told, (len(now), *told.shape))], axis=-1)


def series(rec: Recording, period: float) -> Series:
    """A recording on the grid of a period."""
    time = np.arange(rec.time[0], rec.time[-1], period)
    at = lambda grid, rows: np.stack([np.interp(time, grid, column) for column in rows.T], axis=1)  # noqa: E731
    grid, q, v, _ = smoothed(rec)
    usable = np.ones((len(time), rec.n), bool)
    for flags in ("enabled", "valid"):
        if getattr(rec, flags) is not None:
            usable &= commanded(rec, time, flags) > 0.999
    return Series(
        time=time, target=commanded(rec, time, "target"), target_velocity=commanded(rec, time, "target_velocity"),
        position=at(rec.time, bridged(rec)), smooth=at(grid, q), velocity=at(grid, v), torque=commanded(rec, time, "torque"),
        usable=usable, stiffness=rec.stiffness, damping=rec.damping,
    )  # fmt: skip


def same_joints(recordings: Sequence[Recording], *, torque: bool) -> tuple[str, ...]:
    """The joints of recordings to learn from; all have the same, and torque if it is asked for."""
    if not recordings:
        raise SurefootError("there is no recording to learn from; pass at least one.")
    first = recordings[0]
    for rec in recordings[1:]:
        if rec.joints != first.joints:
            raise SurefootError(
                f"recordings '{first.name}' and '{rec.name}' have different joints: {', '.join(first.joints)} and "
                f"{', '.join(rec.joints)}. Select and order them alike (recording.select([...]))."
            )
    if torque and (lacking := [rec.name for rec in recordings if rec.torque is None]):
        raise SurefootError(
            f"{', '.join(map(repr, lacking))} has no measured torque to learn from. Log the channel torque, or learn from the "
            "encoders alone: --source encoder (learn_from_encoder)."
        )
    return first.joints


def remainder(robot: Robot, recordings: Sequence[Recording]) -> JointDynamics:
    """What the measured torque does not account for: I_a q̈ + d q̇ + τ_f sgn q̇ = τ − links, by regression.

    A sensor at the link leaves nothing; the torque of a motor leaves the rotor and the gear's friction. The links take most of
    the torque, so both sides must be smoothed alike: torque and position by the same filter, then differences.
    """
    parts = []
    for rec in recordings:
        assert rec.torque is not None
        time, q, _, _ = smoothed(rec)
        torque = smoothed(rec.replace(position=rec.torque))[1]
        v = np.gradient(q, time, axis=0)
        a = np.gradient(v, time, axis=0)
        edge = min(len(time) // 4, int(2 * WINDOW * rec.rate))
        pick = np.unique(np.linspace(edge, len(time) - 1 - edge, SAMPLES).astype(int))
        left = torque[pick] - link_torque(robot, rec.joints, q[pick], v[pick], a[pick])
        for flags in ("enabled", "valid"):
            if getattr(rec, flags) is not None:
                left[commanded(rec, time[pick], flags) <= 0.999] = np.nan
        parts.append((v[pick], a[pick], left, np.broadcast_to(rec.stiffness, left.shape)))
    found, _ = regress(recordings[0].joints, parts, 0.0, Physics())
    return found.replace(bias=np.zeros(found.n))
