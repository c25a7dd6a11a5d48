"""The rigid-body equations of one branch, written once: they run on floats and, traced, on symbols.

Bias forces by the recursive Newton-Euler algorithm, the mass matrix by the composite-rigid-body algorithm (Featherstone,
Rigid Body Dynamics Algorithms, 2008). Everything is expressed in the links' own frames. Arrays are of dtype object so
that a zero stays a plain 0.0, which the trace folds away.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.simulate.tree import Branch, Link

Array = np.ndarray
Zero = 0.0


def vector(values: Any) -> Array:
    """A row of numbers or symbols as an object array."""
    return np.array(values, dtype=object)


def cross(a: Array, b: Array) -> Array:
    """a × b."""
    return vector([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def skew(a: Array) -> Array:
    """The matrix of a ×."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def _constants(symbols: Any, values: Array) -> Array:
    out = np.empty(np.shape(values), dtype=object)
    for index, value in np.ndenumerate(np.asarray(values, float)):
        out[index] = symbols(value)
    return out


def frames(branch: Branch, q: Array, sine: Array, cosine: Array, number: Any) -> tuple[list[Array], list[Array], list[Array]]:
    """Rotation R(q) and offset p(q) of each link in its parent's frame, and its joint axis.

    R(q) = R₀ (I + sin θ K + (1 − cos θ) K²) with K = [axis]×. ``sine`` and ``cosine`` are those of θ = q − reference; ``number``
    turns a float of the robot into what the equations shall contain.
    """
    rotations, offsets, axes = [], [], []
    for i, link in enumerate(branch.links):
        axis, start = _constants(number, link.axis), _constants(number, link.offset)
        if link.hinge:
            k = skew(link.axis)
            parts = link.rotation @ (np.eye(3) + k @ k), link.rotation @ k, -link.rotation @ k @ k
            fixed, sin_part, cos_part = (_constants(number, part) for part in parts)
            rotations.append(fixed + sin_part * sine[i] + cos_part * cosine[i])
            offsets.append(start)
        else:
            rotations.append(_constants(number, link.rotation))
            offsets.append(start + _constants(number, link.rotation @ link.axis) * (q[i] - number(link.reference)))
        axes.append(axis)
    return rotations, offsets, axes


def equations(
    branch: Branch, q: Array, v: Array, sine: Array, cosine: Array, gravity: Array, number: Any, acceleration: Array | None = None
) -> tuple[Array, dict[tuple[int, int], Any]]:
    """Bias forces c(q, v) with M a + c = τ, and the mass matrix's entries M[i, j], j among the ancestors of i (no armature).

    ``acceleration`` [rad/s²] of joints whose motion is prescribed enters c; it is zero for all others.
    """
    rotations, offsets, axes = frames(branch, q, sine, cosine, number)
    bodies = [(number(k.mass), _constants(number, k.moment), _constants(number, k.inertia)) for k in branch.links]
    given = vector([Zero] * len(branch.links)) if acceleration is None else acceleration
    forces, moments = _outward(branch, v, given, rotations, offsets, axes, bodies, gravity)
    return _inward(branch, rotations, offsets, axes, forces, moments), _mass_matrix(branch, rotations, offsets, axes, bodies)


def _outward(
    branch: Branch, v: Array, given: Array, rotations: list, offsets: list, axes: list, bodies: list, gravity: Array
) -> tuple[list[Array], list[Array]]:
    """Velocities and accelerations from the base to the tips, and the force and moment that each body's motion needs."""
    still = vector([Zero] * 3)
    w, dw, a = [], [], []  # angular velocity, angular acceleration, acceleration of the origin (minus gravity)
    forces, moments = [], []
    for i, link in enumerate(branch.links):
        p = link.parent
        w_p, dw_p, a_p = (w[p], dw[p], a[p]) if p >= 0 else (still, still, -gravity)
        r, offset, axis = rotations[i].T, offsets[i], axes[i]
        rate, push = axis * v[i], axis * given[i]
        w_i, dw_i = r @ w_p, r @ dw_p
        a_i = r @ (a_p + cross(dw_p, offset) + cross(w_p, cross(w_p, offset)))
        if link.hinge:
            dw_i = dw_i + cross(w_i, rate) + push
            w_i = w_i + rate
        else:
            a_i = a_i + 2.0 * cross(w_i, rate) + push
        mass, moment, inertia = bodies[i]
        for values, value in ((w, w_i), (dw, dw_i), (a, a_i)):
            values.append(value)
        forces.append(a_i * mass + cross(dw_i, moment) + cross(w_i, cross(w_i, moment)))
        moments.append(inertia @ dw_i + cross(w_i, inertia @ w_i) + cross(moment, a_i))
    return forces, moments


def _inward(branch: Branch, rotations: list, offsets: list, axes: list, forces: list, moments: list) -> Array:
    """Collect forces from the tips to the base; each joint's bias force is their part along its axis."""
    bias: list[Any] = [Zero] * len(branch.links)
    for i in reversed(range(len(branch.links))):
        link = branch.links[i]
        bias[i] = axes[i] @ (moments[i] if link.hinge else forces[i])
        if link.parent >= 0:
            force = rotations[i] @ forces[i]
            forces[link.parent] = forces[link.parent] + force
            moments[link.parent] = moments[link.parent] + rotations[i] @ moments[i] + cross(offsets[i], force)
    return vector(bias)


def _mass_matrix(branch: Branch, rotations: list, offsets: list, axes: list, bodies: list) -> dict[tuple[int, int], Any]:
    composite = list(bodies)
    entries: dict[tuple[int, int], Any] = {}
    for i in reversed(range(len(branch.links))):
        link: Link = branch.links[i]
        mass, moment, inertia = composite[i]
        if link.hinge:  # force and moment about the origin for a unit acceleration of joint i
            force, torque = cross(axes[i], moment), inertia @ axes[i]
        else:
            force, torque = axes[i] * mass, cross(moment, axes[i])
        entries[i, i] = axes[i] @ (torque if link.hinge else force)
        j = i
        while branch.links[j].parent >= 0:
            force = rotations[j] @ force
            torque = rotations[j] @ torque + cross(offsets[j], force)
            j = branch.links[j].parent
            entries[i, j] = axes[j] @ (torque if branch.links[j].hinge else force)
        if link.parent >= 0:
            composite[link.parent] = _sum(composite[link.parent], _moved(composite[i], rotations[i], offsets[i]))
    return entries


def _sum(a: tuple, b: tuple) -> tuple:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def _moved(body: tuple, rotation: Array, offset: Array) -> tuple:
    """Mass, moment and inertia seen from the parent's origin: I' = R I Rᵀ + (2 h·p + m p·p) 1 − (h pᵀ + p hᵀ + m p pᵀ)."""
    mass, moment, inertia = body
    h, p = rotation @ moment, offset
    turned = vector([rotation @ row for row in inertia])  # R Iᵀ rows; I is symmetric
    both = h @ p
    spread = both + both + mass * (p @ p)
    moved = np.empty((3, 3), dtype=object)
    for x in range(3):
        for y in range(x, 3):
            entry = turned[:, x] @ rotation[y] - (p[y] * h[x] + h[y] * p[x] + mass * (p[x] * p[y]))
            moved[x, y] = moved[y, x] = entry + spread if x == y else entry
    return mass, h + p * mass, moved
