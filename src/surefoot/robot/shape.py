"""What a robot looks like: capsules on the links of its tree, enough for a picture that moves. Nothing is simulated with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.robot.dynamics import Array
from surefoot.robot.spec import Robot

STICK = 0.02  # radius of a stick, as a part of the robot's extent
HINGE, SLIDE = 3, 2  # mjtJoint


@dataclass(frozen=True, kw_only=True, eq=False)
class Axis:
    """A joint as the link behind it moves."""

    joint: str
    kind: str  # "hinge" or "slide"
    axis: Array  # unit vector in the link's frame, shape (3,)
    anchor: Array  # a point on the axis in the link's frame [m], shape (3,)
    reference: float  # joint position at which the link stands as the model draws it [rad or m]


@dataclass(frozen=True, kw_only=True, eq=False)
class Link:
    """A body: its pose in its parent when all joints are at their reference."""

    parent: int  # position in `Shape.links`; -1: the world
    position: Array  # [m], shape (3,)
    rotation: Array  # unit quaternion w, x, y, z, shape (4,)
    axes: tuple[Axis, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Capsule:
    """A round stick fixed to a link."""

    link: int  # -1: the world
    start: Array  # in the link's frame [m], shape (3,)
    end: Array  # [m], shape (3,)
    radius: float  # [m]


@dataclass(frozen=True, kw_only=True, eq=False)
class Shape:
    """Links, parents before children, and their capsules."""

    links: tuple[Link, ...]
    capsules: tuple[Capsule, ...]


def shape_of(robot: Robot) -> Shape:
    """Capsules from the model's own shapes; sticks from joint to joint where it has none, or they cannot be read."""
    import mujoco

    try:
        m = mujoco.MjModel.from_xml_string(robot.scene) if robot.scene else None
    except ValueError:  # a file that the scene refers to is not there any more
        m = None
    if m is not None and {m.joint(j).name for j in range(m.njnt)} >= set(robot.joints):
        capsules = _shapes(m)
        if capsules:
            return Shape(links=_links(m), capsules=capsules)
    m = mujoco.MjModel.from_xml_string(robot.model)
    return Shape(links=_links(m), capsules=_sticks(m))


def _links(m: Any) -> tuple[Link, ...]:
    return tuple(
        Link(parent=int(m.body_parentid[b]) - 1, position=m.body_pos[b].copy(), rotation=m.body_quat[b].copy(), axes=_axes(m, b))
        for b in range(1, m.nbody)
    )


def _axes(m: Any, b: int) -> tuple[Axis, ...]:
    first = int(m.body_jntadr[b])
    own = [j for j in range(first, first + int(m.body_jntnum[b])) if m.jnt_type[j] in (HINGE, SLIDE)]
    return tuple(
        Axis(
            joint=m.joint(j).name,
            kind="hinge" if m.jnt_type[j] == HINGE else "slide",
            axis=m.jnt_axis[j].copy(),
            anchor=m.jnt_pos[j].copy(),
            reference=float(m.qpos0[m.jnt_qposadr[j]]),
        )
        for j in own
    )


def _shapes(m: Any) -> tuple[Capsule, ...]:
    """Capsules for every shape on a body; of a body that has both, meshes give way to plain shapes."""
    import mujoco

    of = mujoco.mjtGeom
    sphere, capsule, ellipsoid, cylinder, box, mesh = map(
        int, (of.mjGEOM_SPHERE, of.mjGEOM_CAPSULE, of.mjGEOM_ELLIPSOID, of.mjGEOM_CYLINDER, of.mjGEOM_BOX, of.mjGEOM_MESH)
    )
    shapes = list(zip(m.geom_bodyid.tolist(), m.geom_type.tolist(), m.geom_size, m.geom_pos, m.geom_quat, strict=True))
    plain = {b for b, kind, *_ in shapes if kind in (sphere, capsule, ellipsoid, cylinder, box)}
    out: list[Capsule] = []
    for b, kind, half, centre, quaternion in shapes:
        if b == 0 or kind not in (sphere, capsule, ellipsoid, cylinder, box, mesh) or (kind == mesh and b in plain):
            continue
        frame = np.zeros(9)
        mujoco.mju_quat2Mat(frame, quaternion)
        if kind == sphere:
            half = np.full(3, half[0])
        elif kind in (capsule, cylinder):
            half = np.array([half[0], half[0], half[1] + half[0] if kind == capsule else max(half[1], half[0])])
        out += _block(b - 1, centre, frame.reshape(3, 3), half)
    return tuple(out)


def _block(link: int, centre: Array, frame: Array, half: Array) -> list[Capsule]:
    """A block of some half-sizes as a raft of capsules along its longest side: one, or several where it is flat."""
    thin, wide, long = np.argsort(half, kind="stable")
    radius = float(half[thin])
    count = min(6, int(np.ceil(half[wide] / radius - 1e-9))) if radius > 0 else 1
    along = frame[:, long] * max(half[long] - radius, 0.0)
    across = frame[:, wide] * max(half[wide] - radius, 0.0)
    sides = np.linspace(-1, 1, count) if count > 1 else np.zeros(1)
    return [Capsule(link=link, start=centre - along + s * across, end=centre + along + s * across, radius=radius) for s in sides]


def _sticks(m: Any) -> tuple[Capsule, ...]:
    """From every link's origin to its children's; behind a last link as far again as its centre of mass lies."""
    import mujoco

    data = mujoco.MjData(m)
    mujoco.mj_kinematics(m, data)
    points = np.vstack([data.xpos[1:], data.xipos[1:]])
    radius = STICK * float(np.max(np.ptp(points, axis=0), initial=0.05))
    children = [[c for c in range(1, m.nbody) if m.body_parentid[c] == b] for b in range(m.nbody)]
    out = []
    for b in range(1, m.nbody):
        ends = [m.body_pos[c] for c in children[b]] or [2 * m.body_ipos[b]]
        out += [Capsule(link=b - 1, start=np.zeros(3), end=np.array(end), radius=radius) for end in ends]
    roots = [m.body_pos[c] for c in children[0]]
    middle = np.mean(roots, axis=0)
    out += [Capsule(link=-1, start=middle, end=np.array(root), radius=2 * radius) for root in roots]
    return tuple(out)
