"""Do links come too near to each other? Asked of the robot's real shapes, by MuJoCo's collision detection.

All pairs of links are watched but for a link and the next one that moves on it, whose shapes meet in their joint; pairs that
the model's author excluded; and links of one chain whose shapes already overlap in the posture (a hip inside its housing).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.robot.spec import Robot

Array = np.ndarray
NEXT = 2  # links of one chain this far apart may overlap in the posture


@dataclass(frozen=True, kw_only=True)
class Near:
    """Two links that come nearer than they may."""

    first: str  # body
    second: str
    joint: str  # that moves the outer of the two
    joints: tuple[str, ...]  # that move either
    sample: int  # row of the positions
    distance: float  # [m], below zero: inside each other


class Shapes:
    """The robot's links with their shapes, and who may not touch whom."""

    def __init__(self, robot: Robot, margin: float) -> None:
        import mujoco

        self.margin = margin
        self.model = model = mujoco.MjModel.from_xml_string(robot.scene)
        self.data = mujoco.MjData(model)
        ids = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint) for joint in robot.joints]
        self.rows = model.jnt_qposadr[ids]
        flat = (model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE) | (model.geom_type == mujoco.mjtGeom.mjGEOM_HFIELD)
        solid = ((model.geom_contype | model.geom_conaffinity) != 0) & ~flat  # a floor is not there in the air
        self.count = int(solid.sum())
        model.geom_contype[:] = model.geom_conaffinity[:] = solid
        model.geom_margin[:] = margin
        model.geom_gap[:] = 0.0
        home = [k for k in range(model.nkey) if model.key(k).name == "home"]
        self.rest = (model.key_qpos[home[0]] if home else model.qpos0).copy()
        self.joint_of = {int(model.jnt_bodyid[i]): joint for i, joint in zip(ids, robot.joints, strict=True)}
        self.allowed: frozenset[tuple[int, int]] = frozenset()
        touching = self._pairs(robot.posture)
        self.allowed = frozenset(pair for pair in touching if self._near_in_chain(*pair))

    @property
    def allowed_names(self) -> list[str]:
        """The pairs of links that overlap in the posture and are therefore not watched."""
        return [f"{self._name(a)} and {self._name(b)}" for a, b in sorted(self.allowed)]

    def nearest(self, positions: Array) -> Near | None:
        """The first sample of (T, n) joint positions at which two links are nearer than the margin, and the worst pair there."""
        for i, q in enumerate(positions):
            if pairs := self._pairs(q):
                (a, b), distance = min(pairs.items(), key=lambda item: item[1])
                joints = tuple(self.joint_of[x] for x in [*self._chain(b), *self._chain(a)] if x in self.joint_of)
                return Near(
                    first=self._name(a), second=self._name(b), joint=joints[0] if joints else "", sample=i, distance=distance,
                    joints=tuple(dict.fromkeys(joints)),
                )  # fmt: skip
        return None

    def _pairs(self, q: Array) -> dict[tuple[int, int], float]:
        """Moving bodies that are nearer than the margin, and how near [m]."""
        import mujoco

        self.data.qpos[:] = self.rest
        self.data.qpos[self.rows] = q
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_collision(self.model, self.data)
        out: dict[tuple[int, int], float] = {}
        for geoms, distance in zip(self.data.contact.geom, self.data.contact.dist, strict=True):
            a, b = sorted(int(self._carrier(self.model.geom_bodyid[g])) for g in geoms)
            if a != b and distance < self.margin and (a, b) not in self.allowed and self._apart(a, b) > 1:
                out[a, b] = min(float(distance), out.get((a, b), np.inf))
        return out

    def _carrier(self, body: Any) -> int:
        """The moving body that a body is rigidly part of; the base counts as one."""
        return int(self.model.body_weldid[body])

    def _chain(self, body: int) -> list[int]:
        """A moving body and those that carry it, down to the base."""
        chain = [body]
        while body > 0:
            body = self._carrier(self.model.body_parentid[body])
            chain.append(body)
        return chain

    def _apart(self, a: int, b: int) -> int:
        """Joints between two bodies of one chain; many for bodies of different chains."""
        for one, other in ((a, b), (b, a)):
            if other in (chain := self._chain(one)):
                return chain.index(other)
        return 10**6

    def _near_in_chain(self, a: int, b: int) -> bool:
        return self._apart(a, b) <= NEXT

    def _name(self, body: int) -> str:
        return "the base" if body == 0 else self.model.body(body).name or f"body {body}"
