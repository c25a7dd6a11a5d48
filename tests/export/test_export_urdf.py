"""URDF: two attributes a joint in the file, the rest beside it, all of it read back and moved."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pytest
from fitted import ARM, TWINS, arm, changed_lines, fit_of, saved, twin

from surefoot.errors import SurefootError
from surefoot.export import export, prove
from surefoot.export.urdf import write
from surefoot.robot.spec import Robot

try:
    ROBOTS = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")))
except PackageNotFoundError:
    ROBOTS = None


def test_an_arm_with_a_slide_moves_from_its_urdf_and_sidecar_as_in_the_fit(tmp_path: Path):
    """MuJoCo reads the URDF, the sidecar adds rotors and drives: the residue is rounding, and every value is felt."""
    robot, fit, rec = arm()
    made = export(fit, robot, to="urdf", out=tmp_path / "o.urdf", model=saved(ARM, tmp_path, "arm.urdf"), recording=rec)
    proof = prove(fit, robot, made.files[0], "urdf", recording=rec)
    assert proof.failures == []
    assert proof.rmse is not None
    assert proof.rmse.max() < 1e-10
    assert len(proof.probes) == 8 * robot.n


@pytest.mark.parametrize("wrong", TWINS)
def test_a_proof_names_what_is_wrong(tmp_path: Path, wrong: str):
    """Each twin fails by the value that is wrong, and by the motion."""
    robot, fit, rec = arm()
    source = saved(ARM, tmp_path, "arm.urdf")
    values = export(fit, robot, to="urdf", out=tmp_path / "o.urdf", model=source, recording=rec).values
    write(twin(values, wrong), source, tmp_path / "twin.urdf")
    failures = prove(fit, robot, tmp_path / "twin.urdf", "urdf", recording=rec, probes=False).failures
    assert any(f.startswith(f"{TWINS[wrong]} of shoulder: the export says") for f in failures)
    assert any("moves differently" in f for f in failures)


def test_an_edited_block_that_disagrees_with_the_sidecar_is_found(tmp_path: Path):
    """ros2_control and sidecar are both read: a number changed in one of them fails by its name."""
    robot, fit, rec = arm()
    made = export(fit, robot, to="urdf", out=tmp_path / "o.urdf", model=saved(ARM, tmp_path, "arm.urdf"), recording=rec)
    text = made.files[0].read_text()
    made.files[0].write_text(
        text.replace('<param name="surefoot_stiffness">60</param>', '<param name="surefoot_stiffness">1</param>')
    )
    failures = prove(fit, robot, made.files[0], "urdf", recording=rec, probes=False).failures
    assert failures == ["ros2_control stiffness of shoulder: the export says 1, the fit 60 N m/rad"]


@pytest.mark.skipif(ROBOTS is None, reason="example-robot-data is not installed")
@pytest.mark.parametrize("name", ["go2_description/urdf/go2.urdf", "talos_data/robots/talos_reduced.urdf"])
def test_only_lines_that_carry_identified_values_differ(tmp_path: Path, name: str):
    """Real URDFs: every line that went away was a <dynamics>, and without its two numbers it is still the user's."""
    assert ROBOTS is not None
    robot = Robot.load(ROBOTS / name).with_gains(50.0, 1.0)
    fit, rec = fit_of(robot, seconds=0.1)
    made = export(fit, robot, to="urdf", out=tmp_path / "o.urdf", recording=rec)
    before, after = changed_lines((ROBOTS / name).read_text(), made.files[0].read_text())
    assert all("<dynamics" in line for line in before)
    blank = lambda line: re.sub(r'(damping|friction)="[^"]*"', r'\1=""', line)  # noqa: E731
    dynamics = [blank(line) for line in after if "<dynamics" in line]
    assert len(dynamics) == robot.n
    assert not set(map(blank, before)) - set(dynamics)
    text = made.files[0].read_text()
    head = text[text.index("<!-- surefoot export") :].split("-->")[0].splitlines()
    block = text[text.index("  <ros2_control") : text.index("</ros2_control>")].splitlines()
    others = [line for line in after if "<dynamics" not in line and line not in (*head, *block)]
    assert {line.strip() for line in others} <= {"-->", "</ros2_control>"}
    read = prove(fit, robot, made.files[0], "urdf", recording=rec, probes=False)
    assert [f for f in read.failures if "the export says" in f] == []


def test_a_ros2_control_block_of_the_users_gets_parameters_and_stays(tmp_path: Path):
    """Its plugin and its interfaces are the user's; each joint gets the identified numbers."""
    robot, fit, rec = arm()
    block = """  <ros2_control name="mine" type="system">
    <hardware><plugin>my/Plugin</plugin></hardware>
    <joint name="shoulder"><command_interface name="effort"/></joint>
    <joint name="slide">
      <command_interface name="effort"/>
    </joint>
  </ros2_control>
"""
    source = saved(ARM.replace("</robot>", block + "</robot>"), tmp_path, "arm.urdf")
    made = export(fit, robot, to="urdf", out=tmp_path / "o.urdf", model=source, recording=rec)
    text = made.files[0].read_text()
    assert text.count("<ros2_control") == 1
    assert "my/Plugin" in text
    assert prove(fit, robot, made.files[0], "urdf", recording=rec, probes=False).failures == []


def test_a_urdf_without_the_joint_is_refused_with_the_names_it_has(tmp_path: Path):
    """A model of another robot."""
    robot, fit, rec = arm()
    source = saved(ARM.replace('name="slide"', 'name="glide"'), tmp_path, "arm.urdf")
    with pytest.raises(SurefootError, match="has no joint slide; it has shoulder, glide"):
        export(fit, robot, to="urdf", out=tmp_path / "o.urdf", model=source, recording=rec)


def test_the_users_file_is_never_the_output(tmp_path: Path):
    """An export beside the model, not over it."""
    robot, fit, rec = arm()
    source = saved(ARM, tmp_path, "arm.urdf")
    with pytest.raises(SurefootError, match="is the model itself"):
        export(fit, robot, to="urdf", out=source, model=source, recording=rec)
    assert source.read_text() == ARM
    assert np.isfinite(fit.loss)
