"""The curriculum: who walks off goes up, who stands still goes down, who is lost stays."""

import numpy as np
import pytest

from surefoot.simulate.terrain import Terrain, terrain
from surefoot.train.course import Course

HILLS = terrain("paper", seed=0, levels=4, columns=1, tile=4.0, cell=0.1)
LEVEL = np.array([1.0, 0, 0, 0])


def walk(course, speeds, seconds=10.0, commanded=0.5):
    """Robots that walk straight along x at their own speeds, all asked for the same."""
    position = course.origin(np.arange(len(speeds)))
    command = np.tile([commanded, 0.0, 0.0], (len(speeds), 1))
    velocity = np.outer(speeds, [1.0, 0.0, 0.0])
    for _ in range(round(seconds / 0.1)):
        position = position + 0.1 * velocity
        course.walked(position, velocity, command, 0.1)


def test_levels_follow_what_was_walked():
    """At 0.5 m/s commanded for 10 s: 5 m leaves the 4 m tile and goes up; 2.6 m leaves it too; none goes down; lost stays."""
    course = Course(HILLS, 4, seed=0)
    course.level[:] = 1
    walk(course, np.array([0.5, 0.19, 0.0, 0.0]))
    course.assess(np.arange(4), np.array([False, False, False, True]))
    assert course.level.tolist() == [2, 0, 0, 1]
    assert course.highest[course.column[0]] == 2
    assert (course.way == 0).all()


def test_half_of_the_way_is_enough_to_stay():
    course = Course(HILLS, 2, seed=0)
    course.level[:] = 1
    walk(course, np.array([0.3, 0.2]), seconds=6.0)  # 1.8 m and 1.2 m of the 3 m commanded
    course.assess(np.arange(2), np.zeros(2, dtype=bool))
    assert course.level.tolist() == [1, 0]


def test_walking_backwards_is_no_way():
    course = Course(HILLS, 1, seed=0)
    course.level[:] = 2
    walk(course, np.array([-0.1]))
    course.assess(np.arange(1), np.zeros(1, dtype=bool))
    assert course.level.tolist() == [1]


def test_standing_when_told_to_stand_costs_nothing():
    course = Course(HILLS, 1, seed=0)
    course.level[:] = 2
    walk(course, np.array([0.0]), commanded=0.0)
    course.assess(np.arange(1), np.zeros(1, dtype=bool))
    assert course.level.tolist() == [2]


def test_who_passes_the_last_level_starts_again_anywhere():
    course = Course(HILLS, 64, seed=0)
    course.level[:] = 3
    walk(course, np.full(64, 0.5))
    course.assess(np.arange(64), np.zeros(64, dtype=bool))
    assert set(course.level) == {0, 1, 2, 3}
    assert set(course.passed().values()) == {4}


def test_an_evaluation_is_spread_evenly_and_stays_so():
    course = Course(HILLS, 24, seed=0, spread=True)
    pairs = set(zip(course.level.tolist(), course.column.tolist(), strict=True))
    assert len(pairs) == 24  # 4 levels x 6 kinds
    walk(course, np.full(24, 0.5))
    before = course.level.copy()
    course.assess(np.arange(24), np.zeros(24, dtype=bool))
    np.testing.assert_array_equal(course.level, before)


def test_a_start_stands_on_the_ground():
    """No start is below the height field, at whatever level."""
    course = Course(HILLS, 24, seed=0, spread=True)
    origin = course.origin(np.arange(24))
    assert origin[:, 2] == pytest.approx(course.height(origin), abs=0.1)
    scan = course.scan(origin + np.array([0, 0, 0.5]), np.tile(LEVEL, (24, 1)))
    assert scan.shape == (24, 294)
    assert np.median(scan) == pytest.approx(0.5, abs=0.3)


def test_flat_ground_has_no_curriculum():
    course = Course(Terrain(), 3, seed=0)
    walk(course, np.full(3, 0.5))
    course.assess(np.arange(3), np.zeros(3, dtype=bool))
    assert course.level.tolist() == [0, 0, 0]
    assert course.passed() == {"flat": 0}
