"""Films of robots: drawn where there is something to draw with, and only the robots move in them."""

import mujoco
import numpy as np
import pytest
from walkers import placed

from surefoot import Robot, SurefootError
from surefoot.simulate.terrain import terrain
from surefoot.simulate.video import Film

ANYMAL = Robot.load("anymal")
SIZE = (160, 90)


@pytest.fixture
def film():
    """Of one anymal; skipped where no picture can be drawn without a screen."""
    world = placed(ANYMAL)
    try:
        film = Film(world, size=SIZE)
    except SurefootError as reason:
        pytest.skip(str(reason))
    yield film
    film.close()


def red(frame):
    """Pixels of the robot: it is red, the ground is grey and the sky is blue."""
    return (frame[..., 0] > 1.5 * frame[..., 1].astype(float)) & (frame[..., 0] > 60)


def test_a_frame_shows_the_robot_on_the_ground_below_the_sky(film):
    frame = film.frame()
    assert frame.shape == (90, 160, 3)
    assert 0.005 < red(frame).mean() < 0.3
    top, bottom = frame[:10].mean((0, 1)), frame[-10:].mean((0, 1))
    assert top.sum() > bottom.sum() + 100
    rows = np.flatnonzero(red(frame).any(1))
    assert 10 < rows.mean() < 80


def test_two_films_do_not_disturb_each_other(film):
    before = film.frame()
    other = Film(placed(ANYMAL, robots=3), size=SIZE)
    three = other.frame()
    del other
    np.testing.assert_array_equal(film.frame(), before)
    assert red(three).sum() > 1.5 * red(before).sum()


def test_a_film_runs_in_real_time_and_can_be_played(film, tmp_path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    for _ in range(20):
        film.world.step(ANYMAL.posture[None])
        film.take()
    assert film.rate == 25.0
    assert len(film.frames) == 10
    path = film.write(tmp_path / "new" / "walk.mp4")
    about = next(reader := imageio_ffmpeg.read_frames(str(path)))
    reader.close()
    assert about["size"] == SIZE
    assert about["duration"] == pytest.approx(0.4, abs=0.05)


def test_an_empty_film_and_a_size_that_cannot_be_coded_are_refused(film, tmp_path):
    with pytest.raises(SurefootError, match="the film has no frame yet"):
        film.write(tmp_path / "walk.mp4")
    with pytest.raises(SurefootError, match="a film of 161 x 90 pixels cannot be coded"):
        Film(film.world, size=(161, 90))


def test_where_nothing_can_draw_the_reason_is_said(monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "glfw")
    monkeypatch.delenv("DISPLAY", raising=False)
    with pytest.raises(SurefootError, match=r"nothing here can draw a video .*glfw: no display"):
        Film(placed(ANYMAL), size=SIZE)


def test_on_a_terrain_the_ground_around_the_star_is_drawn_as_it_is():
    """The piece of the height field that is drawn has the terrain's heights at the terrain's places, for each star in turn."""
    world = placed(ANYMAL, robots=2, terrain=terrain("stairs_up", seed=0))
    spots = world.terrain.spots
    places = spots[[0, -1], [0, -1]]
    world.stepper.state()[0][:, :2] = places[:, :2]
    try:
        film = Film(world, size=SIZE, rate=50.0, stars=(0, 1), scene=0.04)
    except SurefootError as reason:
        pytest.skip(str(reason))
    rng = np.random.default_rng(0)
    for place in places:
        for _ in range(2):  # two frames are a scene
            film.take()
        model = film._model
        (ground,) = np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_HFIELD)
        rows, columns = model.hfield_nrow[0], model.hfield_ncol[0]
        assert rows * columns < world.terrain.heights.size / 3
        drawn = model.geom_pos[ground, 2] + model.hfield_size[0, 2] * model.hfield_data[: rows * columns].reshape(rows, columns)
        corner = model.geom_pos[ground, :2] - model.hfield_size[0, :2]
        cell = 2 * model.hfield_size[0, 0] / (columns - 1)
        for i, j in zip(rng.integers(0, columns, 50), rng.integers(0, rows, 50), strict=True):
            point = corner + cell * np.array([i, j])
            assert drawn[j, i] == pytest.approx(float(world.terrain.height(point)), abs=1e-4)
        assert np.abs(model.geom_pos[ground, :2] - place[:2]).max() < 13.0
    film.close()
