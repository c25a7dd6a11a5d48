"""The commands plan and excite, as typed: what they write, what they refuse, and that one leads to the next."""

import re
import shlex

import numpy as np
import pytest

from surefoot.cli import main
from surefoot.record.excitation.motion import leaders
from surefoot.record.targets import Targets
from surefoot.robot import Robot, symmetries

PENDULUM = """<mujoco><worldbody><body pos="0 0 1"><joint name="swing" axis="0 1 0" range="-57.3 57.3"/>
<inertial pos="0 0 -0.3" mass="1.2" diaginertia="0.01 0.01 0.01"/></body></worldbody></mujoco>"""
GAINS = ("--stiffness", "30", "--damping", "0.6", "--seconds", "4")


@pytest.fixture
def pendulum(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pendulum.xml").write_text(PENDULUM)
    return "pendulum.xml"


@pytest.mark.parametrize("ending", ["npz", "csv"])
def test_excite_writes_targets_that_carry_motion_gains_and_kind(pendulum, tmp_path, capsys, ending):
    assert main(["excite", pendulum, "--kind", "steps", "--seed", "3", *GAINS, "--out", f"new/t.{ending}"]) == 0
    written = Targets.load(tmp_path / "new" / f"t.{ending}")
    assert (written.kind, written.seed, written.joints) == ("steps", 3, ("swing",))
    assert written.stiffness[0] == 30
    assert written.duration == pytest.approx(4 - 1 / 400)
    said = capsys.readouterr().out
    assert "next: surefoot record pendulum.xml" in said
    assert "between links: distances between links were NOT checked" in said


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--amplitude", "3"], "swing at "),
        (["--amplitude", "swing=0.3", "--stand-moment", "0.01"], "the stand"),
        (["--amplitude", "nonsense"], "--amplitude nonsense: expected a number"),
        (["--amplitude", "knee=0.1"], "knee"),
        (["--kind", "steps", "--dwell", "0"], "--dwell is 0 s"),
        (["--kind", "holds", "--dwell", "2"], "hold no level so long"),
        (["--to-hz", "300"], "half the rate"),
        (["--seed", "-1"], "--seed is -1"),
        (["--stand-force", "0"], "--stand-force is 0"),
        (["--dynamics", "nowhere"], "nowhere"),
    ],
)
def test_what_is_unsafe_or_wrong_is_refused_and_nothing_is_written(pendulum, tmp_path, capsys, options, sentence):
    assert main(["excite", pendulum, *GAINS, *options, "--out", "t.npz"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert sentence in said
    assert not (tmp_path / "t.npz").exists()


def test_a_name_that_cannot_hold_targets_is_refused_before_any_work(pendulum, capsys):
    assert main(["excite", pendulum, "--out", "t.pkl"]) == 1
    assert ".npz, .csv, .mcap" in capsys.readouterr().err


def test_a_refusal_names_the_joint_the_time_and_what_to_type(pendulum, capsys):
    assert main(["excite", pendulum, *GAINS, "--amplitude", "0.9", "--out", "t.npz"]) == 1
    said = capsys.readouterr().err
    assert "swing at " in said
    assert " s: it reaches " in said
    assert "Try --amplitude swing=" in said


def test_the_advised_amplitude_is_accepted(pendulum, tmp_path, capsys):
    main(["excite", pendulum, *GAINS, "--amplitude", "0.9", "--out", "t.npz"])
    advised = capsys.readouterr().err.split("Try --amplitude ")[1].split()[0].rstrip(".")
    assert main(["excite", pendulum, *GAINS, "--amplitude", advised, "--out", "t.npz"]) == 0
    assert (tmp_path / "t.npz").exists()


def test_plan_shows_intervals_advice_and_the_next_command_which_runs(pendulum, tmp_path, capsys):
    assert main(["plan", pendulum, *GAINS, "--kind", "multisine", "--amplitude", "0.2", "--stand-force", "500"]) == 0
    said = capsys.readouterr().out
    for words in ("what a fit would find", "how low are low gains?", "delay: ", "guessed", "the stand bears"):
        assert words in said
    following = said.split("next: surefoot ")[1].splitlines()[0]
    assert "--stand-force 500" in following
    assert main(shlex.split(following)) == 0
    assert Targets.load(tmp_path / "targets.npz").kind == "multisine"


def test_plan_optimise_says_what_was_gained_and_its_next_command_makes_that_motion(pendulum, tmp_path, capsys):
    assert main(["plan", pendulum, *GAINS, "--amplitude", "0.05", "--optimise", "--evaluations", "12"]) == 0
    said = capsys.readouterr().out
    assert "the widest relative interval shrank" in said
    assert main(shlex.split(said.split("next: surefoot ")[1].splitlines()[0])) == 0
    made = Targets.load(tmp_path / "targets.npz")
    assert np.abs(made.target - Robot.load("pendulum.xml").posture).max() > 0.05 or made.stiffness[0] != 30


def test_a_motion_of_legs_that_do_not_mirror_each_other_can_be_asked_for(tmp_path, capsys):
    out = tmp_path / "t.npz"
    words = ["--no-mirror", "--amplitude", "LF_KFE=0.05", "RF_KFE=0.03", "*_H*=0.02", "--seconds", "3"]
    assert main(["excite", "minimal", *words, "--out", str(out)]) == 0
    swing = np.abs(Targets.load(out).target - Robot.load("minimal").posture).max(axis=0)
    assert swing[2] > 1.5 * swing[5]
    assert main(["excite", "minimal", "--amplitude", "LF_KFE=0.05", "RF_KFE=0.03", "--out", str(out)]) == 1
    assert "RF_KFE" in capsys.readouterr().err


def test_the_amplitudes_that_a_refusal_advises_can_be_typed_together_on_a_robot_whose_legs_mirror(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    line = ["excite", "anymal", "--seconds", "4", "--out", "t.npz", "--amplitude"]
    assert main([*line, "2"]) == 1
    advised = re.findall(r"Try --amplitude (\w+=[\d.e-]+)", capsys.readouterr().err)
    assert len(advised) > 1
    robot = Robot.load("anymal")
    lead = leaders(robot, symmetries(robot)).of
    assert len({int(lead[robot.joints.index(word.split("=")[0])]) for word in advised}) == len(advised)
    main([*line, *advised])
    assert "as the image of" not in capsys.readouterr().err
