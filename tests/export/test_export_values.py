"""What an export carries, what it refuses, and what it says that it leaves out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fitted import RIG, fit_of, rig, saved

from surefoot import cli
from surefoot.errors import SurefootError
from surefoot.export import export, fit_hash, prove, values_of
from surefoot.identify import Fit
from surefoot.robot.spec import Robot
from surefoot.simulate.physics import Physics


def test_a_fits_hash_survives_its_file_and_changes_with_any_number(tmp_path: Path):
    """The hash in an export finds the fit that it came from."""
    _, fit, _ = rig()
    again = Fit.load(fit.save(tmp_path / "fit"))
    assert fit_hash(again) == fit_hash(fit)
    import dataclasses

    other = dataclasses.replace(fit, dynamics=fit.dynamics.replace(bias=fit.dynamics.bias + 1e-9))
    assert fit_hash(other) != fit_hash(fit)


def test_gains_are_the_recordings_or_else_the_robots():
    """The gains that were in force, not those of a file that nobody used."""
    robot, fit, rec = rig()
    other = robot.with_gains(1.0, 2.0)
    assert values_of(fit, other, rec).stiffness.tolist() == rec.stiffness.tolist()
    assert values_of(fit, other).velocity_gain.tolist() == [2.0, 2.0]


def test_unknown_gains_are_asked_for():
    """Without gains there is no drive to write."""
    robot, fit, _ = rig()
    with pytest.raises(SurefootError, match=r"stiffness of rail, knee is not known.*--recording"):
        values_of(fit, robot.with_gains(np.nan, np.nan))


@pytest.mark.parametrize("to", ["mjcf", "isaaclab", "mjlab", "legged_gym", "genesis", "usd"])
def test_a_delay_on_the_torque_is_not_written_as_one_on_the_command(tmp_path: Path, to: str):
    """The same number would be another delay."""
    robot, _, _ = rig()
    fit, rec = fit_of(robot, seconds=0.2, physics=Physics(delay_on="torque"))
    with pytest.raises(SurefootError, match=f"delays the torque, {to} delays the command"):
        export(fit, robot, to=to, out=tmp_path / "o", recording=rec)
    export(fit, robot, to="json", out=tmp_path / "o.json", recording=rec)


def test_prescribed_joints_are_not_exported():
    """They followed their measured motion: nothing was identified."""
    import dataclasses

    robot, fit, rec = rig()
    some = dataclasses.replace(fit, prescribed=("rail",))
    assert values_of(some, robot, rec).joints == ("knee",)


def test_what_does_not_fit_into_a_position_drive_is_said():
    """A gear table becomes the limits at the default posture, a load torque is left out: both with a sentence."""
    tytan = Robot.load("tytan")
    fit, rec = fit_of(tytan, seconds=0.1)
    values = values_of(fit, tytan, rec)
    assert any("gear table" in s for s in values.lost)
    j = int(np.flatnonzero(tytan.geared)[0])
    ratio = np.interp(tytan.posture[j], tytan.gear_position[j], tytan.gear_ratio[j])
    assert values.torque_limit[j] == pytest.approx(ratio * tytan.torque_limit[j])
    robot, _, _ = rig()
    loaded, rec = fit_of(robot, seconds=0.1, load=np.array([3.0, 0.5]))
    assert any("load (constant load torque) is not exported" in s for s in values_of(loaded, robot, rec).lost)


def test_a_shifted_set_point_leaves_the_encoder_alone(tmp_path: Path):
    """With bias_form setpoint the drive has the bias and the reading has not: the motion is the fit's all the same."""
    robot, _, _ = rig()
    fit, rec = fit_of(robot, physics=Physics(bias_form="setpoint"))
    made = export(fit, robot, to="mjcf", out=tmp_path / "o.xml", model=saved(RIG, tmp_path, "r.xml"), recording=rec)
    proof = prove(fit, robot, made.files[0], "mjcf", recording=rec, probes=False)
    assert proof.failures == []
    assert {c.expected for c in proof.checks if c.name == "encoder_bias"} == {0.0}


def test_a_robot_that_is_not_the_fits_is_refused():
    """By the joints that it lacks."""
    _, fit, rec = rig()
    with pytest.raises(SurefootError, match="does not have: rail, knee"):
        values_of(fit, Robot.load("anymal"), rec)


def test_a_robot_that_changed_since_the_fit_is_told(tmp_path: Path):
    """Another torque limit, or other links: the numbers may not hold, and the export says so."""
    robot, fit, rec = rig()
    model = saved(RIG, tmp_path, "r.xml")
    same = export(fit, robot, to="mjcf", out=tmp_path / "o.xml", model=model, recording=rec)
    changed = export(
        fit, robot.replace(torque_limit=np.array([9.0, 9.0])), to="mjcf", out=tmp_path / "o.xml", model=model, recording=rec
    )
    assert not any("when it was fitted" in note for note in same.notes)
    assert any("when it was fitted" in note for note in changed.notes)


# --- the command line -----------------------------------------------------------------------------------------------------------
TOML = """[robot]
model = "rig.xml"
[[joint]]
match = "rail"
stiffness = 9000.0
damping = 200.0
torque_limit = 900.0
[[joint]]
match = "knee"
stiffness = 60.0
damping = 1.5
torque_limit = 40.0
"""


def on_disk(folder: Path) -> tuple[Path, Path]:
    """A fit, its recording beside it, and its robot."""
    robot, _, _ = rig()
    fit, rec = fit_of(robot, seconds=2.0)
    rec.save(folder / "chirp.npz")
    saved(RIG, folder, "rig.xml")
    return fit.save(folder / "fit"), saved(TOML, folder, "robot.toml")


def test_the_command_finds_the_recording_and_proves_the_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """The fit's recording lies beside it: its gains are written and its motion replayed."""
    fit, robot = on_disk(tmp_path)
    out = tmp_path / "identified.xml"
    assert cli.main(["export", str(fit), "--to", "mjcf", "--out", str(out), "--robot", str(robot), "--prove"]) == 0
    text = capsys.readouterr().out
    assert "gains of recording chirp" in text
    assert "16 of 16 values move the robot" in text
    assert "\nproven." in text


def test_the_command_without_a_recording_moves_a_standard_chirp(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Gains come from the robot.toml, 20 s of a chirp take the recording's place."""
    fit, robot = on_disk(tmp_path)
    (tmp_path / "chirp.npz").unlink()
    out = tmp_path / "identified.xml"
    assert cli.main(["export", str(fit), "--to", "mjcf", "--out", str(out), "--robot", str(robot), "--prove"]) == 0
    text = capsys.readouterr().out
    assert "gains of the robot" in text
    assert "over 20 s" in text


def test_a_proof_that_fails_is_the_commands_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A writer with the other sign of the bias: the command says which value is wrong, and returns 1."""
    from unittest import mock

    from surefoot.export import mjcf

    fit, robot = on_disk(tmp_path)
    wrong = lambda values, source, out: mjcf.write(values.replace(bias=-values.bias), source, out)  # noqa: E731
    with mock.patch("surefoot.export.targets.mjcf", mock.Mock(write=wrong)):
        code = cli.main(["export", str(fit), "--to", "mjcf", "--out", str(tmp_path / "o.xml"), "--robot", str(robot), "--prove"])
    text = capsys.readouterr().out
    assert code == 1
    assert "WRONG: bias of rail" in text
    assert "NOT proven." in text


def test_a_target_that_does_not_exist_is_refused_with_the_list(tmp_path: Path):
    """In Python; the command line lists them itself."""
    robot, fit, rec = rig()
    with pytest.raises(SurefootError, match="valid: mjcf, urdf, usd"):
        export(fit, robot, to="gazebo", out=tmp_path / "o", recording=rec)
