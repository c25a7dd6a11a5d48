"""Rotations against SciPy's."""

import numpy as np
from scipy.spatial.transform import Rotation

from surefoot.simulate.frames import heading, to_base, to_world

RNG = np.random.default_rng(0)
QUATERNIONS = RNG.normal(size=(50, 4))
QUATERNIONS /= np.linalg.norm(QUATERNIONS, axis=1, keepdims=True)
VECTORS = RNG.normal(size=(50, 3))


def test_a_quaternion_turns_a_vector_as_scipys_rotation_does():
    turned = Rotation.from_quat(QUATERNIONS, scalar_first=True).apply(VECTORS)
    np.testing.assert_allclose(to_world(QUATERNIONS, VECTORS), turned, atol=1e-14)


def test_back_again_is_where_it_began():
    np.testing.assert_allclose(to_base(QUATERNIONS, to_world(QUATERNIONS, VECTORS)), VECTORS, atol=1e-14)


def test_the_heading_is_the_way_the_x_axis_points_on_the_ground():
    x = to_world(QUATERNIONS, np.array([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(heading(QUATERNIONS), np.arctan2(x[:, 1], x[:, 0]), atol=1e-12)
