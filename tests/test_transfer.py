"""surefoot transfer on robots that stand, and the fitted simulation as a machine."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from surefoot import Robot, SurefootError, cli
from surefoot.analyze.run import fall
from surefoot.commands import transferring
from surefoot.commands.transferring import replay_commands, summarise
from surefoot.record.run import Run
from surefoot.robot.hardware import Command
from surefoot.simulate.physics import Physics
from surefoot.simulate.virtual.fitted import FittedHardware

sys.path.insert(0, str(Path(__file__).parent / "deploy"))
from policies import linear, specification

ROBOT = Robot.load("anymal")


@pytest.fixture
def short(monkeypatch, tmp_path):
    """Tests of three seconds, in an empty folder with two policies: one that stands, one that throws its legs about."""
    monkeypatch.setattr(transferring, "TESTS", {"forward": ((1.0, 0.0, 0.0), 3.0, 4.0), "yaw": ((0.0, 0.0, 2.0), 2.5, np.inf)})
    monkeypatch.chdir(tmp_path)
    for name in ("stands", "falls"):
        (tmp_path / name).mkdir()
    stiff = np.zeros((12, 48))
    stiff[:, 12:24] = -4 * np.eye(12)  # three times the stiffness: with its own, ANYmal topples to the side within four seconds
    linear(tmp_path / "stands" / "policy.onnx", stiff, specification().to_metadata())
    kick = np.tile([3.0, 0.0, 0.0], 4)  # all legs to one side
    linear(tmp_path / "falls" / "policy.onnx", np.zeros((12, 48)), specification().to_metadata(), bias=kick)
    return tmp_path


# --- the command ------------------------------------------------------------------------------------------------------------
def test_a_robot_that_stands_misses_its_speed_and_one_that_throws_itself_down_falls(short, capsys):
    """Standing: no fall, error 100 %; the other: a fall on both machines, no steady state. Figures, tables and runs are kept."""
    command = ["transfer", "anymal", "--policies", "stands=stands", "falls=falls", "--machines", "2", "--tests", "forward"]
    assert cli.main([*command, "--out", "out", "--jobs", "1"]) == 0
    content = json.loads((short / "out" / "transfer.json").read_text())
    by = {(row["policy"], row["test"]): row for row in content["summary"]}
    assert (by["stands", "forward"]["falls"], by["falls", "forward"]["falls"]) == (0, 2)
    assert by["stands", "forward"]["error"] == pytest.approx(1.0, abs=0.05)
    assert by["falls", "all"]["error"] is None
    assert by["stands", "forward"]["power"] > ROBOT.battery["rest"]
    assert {row["machine"] for row in content["trials"]} == {100, 101}
    assert {path.name for path in (short / "out").glob("*.npz")} == {"stands-forward-100.npz", "falls-forward-100.npz"}
    assert fall(Run.load(short / "out" / "falls-forward-100.npz")) < 2.0
    assert "0/2" in capsys.readouterr().out


def test_a_replay_is_walked_on_the_machine_and_in_the_simulation_and_a_cut_command_is_told(short, capsys):
    command = ["transfer", "anymal", "--policies", "stands=stands", "--machines", "1", "--tests", "yaw", "--replay", "2"]
    assert cli.main([*command, "--out", "out", "--jobs", "1"]) == 0
    printed = capsys.readouterr()
    assert "stands was trained up to 1 and not to the 2 of the test yaw; it was told 1." in printed.err
    (replay,) = json.loads((short / "out" / "transfer.json").read_text())["replay"]
    assert max(replay["difference"]) < 0.05  # both stand
    assert replay["tracking"][0][0] == pytest.approx(replay["tracking"][1][0], abs=0.05)
    assert "machine - simulation" in printed.out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "there is no policy to walk: --policies NAME=FOLDER"),
        (("--policies", "stands"), "--policies stands: expected NAME=FOLDER"),
        (("--policies", "a=stands", "a=falls"), "names a twice"),
        (("--policies", "a=nowhere"), "there is no policy at nowhere"),
        (("--policies", "a=stands", "--machines", "0"), "--machines is 0"),
        (("--policies", "a=stands", "--first", "-1"), "expected a whole number >= 0"),
    ],
)
def test_what_cannot_be_walked_is_said_in_a_sentence(short, capsys, options, sentence):
    arguments = ["transfer", "anymal", *(options or ("--policies",)), "--out", "out"]
    assert cli.main(arguments) == 1
    assert sentence in capsys.readouterr().err


def test_another_robot_s_policy_is_refused(short, capsys):
    assert cli.main(["transfer", "tytan", "--policies", "a=stands", "--out", "out"]) == 1
    assert "policy was trained with stiffness 85 of joint LF_HAA and tytan has 60" in capsys.readouterr().err


def test_a_summary_counts_falls_and_averages_those_that_stood():
    """Two of three stand at 0.8 and 1.0 of 1 m/s: mean 0.9, error 10 %; the fall counts as a fall and not as a speed."""
    rows = [
        {"policy": "p", "test": "forward", "fell": None, "stop": "", "steady": v, "command": 1.0, "error": 1 - v, "rise": 0.5}
        for v in (0.8, 1.0)
    ]
    rows.append({"policy": "p", "test": "forward", "fell": 1.2, "stop": "the base leans", "steady": None})
    forward, whole = summarise(rows)
    assert (forward["falls"], forward["trials"], forward["stopped"]) == (1, 3, 0)
    assert forward["steady"] == pytest.approx(0.9)
    assert forward["error"] == pytest.approx(0.1)
    assert whole["test"] == "all"


def test_replay_commands_stay_within_half_of_what_was_trained_and_come_back():
    """Each way is followed by its opposite; the same seed gives the same commands."""
    time, commands = replay_commands(90.0, np.array([-1, -1, -1.0]), np.array([1, 1, 1.0]), seed=0)
    assert 30 <= len(time) <= 60
    assert time[-1] <= 90
    assert 1 <= np.diff(time).min() <= np.diff(time).max() <= 4
    assert np.abs(commands).max() <= 0.5
    np.testing.assert_allclose(commands[2::3], -commands[1::3][: len(commands[2::3])])
    np.testing.assert_array_equal(commands, replay_commands(90.0, np.full(3, -1.0), np.ones(3), seed=0)[1])


# --- the fitted simulation as a machine ---------------------------------------------------------------------------------------
def test_the_fitted_simulation_stands_feels_gravity_and_reads_the_biased_encoders():
    machine = FittedHardware(ROBOT, ROBOT.dynamics, Physics(timestep=0.005))
    machine.set_gains(ROBOT.stiffness, ROBOT.damping)
    for _ in range(200):
        state = machine.read()
        machine.write(Command(target=ROBOT.posture))
    assert state.time == pytest.approx(1.0)
    assert np.linalg.norm(state.more["imu_acceleration"]) == pytest.approx(9.81, abs=0.2)
    truth = machine.truth()
    np.testing.assert_allclose(truth["joint_position"] - state.position, ROBOT.dynamics.bias, atol=1e-12)
    assert truth["contact"].sum() == 4
    assert truth["base_position"][2] == pytest.approx(0.5, abs=0.1)


def test_a_damped_simulation_sinks_and_other_gains_are_refused():
    machine = FittedHardware(ROBOT, ROBOT.dynamics, Physics(timestep=0.005))
    with pytest.raises(SurefootError, match=r"stiffness 85 of joint LF_HAA, not 60; use the robot\.toml"):
        machine.set_gains(np.full(12, 60.0), ROBOT.damping)
    before = machine.truth()["base_position"][2]
    for _ in range(200):
        state = machine.read()
    assert machine.truth()["base_position"][2] < 0.8 * before
    assert np.abs(state.velocity).max() < 8.0
