"""The ground against MuJoCo's own rays, and what a curriculum needs of it."""

import mujoco
import numpy as np
import pytest

from surefoot import Physics, Robot, SurefootError
from surefoot.simulate.ground import GROUND, Ground
from surefoot.simulate.terrain import MIDDLE, SCAN, SHAPES, Terrain, terrain

PAPER = terrain("paper", seed=1, levels=3, columns=1)


def test_a_height_is_where_a_ray_from_above_meets_mujocos_height_field():
    robot = Robot.load("anymal")
    ground = Ground.of(robot, robot.dynamics, Physics(), PAPER)
    data = mujoco.MjData(ground.model)
    data.qpos[2] = 1000.0
    mujoco.mj_kinematics(ground.model, data)
    rng = np.random.default_rng(0)
    cells = rng.integers(1, np.array(PAPER.heights.shape) - 1, (300, 2))
    points = cells * PAPER.cell + np.array(PAPER.corner)
    field, normal, hit = ground.model.geom(GROUND).id, np.zeros(3), np.zeros(1, dtype=np.int32)
    for point, cell in zip(points, cells, strict=True):
        above = np.array([*(point + np.array([1.3e-4, 3.1e-4])), 50.0])  # beside the corner, where a ray might slip through
        reach = mujoco.mj_ray(ground.model, data, above, np.array([0.0, 0.0, -1.0]), None, 1, -1, hit, normal)
        assert hit[0] == field
        expected = PAPER.heights[tuple(cell)]
        assert 50.0 - reach == pytest.approx(expected, abs=3e-3)
        assert PAPER.height(point) == expected


def test_between_two_points_the_nearest_counts_and_beyond_the_edge_the_edge():
    ground = Terrain(heights=np.arange(6.0, dtype=np.float32).reshape(3, 2), cell=0.5, corner=(1.0, -1.0))
    np.testing.assert_array_equal(ground.height(np.array([[1.0, -1.0], [1.2, -0.6], [1.6, -1.0], [99, 99]])), [0, 1, 2, 5])


def test_the_scan_is_14_by_21_points_at_15_cm_and_turns_with_the_heading():
    assert SCAN.shape == (294, 2)
    np.testing.assert_allclose(SCAN.max(0) - SCAN.min(0), [3.0, 1.95])
    rise = Terrain(heights=np.repeat(np.arange(400, dtype=np.float32)[:, None] * 0.01, 400, 1), cell=0.01, corner=(-2.0, -2.0))
    ahead, left = np.array([1.0, 0, 0, 0]), np.array([np.sqrt(0.5), 0, 0, np.sqrt(0.5)])
    scan = rise.scan(np.zeros((2, 3)), np.stack([ahead, left]))
    np.testing.assert_allclose(scan[0], 2.0 + SCAN[:, 0], atol=0.006)
    np.testing.assert_allclose(scan[1], 2.0 - SCAN[:, 1], atol=0.006)


def test_a_scan_of_flat_ground_is_zero():
    assert not Terrain().scan(np.zeros((3, 3)), np.tile([1.0, 0, 0, 0], (3, 1))).any()


@pytest.mark.parametrize("column", range(len(SHAPES)), ids=SHAPES)
def test_a_tile_grows_harder_from_level_to_level(column):
    side = round(PAPER.tile / PAPER.cell)
    tall = []
    for spot in PAPER.spots[:, column]:
        i, j = np.rint((spot[:2] - PAPER.tile / 2 - PAPER.corner) / PAPER.cell).astype(int)
        tile = PAPER.heights[i : i + side, j : j + side]
        tall.append(tile.max() - tile.min())
    assert (np.diff(tall) > 0).all()


@pytest.mark.parametrize("kind", ["stairs_up", "stairs_down", "slope_up", "slope_down", "boxes"])
def test_a_robot_starts_on_level_ground(kind):
    ground = terrain(kind, seed=0, levels=2, columns=1)
    for spot in ground.spots.reshape(-1, 3):
        around = spot[:2] + np.stack(np.meshgrid(*[np.linspace(-0.9, 0.9, 9) * MIDDLE] * 2), -1).reshape(-1, 2)
        np.testing.assert_allclose(ground.height(around), spot[2], atol=1e-6)


def test_up_is_up_and_down_is_down():
    for kind, sign in (("stairs_up", 1), ("slope_up", 1), ("stairs_down", -1), ("slope_down", -1)):
        ground = terrain(kind, seed=0, levels=1, columns=1)
        middle = ground.spots[0, 0]
        assert sign * (ground.height(middle[:2] + np.array([3.0, 0.5])) - middle[2]) > 0.5


def test_the_seed_decides():
    same, other = terrain("rough", seed=3, levels=2), terrain("rough", seed=4, levels=2)
    np.testing.assert_array_equal(same.heights, terrain("rough", seed=3, levels=2).heights)
    assert (same.heights != other.heights).mean() > 0.5


def test_an_unknown_terrain_is_named_with_the_valid_ones():
    with pytest.raises(SurefootError, match="unknown terrain 'lava'; valid: flat, paper, rough"):
        terrain("lava", seed=0)
