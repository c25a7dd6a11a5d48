"""The demonstration keeps its promise: hidden dynamics are found, and most intervals contain them."""

import contextlib
import functools
import io
import re

import numpy as np
import pytest

from surefoot.cli import main
from surefoot.demo import hidden_robot, keep
from surefoot.errors import SurefootError
from surefoot.identify import Fit
from surefoot.record import Recording
from surefoot.robot import Robot


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What `surefoot demo` prints, and the folder that it leaves."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "180")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = main(["demo", "--robot", "minimal", "--out", str(folder / "demo")])
    assert code == 0
    return out.getvalue(), folder / "demo"


def test_every_parameter_is_printed_with_its_truth_and_whether_its_interval_contains_it(shown):
    out, _ = shown
    assert len(re.findall(r"\b(inside|outside)\b", out)) == 4 * 12 + 1
    hit, total = map(int, re.search(r"(\d+) of (\d+) intervals contain the truth", out).groups())
    assert total == 49
    assert hit == out.count("inside")
    assert hit >= 42  # 95 % of 49 are 46.6, with a spread of 1.5


def test_it_leaves_recordings_and_a_fit_that_can_be_used(shown):
    out, folder = shown
    assert sorted(p.name for p in folder.iterdir()) == ["chirp.npz", "fit", "other-gains.npz", "steps.npz"]
    fit = Fit.load(folder / "fit")
    assert [s.name for s in fit.held_out] == ["other-gains", "steps"]
    assert fit.recordings[0].hash == Recording.load(folder / "chirp.npz").hash
    assert "next: surefoot identify minimal" in out


def test_held_out_motions_are_reproduced_far_better_than_without_a_model(shown):
    _, folder = shown
    for score in Fit.load(folder / "fit").held_out:
        assert score.total < 0.2 * np.sqrt((score.rmse_no_model**2).mean())


@functools.cache
def drive(seed):
    """One hidden drive."""
    return hidden_robot("single_drive", seed)


def test_what_is_hidden_differs_from_what_is_published_and_from_seed_to_seed():
    one, other = drive(1), drive(2)
    published = Robot.load("single_drive").dynamics
    for name in ("armature", "damping", "friction", "bias"):
        assert (getattr(one.truth, name) != getattr(published, name)).all()
        assert (getattr(one.truth, name) != getattr(other.truth, name)).all()


def test_the_same_seed_hides_the_same():
    one, two = drive(1), hidden_robot("single_drive", 1)
    assert one.truth == two.truth
    assert one.fitted.hash == two.fitted.hash


def test_the_recordings_have_other_gains_and_quantised_encoders():
    hidden = drive(1)
    assert (hidden.held_out[0].stiffness != hidden.fitted.stiffness).all()
    counts = hidden.fitted.position / (2 * np.pi / 2**15)
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-6)


def test_a_robot_without_published_dynamics_is_answered_with_those_that_have_them(tmp_path):
    (tmp_path / "bare.xml").write_text(
        '<mujoco><worldbody><body><joint name="a"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody>'
        "</mujoco>"
    )
    with pytest.raises(SurefootError, match=r"no published joint dynamics.*anymal"):
        hidden_robot(str(tmp_path / "bare.xml"), 0)


def test_the_recordings_are_kept_by_name(tmp_path):
    hidden = drive(1)
    keep(hidden, tmp_path / "a" / "b")
    assert Recording.load(tmp_path / "a" / "b" / "steps.npz").hash == hidden.held_out[1].hash
