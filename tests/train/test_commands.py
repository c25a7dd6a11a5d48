"""train and play on the command line: what is refused, what is told, what is written."""

import subprocess
from types import SimpleNamespace

import pytest

from surefoot import cli
from surefoot.export.values import fit_hash
from surefoot.identify import Fit
from surefoot.identify.answer import model_hash
from surefoot.robot import Robot
from surefoot.simulate import Physics
from surefoot.train.run import commit


@pytest.fixture
def fit(monkeypatch):
    """A fit of anymal at 2.5 ms, as far as training looks at it."""
    robot = Robot.load("anymal")
    kept = SimpleNamespace(
        dynamics=robot.dynamics,
        joints=robot.joints,
        physics=Physics(timestep=0.0025),
        to_dict=lambda: {"robot": "anymal"},
        model_hash=model_hash(robot),
        robot="anymal",
    )
    monkeypatch.setattr(Fit, "load", classmethod(lambda cls, folder: kept))
    return kept


def refused(capsys, *words):
    assert cli.main([*words]) == 1
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("anymal",), "needs joint dynamics: the folder of a fit"),
        (("anymal", "fit", "--dynamics", "robot"), "--dynamics robot leaves the fit fit unused"),
        (("anymal", "--dynamics", "robot", "--seed", "-1"), "--seed is -1"),
        (("anymal", "--dynamics", "robot", "--minutes", "0"), "--minutes is 0"),
        (("anymal", "fit"), "Pass --timestep 0.0025, or identify again with --timestep 0.005"),
        (("tytan", "fit"), "made with another model of anymal than this tytan"),
        (("single_drive", "fit"), "the fit in fit has no dynamics for drive"),
        (("anymal", "--dynamics", "robot", "--resume"), "no checkpoint"),
    ],
)
def test_what_cannot_be_trained_is_said_in_a_sentence(words, said, fit, capsys):
    assert said in refused(capsys, "train", *words, "--out", "run")


def test_train_then_play(tiny, capsys, tmp_path):
    """From nothing to a policy and its marks, by the two commands as they are typed; then on with --resume."""
    assert cli.main(["train", "anymal", "--dynamics", "robot", "--iterations", "2", "--out", "run", "--no-video"]) == 0
    shown = capsys.readouterr().out
    assert "training anymal for 2 iterations: laptop preset, 4 robots, flat ground, physics step 5 ms, seed 0" in shown
    assert "all iterations are done after" in shown
    assert "velocity error" in shown
    assert "next: surefoot play run" in shown
    assert cli.main(["play", "run", "--no-video", "--robots", "4", "--seconds", "2.6"]) == 0
    assert "yaw error" in capsys.readouterr().out
    again = ["train", "anymal", "--dynamics", "robot", "--iterations", "3", "--out", "run", "--resume", "--no-video"]
    assert cli.main(again) == 0
    assert "3 iterations" in capsys.readouterr().out
    assert "differs in terrain" in refused(capsys, *again, "--terrain", "boxes")


def test_the_fit_decides_step_and_conventions(tiny, fit, tmp_path, monkeypatch):
    seen = []

    def stop(robot, dynamics, plan, out, **_):
        seen.append(plan)
        raise KeyboardInterrupt

    monkeypatch.setattr("surefoot.train.train.train", stop)
    fit.physics = Physics(timestep=0.0025, delay_on="torque")
    assert cli.main(["train", "anymal", "fit", "--timestep", "0.0025", "--out", "run"]) == 130
    assert (seen[0].physics.timestep, seen[0].physics.delay_on) == (0.0025, "torque")
    assert seen[0].origin == {"fit": "fit", "fit_hash": fit_hash(fit), "model_hash": fit.model_hash}


def test_what_cannot_be_played_is_said_in_a_sentence(capsys, tmp_path):
    assert "there is no training in run" in refused(capsys, "play", "run")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "training.json").write_text("{}")
    assert "was not written by surefoot train" in refused(capsys, "play", "run")


def test_the_commit_of_a_checkout_is_named_and_nothing_elsewhere(tmp_path):
    ask = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    inner = tmp_path / "src"
    inner.mkdir()
    assert commit(inner) == ""
    (inner / "a.py").write_text("1\n")
    subprocess.run([*ask, "init", "-q"], check=True)
    assert commit(inner) == ""  # a folder that is not in the repository is not made by its commit
    subprocess.run([*ask, "add", "."], check=True)
    subprocess.run([*ask, "commit", "-q", "-m", "a"], check=True)
    clean = commit(inner)
    assert len(clean) == 12
    (inner / "a.py").write_text("2\n")
    assert commit(inner) == clean + "+"
