"""Mirror planes of a robot: which joint is the mirror image of which, and with which sign.

A reflection R = 1 − 2 n nᵀ keeps a motion possible when every link, joint limit and posture has its mirror image. An axis of
rotation is an axial vector: the image of a turn by q about a is a turn by q about −R a, that of a slide by q along a goes along
R a. Planes are searched through the axes of the base frame that are level in the posture: gravity must be its own image.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.errors import SurefootError, unknown
from surefoot.robot.dynamics import Array
from surefoot.robot.spec import Robot

PLANES = {"left-right": (0.0, 1.0, 0.0), "front-hind": (1.0, 0.0, 0.0)}
"""Planes by name, and their normal in the base frame (x forward, y left)."""

PLACE = 5e-3  # [m] that a joint axis may be off its image
TURN = 0.02  # [rad] that an axis, a limit or the posture may be off
MASS = 0.05  # share that masses may differ by
CENTRE = 0.015  # [m] that centres of mass may be off


@dataclass(frozen=True, kw_only=True, eq=False)
class Symmetry:
    """One mirror plane. The image of a motion: joint j does what joint `permutation[j]` did, times `sign[j]`.

    Joint values are deviations from the robot's posture, velocities, accelerations or torques; see `mirror`.
    """

    plane: str  # a key of PLANES
    joints: tuple[str, ...]
    permutation: np.ndarray  # int, shape (n,), its own inverse
    sign: Array  # ±1, shape (n,)
    normal: Array  # of the plane, in the base frame, shape (3,)
    offset: float  # of the plane from the base frame's origin, along the normal [m]

    @property
    def polar(self) -> Array:
        """Signs that mirror a position, velocity, force or gravity direction in the base frame, shape (3,)."""
        return 1.0 - 2.0 * self.normal**2

    @property
    def axial(self) -> Array:
        """Signs that mirror an angular velocity or a moment in the base frame, shape (3,)."""
        return -self.polar

    def mirror(self, values: ArrayLike) -> Array:
        """The mirror image of joint deviations, velocities or torques, shape (..., n)."""
        return self.sign * np.asarray(values)[..., self.permutation]

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Joints that are each other's image."""
        return tuple((self.joints[j], self.joints[k]) for j, k in enumerate(self.permutation) if j < k)


def symmetries(robot: Robot) -> tuple[Symmetry, ...]:
    """The robot's mirror planes: those that robot.toml names (symmetry = [...]), or those that its model has.

    A plane that exchanges no two joints is none: mirrored motion would cancel nothing. Of a plane that is given, place and
    axis of every joint must still have an image; masses, limits and posture are taken on trust.
    """
    given = robot.symmetry
    if given is not None and (wrong := [name for name in given if name not in PLANES]):
        raise unknown(f"symmetry of {robot.name}", wrong, tuple(PLANES))
    tree = _Tree(robot)
    found = []
    for plane in PLANES if given is None else given:
        matched = _match(robot, tree, plane, trusting=given is not None)
        if isinstance(matched, Symmetry):
            found.append(matched)
        elif given is not None:
            raise SurefootError(
                f'{robot.name}: symmetry = ["{plane}"] is given, but {matched}. Correct the model, or leave the plane out.'
            )
    return tuple(found)


class _Tree:
    """Joints and links in the base frame, at the robot's posture; arrays are in the robot's joint order."""

    def __init__(self, robot: Robot) -> None:
        import mujoco

        model = mujoco.MjModel.from_xml_string(robot.model)
        data = mujoco.MjData(model)
        rows = [model.joint(name).id for name in robot.joints]
        data.qpos[model.jnt_qposadr[rows]] = robot.posture
        mujoco.mj_kinematics(model, data)
        bodies = model.jnt_bodyid[rows]
        self.anchor, self.axis = data.xanchor[rows].copy(), data.xaxis[rows].copy()
        self.mass, self.centre = model.body_mass[bodies].copy(), data.xipos[bodies].copy()
        self.gravity = model.opt.gravity / max(np.linalg.norm(model.opt.gravity), 1e-12)
        self.parent = [_parent(model, row, rows) for row in rows]


def _parent(model: Any, row: int, rows: list[int]) -> int:
    """The joint that carries a joint, as an index into `rows`; -1 at the base."""
    body = model.jnt_bodyid[row]
    if row > model.body_jntadr[body]:
        return rows.index(row - 1)
    body = model.body_parentid[body]
    while body > 0 and model.body_jntnum[body] == 0:
        body = model.body_parentid[body]
    return rows.index(model.body_jntadr[body] + model.body_jntnum[body] - 1) if body > 0 else -1


def _match(robot: Robot, tree: _Tree, plane: str, *, trusting: bool) -> Symmetry | str:
    """The symmetry of a plane, or why there is none."""
    normal = np.array(PLANES[plane])
    if abs(tree.gravity @ normal) > TURN:
        return f"gravity does not lie in the {plane} plane"
    reflection = np.eye(3) - 2 * np.outer(normal, normal)
    offset = _offset(tree, normal)
    image = lambda points: points @ reflection + 2 * offset * normal  # noqa: E731
    anchor, centre = image(tree.anchor), image(tree.centre)
    hinge = np.array([kind == "hinge" for kind in robot.kinds])
    axis = np.where(hinge[:, None], -1.0, 1.0) * (tree.axis @ reflection)
    to: dict[int, int] = {-1: -1}
    sign = np.ones(robot.n)
    for j in sorted(range(robot.n), key=lambda j: _depth(tree, j)):
        line = np.linalg.norm(np.cross(tree.anchor - anchor[j], axis[j]), axis=1)
        same = np.array([tree.parent[k] == to[tree.parent[j]] and robot.kinds[k] == robot.kinds[j] for k in range(robot.n)])
        parallel = np.linalg.norm(np.cross(tree.axis, axis[j]), axis=1) < TURN
        fits = same & parallel & (np.where(hinge, line, 0.0) < PLACE) & ~np.isin(np.arange(robot.n), list(to.values()))
        if not trusting:
            fits &= np.abs(tree.mass - tree.mass[j]) <= MASS * np.maximum(tree.mass, tree.mass[j])
            fits &= np.linalg.norm(tree.centre - centre[j], axis=1) < CENTRE
        if not fits.any():
            return f"no joint is the {plane} mirror image of {robot.joints[j]}"
        k = int(np.argmin(np.where(fits, np.linalg.norm(tree.anchor - anchor[j], axis=1), np.inf)))
        to[j], sign[j] = k, np.sign(tree.axis[k] @ axis[j])
    permutation = np.array([to[j] for j in range(robot.n)])
    if (permutation[permutation] != np.arange(robot.n)).any() or (permutation == np.arange(robot.n)).all():
        return f"the {plane} plane exchanges no joints"
    if not trusting and (reason := _one_sided(robot, permutation, sign)):
        return reason
    sign = sign[permutation]
    for array in (permutation, sign, normal):
        array.setflags(write=False)
    return Symmetry(plane=plane, joints=robot.joints, permutation=permutation, sign=sign, normal=normal, offset=offset)


def _depth(tree: _Tree, j: int) -> int:
    return 0 if j < 0 else 1 + _depth(tree, tree.parent[j])


def _offset(tree: _Tree, normal: Array) -> float:
    """Where the plane stands: through the base's origin, unless the joints on the base have their middle elsewhere."""
    first = np.array([p < 0 for p in tree.parent])
    along = tree.anchor[first] @ normal
    middle = float((along.min() + along.max()) / 2)
    return 0.0 if abs(middle) < PLACE else middle


def _one_sided(robot: Robot, permutation: np.ndarray, sign: Array) -> str:
    """The first joint whose range, seen from the posture, is not the image of its partner's."""
    low, high = robot.lower - robot.posture, robot.upper - robot.posture
    for j, k in enumerate(permutation):
        mine = (low[j], high[j]) if sign[j] > 0 else (-high[j], -low[j])
        if any(abs(a - b) > 2 * TURN for a, b in zip(mine, (low[k], high[k]), strict=True) if a != b):
            return f"the ranges of {robot.joints[j]} and {robot.joints[k]} are not mirror images about the posture"
    return ""
