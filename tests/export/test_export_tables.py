"""JSON, YAML and ROS 2 parameters: read back by parsers that are not ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fitted import TWINS, rig, twin

from surefoot.export import export, fit_hash, prove
from surefoot.export.tables import _scalar
from surefoot.export.targets import write

yaml = pytest.importorskip("yaml", reason="pyyaml is not installed")
TABLES = {"json": "t.json", "yaml": "t.yaml", "ros2": "r.yaml"}


@pytest.mark.parametrize("to", TABLES)
def test_every_value_is_read_back_equal(tmp_path: Path, to: str):
    """To the last digit."""
    robot, fit, rec = rig()
    made = export(fit, robot, to=to, out=tmp_path / TABLES[to], recording=rec)
    proof = prove(fit, robot, made.files[0], to, recording=rec)
    assert proof.failures == []
    assert all(check.found == check.expected for check in proof.checks)


@pytest.mark.parametrize("to", TABLES)
@pytest.mark.parametrize("wrong", TWINS)
def test_a_proof_names_what_is_wrong(tmp_path: Path, to: str, wrong: str):
    """Each twin fails by the value that is wrong."""
    robot, fit, rec = rig()
    values = export(fit, robot, to=to, out=tmp_path / TABLES[to], recording=rec).values
    write(twin(values, wrong), to, "", tmp_path / "twin")
    failures = prove(fit, robot, tmp_path / "twin", to, recording=rec).failures
    assert any(f.startswith(f"{TWINS[wrong]} of knee: the export says") for f in failures)


def test_a_table_has_units_intervals_and_where_it_comes_from(tmp_path: Path):
    """Each identified value has its 95 % interval; a limit that does not exist is null."""
    robot, fit, rec = rig()
    data = json.loads(export(fit, robot, to="json", out=tmp_path / "t.json", recording=rec).files[0].read_text())
    assert data["provenance"]["fit"] == fit_hash(fit)
    entry = data["parameters"]["armature"]
    assert entry["low"]["knee"] < entry["value"]["knee"] < entry["high"]["knee"]
    assert entry["unit"] == "kg m^2"
    assert data["parameters"]["stall_torque"]["value"]["knee"] is None


def test_ros2_parameters_are_a_pid_controllers(tmp_path: Path):
    """A torque-commanding pid_controller over position and velocity, and the encoders' offsets beside it."""
    robot, fit, rec = rig()
    made = export(fit, robot, to="ros2", out=tmp_path / "r.yaml", recording=rec)
    data = yaml.safe_load(made.files[0].read_text())
    pid = data["pid_controller"]["ros__parameters"]
    assert pid["dof_names"] == list(robot.joints)
    assert pid["gains"]["knee"] == {"p": 60.0, "i": 0.0, "d": 1.5, "u_clamp_max": 40.0, "u_clamp_min": -40.0}
    assert data["joint_offsets"]["ros__parameters"]["bias"]["knee"] == fit.dynamics.bias[1]


@pytest.mark.parametrize("value", [1e-7, 2e30, 5.0, -0.0012, True, None, 3, "a: b # c", "no"])
def test_yaml_scalars_keep_type_and_value(value: object):
    """Floats stay floats: without a point YAML 1.1 would read 1e-7 as a text."""
    found = yaml.safe_load(_scalar(value))
    assert found == value
    assert type(found) is type(value)
