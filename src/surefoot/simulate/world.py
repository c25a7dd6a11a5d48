"""N robots on the ground, as a task sees them: reset some, step all with joint targets, read where they are.

This file is the border. A task is written against `World` alone; what steps the robots (`mujoco.batch` on all cores, MuJoCo
Warp on a GPU) stands behind it. Arrays are NumPy float64, one row per robot, joints in the order of `World.joints`, SI units;
what a world returns is the caller's to keep.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from surefoot.simulate.terrain import Terrain

Array = np.ndarray


@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """The robots now: N robots, n joints, F feet. The last five are as old as the start of the last physics step."""

    position: Array  # of the base link's origin in the world [m], shape (N, 3)
    quaternion: Array  # from base to world, (w, x, y, z), shape (N, 4)
    velocity: Array  # of the base link's origin, in base axes [m/s], shape (N, 3)
    rate: Array  # angular velocity of the base, in base axes [rad/s], shape (N, 3)
    down: Array  # direction of gravity in base axes, unit length, shape (N, 3)
    joint_position: Array  # true q [rad], shape (N, n)
    joint_velocity: Array  # q̇ [rad/s], shape (N, n)
    encoder: Array  # what the drives read, q − q_b [rad], shape (N, n)
    foot_position: Array  # centre of each foot in the world [m], shape (N, F, 3)
    foot_contact: Array  # bool, shape (N, F)
    thigh_contact: Array  # bool, shape (N, F): the link above the foot's touches the ground; its lower end is the knee
    shank_contact: Array  # bool, shape (N, F): the foot's link touches the ground elsewhere than with the foot
    trunk_contact: Array  # bool, shape (N,): any other link touches the ground


@dataclass(frozen=True, kw_only=True, eq=False)
class Motion:
    """One control step at its S physics steps, each as it was when the step began."""

    joint_position: Array  # true q [rad], shape (N, S, n)
    joint_velocity: Array  # q̇ [rad/s], shape (N, S, n)
    torque: Array  # what the drives gave, at the joints, τ [N·m], shape (N, S, n)
    com_velocity: Array  # velocity of the whole robot's centre of mass, in the world [m/s], shape (N, S, 3)
    foot_velocity: Array  # in the world [m/s], shape (N, S, F, 3)
    foot_force: Array  # of the ground on each foot, in the world [N], shape (N, S, F, 3)
    foot_contact: Array  # bool, shape (N, S, F)
    thigh_contact: Array  # bool, shape (N, S, F)
    shank_contact: Array  # bool, shape (N, S, F)
    trunk_contact: Array  # bool, shape (N, S)
    diverged: Array  # bool, shape (N,): the engine lost this robot. It is at its last start again; its rows here are 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Start:
    """Where k robots begin; a velocity is in the axes of `State`."""

    position: Array  # of the base link's origin in the world [m], shape (k, 3)
    quaternion: Array  # (w, x, y, z), shape (k, 4)
    joint_position: Array  # true q [rad], shape (k, n)
    velocity: Array | None = None  # [m/s], shape (k, 3); None: at rest
    rate: Array | None = None  # [rad/s], shape (k, 3); None: at rest
    joint_velocity: Array | None = None  # [rad/s], shape (k, n); None: at rest


class World(Protocol):
    """N robots on one ground. One control step is `substeps` physics steps of `timestep`."""

    joints: tuple[str, ...]
    feet: tuple[str, ...]  # names of the F feet
    robots: int  # N
    timestep: float  # h [s]
    substeps: int  # S; a control step lasts S h
    mass: float  # of one robot [kg]
    stand_height: float  # of the base link's origin above flat ground with the joints at the robot's posture [m]
    terrain: Terrain
    friction: Array  # of each robot's ground [-], shape (N,); write it at any time
    wrench: Array  # force [N] and moment [N·m] on each base's centre of mass, in the world, shape (N, 6); write it at any time
    diverged: int  # how often the engine has lost a robot so far

    def reset(self, which: Array, start: Start) -> None:
        """Put the robots `which` (indices, shape (k,)) at `start`; before their next target their command was that target."""
        ...

    def step(self, target: Array) -> Motion:
        """One control step: joint targets û [rad], shape (N, n), held for its whole length, in encoder coordinates."""
        ...

    def read(self) -> State:
        """The robots now."""
        ...

    def push(self, which: Array, velocity: Array) -> None:
        """Add (linear [m/s], angular [rad/s]), shape (k, 6), in the world's axes, to the base velocity of the robots `which`."""
        ...
