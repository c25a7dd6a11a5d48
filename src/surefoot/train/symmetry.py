"""Mirror images of observations and actions, derived from the robot's own mirror planes (surefoot.robot.symmetry).

With planes A and B a sample has the images A, B and AB; one experience then teaches four. A mirror image of a vector is a
permutation of its entries times a sign each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from surefoot.errors import SurefootError
from surefoot.robot.symmetry import Symmetry

Array = np.ndarray


@dataclass(frozen=True, kw_only=True, eq=False)
class Image:
    """One way of mirroring a flat vector: entry i of the image is entry `source[i]` of the vector times `sign[i]`."""

    source: Array  # int, shape (d,)
    sign: Array  # ±1, shape (d,)

    def __call__(self, values: Array) -> Array:
        """The image, shape (..., d)."""
        return values[..., self.source] * self.sign

    def then(self, other: Image) -> Image:
        """The image of the image."""
        return Image(source=self.source[other.source], sign=self.sign[other.source] * other.sign)


def beside(parts: Sequence[Image]) -> Image:
    """The image of vectors written one after another."""
    starts = np.cumsum([0, *(len(part.source) for part in parts[:-1])])
    source = np.concatenate([part.source + start for part, start in zip(parts, starts, strict=True)])
    return Image(source=source, sign=np.concatenate([part.sign for part in parts]))


def _signs(values: Array) -> Image:
    return Image(source=np.arange(len(values)), sign=np.array(values, dtype=float))


@dataclass(frozen=True, kw_only=True, eq=False)
class Mirror:
    """The image of everything that the learner handles, for one plane or several at once."""

    action: Image
    policy: Image  # of the policy's observation
    critic: Image  # of the critic's state

    def then(self, other: Mirror) -> Mirror:
        """Both, one after the other."""
        names = ("action", "policy", "critic")
        return Mirror(**{name: getattr(self, name).then(getattr(other, name)) for name in names})


def mirror(plane: Symmetry, feet: Array, scan: Array) -> Mirror:
    """The image in one plane of a robot whose feet stand at `feet` (base axes, in the posture, shape (F, 3)).

    `scan` holds the points of the height scan in the base's heading frame, shape (cells, 2).
    """
    joints = Image(source=plane.permutation, sign=plane.sign)
    polar, axial = _signs(plane.polar), _signs(plane.axial)
    command = _signs(np.array([plane.polar[0], plane.polar[1], plane.axial[2]]))
    policy = beside([polar, axial, polar, command, joints, joints, joints])
    toes = _partners(feet, feet * plane.polar + 2 * plane.offset * plane.normal, "feet", 0.03)
    cells = _partners(scan, scan * plane.polar[:2], "points of the height scan", 1e-6)
    return Mirror(action=joints, policy=policy, critic=beside([policy, polar, axial, _signs(np.ones(1)), toes, cells]))


def _partners(points: Array, images: Array, what: str, tolerance: float) -> Image:
    """For each point the one whose mirror image it is."""
    distance = np.linalg.norm(points[:, None] - images[None], axis=-1)
    source = distance.argmin(1)
    if distance.min(1).max() > tolerance or len(set(source)) != len(points):
        raise SurefootError(
            f"the {what} have no mirror images of each other within {1e3 * tolerance:g} mm, though the joints have; leave the "
            "plane out of symmetry in robot.toml."
        )
    return Image(source=source, sign=np.ones(len(points)))


def group(mirrors: Sequence[Mirror]) -> list[Mirror]:
    """Every product of the planes but the identity: 1 for one plane, 3 for two."""
    products = []
    for size in range(1, len(mirrors) + 1):
        for some in combinations(mirrors, size):
            product = some[0]
            for one in some[1:]:
                product = product.then(one)
            products.append(product)
    return products
