"""Default bounds from the robot and its recordings alone, so that a 25 mg·m² finger and a 95 kg slide need no tuning.

With P the largest gain in force, τ̂ the largest torque that the drive was asked for, and q̇, q̈ of the smoothed motion:

    armature   0 … max(P / (2π 1.5 Hz)², 5 × inertia of the links, τ̂ / rms(q̈))    else it could not have followed
    damping    0 … τ̂ / rms(q̇)                                                     else the drive could not have moved it
    friction   0 … τ̂                                                              likewise
    bias       ±0.2 rad; a slide: a quarter of its motion
    delay      0 … 40 ms
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.identify.motion import drive_demand, smoothed
from surefoot.record.recording import Recording
from surefoot.robot.spec import Robot

Array = np.ndarray
SLOWEST = 1.5  # [Hz]
LONGEST_DELAY = 0.04  # [s]


def default_bounds(robot: Robot, recordings: Sequence[Recording], link_inertia: Array) -> dict[str, tuple[Array, Array]]:
    """Lower and upper bound of every parameter: (n,) arrays, or one number where the joints share it."""
    kinds = [robot.kinds[robot.index(j)] for j in recordings[0].joints]
    slide = np.array([kind == "slide" for kind in kinds])
    torque = np.max([asked_torque(robot, rec) for rec in recordings], axis=0)
    torque = np.where(torque > 0, torque, 1.0)
    motions = [smoothed(rec) for rec in recordings]
    speed = np.maximum(np.max([_rms(v) for _, _, v, _ in motions], axis=0), 1e-3)
    push = np.maximum(np.max([_rms(a) for *_, a in motions], axis=0), 1e-2)
    stiffness = np.max([rec.stiffness for rec in recordings], axis=0)
    travel = np.max([np.ptp(q, axis=0) for _, q, _, _ in motions], axis=0)
    zero = np.zeros(len(slide))
    bias = np.where(slide, np.maximum(0.25 * travel, 1e-6), 0.2)
    armature = np.max([stiffness / (2 * np.pi * SLOWEST) ** 2, 5 * link_inertia, torque / push], axis=0)
    return {
        "armature": (zero, np.maximum(armature, 1e-9)),
        "damping": (zero, torque / speed),
        "friction": (zero, torque),
        "bias": (-bias, bias),
        "delay": (np.zeros(1), np.full(1, LONGEST_DELAY)),
        "load": (-torque / 2, torque / 2),
        "breakaway": (zero, torque),
        "load_friction": (zero, np.ones(len(slide))),
        "cutoff": (np.full(1, 3.0), np.full(1, 1000.0)),
        "tilt": (np.full(2, -0.3), np.full(2, 0.3)),
        "gain_scale": (np.full(1, 0.2), np.full(1, 5.0)),
    }


def asked_torque(robot: Robot, recording: Recording) -> Array:
    """The largest torque that each drive was asked for and could give [N·m], shape (n,)."""
    torque = drive_demand(recording, smoothed(recording))
    rows = robot.select(recording.joints)
    limit = np.where(robot.geared[rows], np.inf, robot.torque_limit[rows])
    return np.minimum(np.percentile(np.abs(torque), 99.5, axis=0), limit)


def _rms(x: Array) -> Array:
    return np.sqrt((x**2).mean(axis=0))
