"""The links of a virtual robot, by MuJoCo: its base fixed, on a stand that gives, or free on the ground."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from surefoot.errors import SurefootError
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.ground import Ground
from surefoot.simulate.physics import Physics, hung_model
from surefoot.simulate.terrain import Terrain

Array = np.ndarray
Place = Literal["fixed", "stand", "ground"]


@dataclass(frozen=True, kw_only=True)
class Stand:
    """What holds the base in the air: a spring and a damper in every direction, by the frequencies of the whole robot on it."""

    sway: float  # of translation [Hz]
    rock: float  # of rotation [Hz]
    damping: float  # ratio of both [-]


class Body:
    """The rigid bodies of a robot, stepped under the torque that its drives put on the joints."""

    def __init__(
        self, robot: Robot, place: Place, *, timestep: float, stand: Stand | None = None, terrain: Terrain | None = None
    ) -> None:  # fmt: skip
        """On the ground, the terrain is flat unless one is given; the robot starts at its first spot."""
        import mujoco

        self._mujoco, self.robot, self.place, self.timestep = mujoco, robot, place, timestep
        self.ground: Ground | None = None
        self.terrain = terrain or Terrain()
        if place == "fixed":
            self.model = hung_model(robot, robot.joints, Physics(timestep=timestep))
        else:
            self.ground = _loose(robot, self.terrain, timestep)
            self.model = self.ground.model
            off = mujoco.mjtDisableBit
            self.model.opt.disableflags |= off.mjDSBL_SENSOR | (0 if place == "ground" else off.mjDSBL_CONTACT)
        self.data = mujoco.MjData(self.model)
        joints = [self.model.joint(name) for name in robot.joints]
        self._at = np.array([j.qposadr[0] for j in joints])
        self._dof = np.array([j.dofadr[0] for j in joints])
        self.model.dof_damping[self._dof] = self.model.dof_armature[self._dof] = self.model.dof_frictionloss[self._dof] = 0.0
        self._base = -1 if self.ground is None else self.ground.base
        self._stand = stand if place == "stand" else None
        if place == "stand" and stand is None:
            raise SurefootError("a robot on a stand needs the stand's stiffness: stand=Stand(...), or place='fixed'.")
        self.reset()

    def weigh(self, armature: Array) -> None:
        """Tell MuJoCo what the rotors weigh [kg·m²]: it scales dry friction by it, and would leave it out of balanced links."""
        self.model.dof_simplenum[:] = self.model.body_simple[:] = 0  # a link balanced about its joint has a constant mass matrix
        self.model.dof_armature[self._dof] = armature
        self._mujoco.mj_setConst(self.model, self._mujoco.MjData(self.model))

    # --- motion ------------------------------------------------------------------------------------------------------------
    @property
    def position(self) -> Array:
        """Joint positions [rad], shape (n,)."""
        return self.data.qpos[self._at]

    @property
    def velocity(self) -> Array:
        """Joint velocities [rad/s], shape (n,)."""
        return self.data.qvel[self._dof]

    def reset(self, position: Array | None = None) -> None:
        """At rest, joints at a position [rad] (the robot's posture), feet on the ground if there is one."""
        self._mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[self._at] = self.robot.posture if position is None else position
        if self.place == "ground" and self.ground is not None:
            self.data.qpos[:3] = self.terrain.spots[0, 0] + [0.0, 0.0, self.ground.stand_height]
        self._mujoco.mj_forward(self.model, self.data)
        if self._stand is not None:
            self._hang(self._stand)

    def step(self, torque: Array, *, armature: Array, damping: Array, friction: Array) -> None:
        """One step with a torque on every joint [N·m] and what its transmission adds: [kg·m²], [N·m·s/rad], [N·m]."""
        model, dof = self.model, self._dof
        model.dof_armature[dof], model.dof_damping[dof], model.dof_frictionloss[dof] = armature, damping, friction
        self.data.qfrc_applied[dof] = torque
        if self._stand is not None:
            self._hold()
        self._mujoco.mj_step(model, self.data)

    def link_inertia(self) -> Array:
        """What each joint would have to turn with all others held, without any rotor [kg·m²], shape (n,)."""
        full = np.zeros((self.model.nv, self.model.nv))
        self._mujoco.mj_fullM(self.model, self.data, full)
        return np.diag(full)[self._dof] - self.model.dof_armature[self._dof]

    # --- the base -----------------------------------------------------------------------------------------------------------
    def base(self) -> dict[str, Array]:
        """True pose and velocity of the base in the world, for evaluation; nothing where the base is fixed.

        `base_position` [m], `base_orientation` (w x y z), `base_velocity` [m/s], `base_angular_velocity` [rad/s].
        """
        if self._base < 0:
            return {}
        qpos, qvel = self.data.qpos, self.data.qvel
        turn = self.data.xmat[self._base].reshape(3, 3)
        return {"base_position": qpos[:3].copy(), "base_orientation": qpos[3:7].copy(), "base_velocity": qvel[:3].copy(),
                "base_angular_velocity": turn @ qvel[3:6]}  # fmt: skip

    def imu(self) -> dict[str, Array]:
        """What an IMU at the base's origin feels, in the base's frame, without errors: rates and specific force."""
        if self._base < 0:
            return {}
        turn = self.data.xmat[self._base].reshape(3, 3)
        force = turn.T @ (self.data.qacc[:3] - self.model.opt.gravity)
        return {"imu_angular_velocity": self.data.qvel[3:6].copy(), "imu_acceleration": force}

    def contacts(self) -> Array:
        """Names of the bodies that touch the ground."""
        names = set()
        for k in range(self.data.ncon):
            pair = self.model.geom_bodyid[self.data.contact.geom[k]]
            if 0 in pair:
                names.add(self.model.body(int(pair.max())).name)
        return np.array(sorted(names), dtype=np.str_)

    @property
    def feet(self) -> tuple[str, ...]:
        """The links that are feet, in the order of their legs; none where the base is fixed."""
        return () if self.ground is None else self.ground.feet

    # --- stand and ground -----------------------------------------------------------------------------------------------------
    def _hang(self, stand: Stand) -> None:
        """Spring and damper of the stand, about the pose in which the base is now; the stand carries the weight."""
        total = float(self.model.body_subtreemass[self._base])
        inertia = float(self.model.body_inertia[self._base].mean()) * total / float(self.model.body_mass[self._base])
        sway, rock = 2 * np.pi * stand.sway, 2 * np.pi * stand.rock
        self._stiffness = np.repeat([total * sway**2, inertia * rock**2], 3)
        self._damper = 2 * stand.damping * np.repeat([total * sway, inertia * rock], 3)
        self._weight = np.concatenate([-total * self.model.opt.gravity, np.zeros(3)])
        arm = self.data.subtree_com[self._base] - self.data.xipos[self._base]
        self._weight[3:] = np.cross(arm, self._weight[:3])
        self._hook = self.data.qpos[:7].copy()

    def _hold(self) -> None:
        """The stand's wrench on the base, at its centre of mass, in the world."""
        qpos, qvel = self.data.qpos, self.data.qvel
        turned = np.zeros(3)
        self._mujoco.mju_subQuat(turned, qpos[3:7], self._hook[3:])
        frame = self.data.xmat[self._base].reshape(3, 3)
        bent = np.concatenate([qpos[:3] - self._hook[:3], frame @ turned])
        moving = np.concatenate([qvel[:3], frame @ qvel[3:6]])
        self.data.xfrc_applied[self._base] = self._weight - self._stiffness * bent - self._damper * moving


def _loose(robot: Robot, terrain: Terrain, timestep: float) -> Ground:
    """The robot with a free base on a terrain, as the training world has it, but with nothing in its joints."""
    ground = Ground.of(robot, JointDynamics.no_model(robot.joints), Physics(timestep=timestep), terrain)
    ground.model.actuator_gainprm[:] = ground.model.actuator_biasprm[:] = 0.0
    return ground


def can_move(robot: Robot) -> bool:
    """Whether the base of this robot's model can be put on a stand or on the ground."""
    try:
        _loose(robot, Terrain(), 1e-3)
    except (SurefootError, ValueError):
        return False
    return True
