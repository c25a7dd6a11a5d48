"""Rotations by unit quaternions (w, x, y, z), which turn base axes into the world's. Everything broadcasts over leading axes."""

import numpy as np

Array = np.ndarray


def to_world(quaternion: Array, vector: Array) -> Array:
    """v + 2 w (u × v) + 2 u × (u × v), with q = (w, u)."""
    w, u = quaternion[..., :1], quaternion[..., 1:]
    cross = 2.0 * np.cross(u, vector)
    return vector + w * cross + np.cross(u, cross)


def to_base(quaternion: Array, vector: Array) -> Array:
    """The inverse of `to_world`."""
    return to_world(quaternion * np.array([1.0, -1.0, -1.0, -1.0]), vector)


def heading(quaternion: Array) -> Array:
    """Angle of the base's x axis in the ground plane [rad], shape (...)."""
    w, x, y, z = np.moveaxis(np.asarray(quaternion), -1, 0)
    return np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
