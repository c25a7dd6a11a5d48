"""A MuJoCo model as independent branches of one-joint links: the numbers that the in-air equations need.

With a fixed base and no contact the subtrees that start at the base do not feel each other, so each is a problem of its own.
Every joint gets a link; a body with two joints becomes two links of which the first has no mass; bodies without a joint
are merged into the link they are fixed to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from surefoot.errors import SurefootError

if TYPE_CHECKING:
    import mujoco

Array = np.ndarray


class Unsupported(SurefootError):
    """MuJoCo steps this model, the in-air kernel cannot."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Link:
    """One joint and the rigid body it moves. The frame sits at the joint's anchor."""

    dof: int  # index of the joint's degree of freedom in the model
    parent: int  # index of the parent link in the branch, -1 at the base
    hinge: bool  # False: slide
    rotation: Array  # frame at q = reference, in the parent's frame, shape (3, 3)
    offset: Array  # origin at q = reference, in the parent's frame [m], shape (3,)
    axis: Array  # joint axis in the link's frame, shape (3,)
    reference: float  # joint position at which `rotation` and `offset` hold [rad] or [m]
    mass: float  # [kg]
    moment: Array  # mass times centre of mass, about the origin [kg·m], shape (3,)
    inertia: Array  # about the origin [kg·m²], shape (3, 3)
    spring: float  # passive spring [N·m/rad]
    rest: float  # where the spring is relaxed [rad]
    lower: float  # joint limits, margin included [rad]; ∓inf without
    upper: float
    limit: tuple[float, ...]  # (stiffness, damping, dmin, dmax, width, midpoint, power) of MuJoCo's limit constraint
    bare: bool  # MuJoCo leaves the armature out of the scale of friction and limits: a slide through its body's centre of mass
    friction_impedance: float  # MuJoCo's solimp[0] of the friction constraint
    friction_damping: float  # a_ref = -b v


@dataclass(frozen=True, kw_only=True, eq=False)
class Branch:
    """A subtree that starts at the fixed base, parents before children. Branches with the same numbers are equal."""

    links: tuple[Link, ...]

    @cached_property
    def content(self) -> bytes:
        """Every number of the branch."""
        numbers = [np.ravel(np.asarray(value, float)) for link in self.links for value in vars(link).values()]
        return np.concatenate(numbers).tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Branch) and self.content == other.content

    def __hash__(self) -> int:
        return hash(self.content)

    @property
    def dofs(self) -> list[int]:
        """Degrees of freedom in the model's numbering."""
        return [link.dof for link in self.links]

    def ancestors(self, i: int) -> list[int]:
        """Link i and every link between it and the base."""
        chain = []
        while i >= 0:
            chain.append(i)
            i = self.links[i].parent
        return chain


def branches(model: mujoco.MjModel) -> list[Branch]:
    """The independent branches of a fixed-base model of hinges and slides."""
    import mujoco

    known = {int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)}
    if set(map(int, model.jnt_type)) - known:
        raise Unsupported("the in-air kernel knows hinge and slide joints on a fixed base only.")
    link_of: dict[int, tuple[int, int]] = {}  # body -> (branch, link) that carries it
    pose: dict[int, tuple[Array, Array]] = {0: (np.eye(3), np.zeros(3))}  # body frame in its carrier link's frame
    grown: list[list[Link]] = []
    carried: list[list[list[tuple[float, Array, Array]]]] = []
    for body in range(1, model.nbody):
        parent = int(model.body_parentid[body])
        parent_rotation, parent_offset = pose[parent]
        rotation = parent_rotation @ _matrix(model.body_quat[body])
        offset = parent_offset + parent_rotation @ model.body_pos[body]
        carrier = link_of.get(parent)
        for joint in range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body]):
            if carrier is None:
                grown.append([])
                carried.append([])
            index = carrier[0] if carrier else len(grown) - 1
            anchor = model.jnt_pos[joint]
            grown[index].append(_link(model, joint, carrier[1] if carrier else -1, rotation, offset + rotation @ anchor))
            carried[index].append([])
            carrier = (index, len(grown[index]) - 1)
            rotation, offset = np.eye(3), -anchor  # the body's frame in the new link's frame
        pose[body] = (rotation, offset)
        if carrier is not None:
            link_of[body] = carrier
            carried[carrier[0]][carrier[1]].append(_mass(model, body, rotation, offset))
    return [Branch(links=tuple(map(_loaded, links, masses))) for links, masses in zip(grown, carried, strict=True)]


def _matrix(quat: Array) -> Array:
    import mujoco

    out = np.zeros(9)
    mujoco.mju_quat2Mat(out, quat)
    return out.reshape(3, 3)


def _mass(model: mujoco.MjModel, body: int, rotation: Array, offset: Array) -> tuple[float, Array, Array]:
    """A body's mass, first moment and inertia about the origin of the link that carries it."""
    mass = float(model.body_mass[body])
    centre = offset + rotation @ model.body_ipos[body]
    principal = rotation @ _matrix(model.body_iquat[body])
    inertia = principal @ np.diag(model.body_inertia[body]) @ principal.T
    return mass, mass * centre, inertia + mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))


def _loaded(link: Link, masses: list[tuple[float, Array, Array]]) -> Link:
    total = sum((m for m, _, _ in masses), 0.0)
    moment = sum((h for _, h, _ in masses), np.zeros(3))
    inertia = sum((i for _, _, i in masses), np.zeros((3, 3)))
    return replace(link, mass=total, moment=moment, inertia=inertia)


def _link(model: mujoco.MjModel, joint: int, parent: int, rotation: Array, offset: Array) -> Link:
    import mujoco

    _refuse(model, joint)
    dof = int(model.jnt_dofadr[joint])
    limited, margin = bool(model.jnt_limited[joint]), float(model.jnt_margin[joint])
    low, high = model.jnt_range[joint]
    safe = 0.0 if model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_REFSAFE else 2 * model.opt.timestep
    solimp = model.jnt_solimp[joint]
    friction_impedance = _impedance(model.dof_solimp[dof])
    return Link(
        dof=dof,
        parent=parent,
        hinge=bool(model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE),
        rotation=rotation,
        offset=offset,
        axis=model.jnt_axis[joint].copy(),
        reference=float(model.qpos0[model.jnt_qposadr[joint]]),
        mass=0.0,
        moment=np.zeros(3),
        inertia=np.zeros((3, 3)),
        spring=float(np.ravel(model.jnt_stiffness[joint])[0]),
        rest=float(model.qpos_spring[model.jnt_qposadr[joint]]),
        lower=float(low + margin) if limited else -np.inf,
        upper=float(high - margin) if limited else np.inf,
        limit=(*_stiffness_damping(model.jnt_solref[joint], solimp[1], safe), *map(float, solimp)),
        bare=bool(model.body_simple[model.jnt_bodyid[joint]] == 2),
        friction_impedance=friction_impedance,
        friction_damping=_stiffness_damping(model.dof_solref[dof], model.dof_solimp[dof][1], safe)[1],
    )


def _refuse(model: mujoco.MjModel, joint: int) -> None:
    """Parts of a joint that the in-air equations do not have."""
    name = model.joint(joint).name
    if np.any(model.jnt_stiffnesspoly[joint]):
        raise Unsupported(f"the in-air kernel knows linear springs only; the one of joint {name} is a polynomial.")
    power = float(model.jnt_solimp[joint][4])
    if model.jnt_limited[joint] and power != round(power):
        raise Unsupported(f"the in-air kernel knows whole powers in solimplimit only; joint {name} has {power:g}.")


def _impedance(solimp: Array) -> float:
    """MuJoCo's constraint impedance at zero violation, kept inside its own limits."""
    dmin, dmax, width = np.clip(solimp[0], 1e-4, 0.9999), np.clip(solimp[1], 1e-4, 0.9999), solimp[2]
    return float(dmin if width > 1e-15 else 0.5 * (dmin + dmax))


def _stiffness_damping(solref: Array, dmax: float, safe: float) -> tuple[float, float]:
    """MuJoCo's (k, b) of a_ref = -b v - k d r, from its (time constant, damping ratio) or its direct form."""
    dmax = float(np.clip(dmax, 1e-4, 0.9999))
    first, second = map(float, solref)
    if first > 0:
        first = max(first, safe)
        return 1 / max(1e-15, dmax**2 * first**2 * second**2), 2 / max(1e-15, dmax * first)
    return -first / max(1e-15, dmax**2), -second / max(1e-15, dmax)
