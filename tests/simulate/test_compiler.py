"""Compiled kernels are kept on disk; whatever happens to that disk, the answer is the same."""

import numpy as np
import pytest
from rigs import candidates, chirp, shaft, simulated

from surefoot.simulate.compiler import cache_folder, compiled
from surefoot.simulate.inair import InAir
from surefoot.simulate.physics import Physics


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path / "kernels"))
    compiled.cache_clear()
    yield tmp_path / "kernels"
    compiled.cache_clear()


def ask():
    """Scores by a fresh engine, and its kernel."""
    robot = shaft()
    engine, dynamics = InAir(robot, chirp(robot, amplitude=0.1, position=np.zeros((480, 1))), Physics()), candidates(robot, 3)
    (part,) = engine.parts
    return engine.scores(dynamics), engine.kernel(part, engine.features(part, dynamics, output="score"))[0]


def test_the_second_run_reads_what_the_first_compiled(folder):
    first, fresh = ask()
    assert not fresh.cached
    assert len(list(folder.glob("*.o"))) == 1
    compiled.cache_clear()  # as in a new process
    second, known = ask()
    assert known.cached
    np.testing.assert_array_equal(first, second)


def test_another_kernel_is_another_file(folder):
    ask()
    robot = shaft(torque_limit=[1.0])
    simulated(robot, chirp(robot), candidates(robot))
    assert len(list(folder.glob("*.o"))) == 2


@pytest.mark.parametrize(
    "damage", [lambda code: b"", lambda code: b"nonsense" * 100, lambda code: code[: len(code) // 2], lambda code: code[:64]]
)
def test_a_damaged_file_is_compiled_again(folder, damage):
    first, _ = ask()
    (file,) = folder.glob("*.o")
    file.write_bytes(damage(file.read_bytes()))
    compiled.cache_clear()
    second, kernel = ask()
    np.testing.assert_array_equal(first, second)
    assert not kernel.cached
    compiled.cache_clear()
    assert ask()[1].cached  # and the file is whole again


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("a file where the folder should be")
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path / "file" / "kernels"))
    compiled.cache_clear()
    assert np.isfinite(ask()[0]).all()
    compiled.cache_clear()


def test_no_half_written_file_is_left_behind(folder):
    ask()
    assert all(file.suffix == ".o" for file in folder.iterdir())


def test_the_cache_stands_where_the_user_says(monkeypatch, tmp_path):
    monkeypatch.delenv("SUREFOOT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "surefoot"
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
