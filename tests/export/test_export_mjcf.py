"""MJCF: the file is the user's but for what was identified, and MuJoCo moves it as the fit does."""

from __future__ import annotations

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest
from fitted import RIG, TWINS, changed_lines, fit_of, rig, robot_of, saved, twin

from surefoot.errors import SurefootError
from surefoot.export import export, prove
from surefoot.export.mjcf import history, write
from surefoot.export.report import lines
from surefoot.export.targets import model_file
from surefoot.robot.spec import Robot


def exported(folder: Path, **options):
    robot, fit, rec = rig()
    return export(fit, robot, to="mjcf", out=folder / "out.xml", model=saved(RIG, folder, "rig.xml"), recording=rec, **options)


def test_a_rig_on_a_rail_moves_in_its_own_file_as_in_the_fit(tmp_path: Path):
    """Slide and hinge, class defaults overridden, fractional delay: the residue is rounding, and every value is felt."""
    robot, fit, rec = rig()
    made = exported(tmp_path)
    proof = prove(fit, robot, made.files[0], "mjcf", recording=rec)
    assert proof.failures == []
    assert proof.rmse is not None
    assert proof.rmse.max() < 1e-10
    assert len(proof.probes) == 8 * robot.n


def test_a_bundled_robot_over_20_s_moves_in_its_own_file_as_in_the_fit(tmp_path: Path):
    """ANYmal, 12 joints with a free root that the proof hangs up, its published dynamics: 1e-6 rad is asked for."""
    robot = Robot.load("anymal")
    assert robot.dynamics is not None
    fit, rec = fit_of(robot, seconds=20.0, damping=robot.dynamics.damping)
    made = export(fit, robot, to="mjcf", out=tmp_path / "anymal.xml", recording=rec)
    proof = prove(fit, robot, made.files[0], "mjcf", recording=rec, probes=False)
    assert proof.failures == []
    assert proof.rmse is not None
    assert proof.rmse.max() < 1e-6
    assert proof.seconds == pytest.approx(20.0, abs=0.01)


def test_what_mjcf_cannot_have_is_measured_and_named(tmp_path: Path):
    """Drives that reach their torque-speed envelope move otherwise in MuJoCo; without the envelope the residue is rounding."""
    robot = Robot.load("anymal")
    fit, rec = fit_of(robot, seconds=4.0)
    made = export(fit, robot, to="mjcf", out=tmp_path / "anymal.xml", recording=rec)
    proof = prove(fit, robot, made.files[0], "mjcf", recording=rec, probes=False)
    assert proof.rmse is not None
    assert proof.lost is not None
    assert proof.rest is not None
    assert proof.rmse.max() > 1e-3
    assert proof.rest.max() < 1e-9
    assert any("torque-speed envelope" in reason for reason in proof.reasons)
    assert "proven, but for what mjcf cannot have" in lines(proof)[-1]


@pytest.mark.parametrize("wrong", TWINS)
def test_a_proof_names_what_is_wrong(tmp_path: Path, wrong: str):
    """Each twin fails by the value that is wrong, in every joint, and by the motion."""
    robot, fit, rec = rig()
    values = exported(tmp_path).values
    path = tmp_path / "twin.xml"
    write(twin(values, wrong), tmp_path / "rig.xml", path)
    proof = prove(fit, robot, path, "mjcf", recording=rec, probes=False)
    for joint in robot.joints:
        assert any(f.startswith(f"{TWINS[wrong]} of {joint}: the export says") for f in proof.failures)
    assert any("moves differently" in f for f in proof.failures)


def test_only_lines_that_carry_identified_values_differ(tmp_path: Path):
    """In ANYmal's file every line that went away was a joint's, and it comes back with three more attributes."""
    robot = Robot.load("anymal")
    fit, rec = fit_of(robot, seconds=0.5)
    source = model_file(robot)
    assert source is not None
    made = export(fit, robot, to="mjcf", out=tmp_path / "anymal.xml", recording=rec)
    before, after = changed_lines(source.read_text(), made.files[0].read_text())
    assert len(before) == 12
    strip = lambda line: re.sub(r' (armature|damping|frictionloss)="[^"]*"', "", line)  # noqa: E731
    joints = [line for line in after if "<joint " in line]
    assert sorted(map(strip, joints)) == sorted(before)
    rest = [line for line in after if line not in joints and not line.startswith(("<!--", "  ", "-->")) and line.strip()]
    assert rest == []
    assert sum("<general " in line for line in after) == 12


def test_comments_quotes_and_white_space_of_the_users_file_stay(tmp_path: Path):
    """A tag over two lines keeps its two lines and its single quotes."""
    text = exported(tmp_path).files[0].read_text()
    assert "<!-- its damping is a guess -->" in text
    assert "<joint  name='knee'\n                class=\"knee\" armature=" in text
    before, _ = changed_lines(RIG, text)
    assert [line.split()[0] for line in before] == ["<joint", 'class="knee"', "<position", "<motor"]


def test_an_actuator_keeps_its_name_and_place_and_becomes_the_identified_drive(tmp_path: Path):
    """The order of the controls is the user's; a motor that becomes a position drive is told."""
    made = exported(tmp_path)
    m = mujoco.MjModel.from_xml_path(str(made.files[0]))
    assert [m.actuator(a).name for a in range(m.nu)] == ["knee drive", "lift"]
    assert m.actuator_gear[1, 0] == 1
    assert not m.actuator_ctrllimited[1]
    assert any("lift was a <motor>" in note for note in made.notes)


def test_the_bias_is_in_the_drive_and_in_the_encoder(tmp_path: Path):
    """force = P (u - (q - q_b)), and the sensor's user value is q_b, by MuJoCo's own evaluation."""
    _, fit, _ = rig()
    m = mujoco.MjModel.from_xml_path(str(exported(tmp_path).files[0]))
    d = mujoco.MjData(m)
    d.qpos[m.joint("knee").qposadr] = fit.dynamics.bias[1]  # the encoder reads 0
    mujoco.mj_forward(m, d)
    assert d.actuator("knee drive").force[0] == pytest.approx(0, abs=1e-12)
    sensor = m.sensor("knee_encoder")
    assert d.sensordata[sensor.adr[0]] - m.sensor_user[sensor.id, 0] == pytest.approx(0, abs=1e-15)


def test_a_second_export_over_an_export_gives_the_same_model(tmp_path: Path):
    """Nothing is added twice: the file only gets a new header."""
    robot, fit, rec = rig()
    first = exported(tmp_path, date="2026-01-01").files[0]
    again = export(fit, robot, to="mjcf", out=tmp_path / "again.xml", model=first, recording=rec, date="2026-01-01").files[0]
    assert again.read_bytes() == first.read_bytes()


def test_a_joint_in_an_included_file_is_edited_there_under_a_new_name(tmp_path: Path):
    """The user's files are untouched; the export includes the edited copy, and moves as the fit does."""
    robot, fit, rec = rig()
    start, end = RIG.index('      <body name="thigh">'), RIG.index("    </body>\n  </worldbody>")
    (tmp_path / "parts").mkdir()
    part = saved(f"<mujocoinclude>\n{RIG[start:end]}</mujocoinclude>\n", tmp_path / "parts", "thigh.xml")
    main = saved(RIG[:start] + '      <include file="parts/thigh.xml"/>\n' + RIG[end:], tmp_path, "main.xml")
    before = part.read_bytes(), main.read_bytes()
    made = export(fit, robot, to="mjcf", out=tmp_path / "done.xml", model=main, recording=rec)
    assert (part.read_bytes(), main.read_bytes()) == before
    assert [p.name for p in made.files] == ["done.xml", "thigh_done.xml"]
    assert prove(fit, robot, made.files[0], "mjcf", recording=rec, probes=False).failures == []


def test_a_joint_without_a_name_is_found_by_its_body_and_gets_one(tmp_path: Path):
    """The robot calls it thigh_joint, and so does the export."""
    text = RIG.replace("name='knee'\n                ", "").replace(
        '    <position name="knee drive" joint="knee" class="knee"/>\n', ""
    )
    robot = robot_of(text, np.array([9000.0, 60.0]), np.array([200.0, 1.5]))
    fit, rec = fit_of(robot)
    made = export(fit, robot, to="mjcf", out=tmp_path / "o.xml", model=saved(text, tmp_path, "r.xml"), recording=rec)
    assert prove(fit, robot, made.files[0], "mjcf", recording=rec, probes=False).failures == []


def test_two_drives_on_one_joint_are_refused_by_name(tmp_path: Path):
    """Which of them is the drive is the user's to say."""
    robot, fit, rec = rig()
    text = RIG.replace("  </actuator>", '    <velocity name="brake" joint="knee"/>\n  </actuator>')
    with pytest.raises(SurefootError, match=r"joint knee has 2 actuators \(knee drive, brake\)"):
        export(fit, robot, to="mjcf", out=tmp_path / "o.xml", model=saved(text, tmp_path, "r.xml"), recording=rec)


def test_a_urdf_becomes_an_mjcf_in_the_air(tmp_path: Path):
    """Without an MJCF of the user's, the robot's own in-air model is written, and proven."""
    from fitted import ARM, arm

    _, fit, rec = arm()
    robot = Robot.load(saved(ARM, tmp_path, "arm.urdf"))
    made = export(fit, robot, to="mjcf", out=tmp_path / "arm.xml", recording=rec)
    assert any("pass your own MJCF" in note for note in made.notes)
    assert prove(fit, robot, made.files[0], "mjcf", recording=rec, probes=False).failures == []


def test_the_file_says_what_it_is_worth(tmp_path: Path):
    """Fit hash, date and intervals stand in it; the proof says that the file's own options are not the fit's."""
    from surefoot.export import fit_hash

    robot, fit, rec = rig()
    made = exported(tmp_path, date="2026-10-01")
    text = made.files[0].read_text()
    assert fit_hash(fit) in text
    assert "2026-10-01" in text
    low, high = fit.low.armature[1], fit.high.armature[1]
    assert f"knee {fit.dynamics.armature[1]:.6g} [{low:.4g}, {high:.4g}]" in text
    notes = prove(fit, robot, made.files[0], "mjcf", recording=rec, probes=False).notes
    assert any("steps by 2 ms, the fit is true at 2.5 ms" in note for note in notes)
    assert any('integrator="implicitfast"' in note for note in notes)


@pytest.mark.parametrize("steps", [0.5, 1.0, 1.4, 3.0, 3.25, 7.999])
def test_mujocos_native_delay_is_what_the_exporter_takes_it_for(steps: float):
    """A ramp of controls comes out late by the delay, fractions of a step included, and by one step at least."""
    h = 0.0025
    nsample, delay = history(steps * h, h)
    m = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{h}" gravity="0 0 0"/><worldbody><body><joint name="j" type="slide"/><geom size="1"/></body>
        </worldbody><actuator><motor joint="j" nsample="{nsample}" interp="linear" delay="{delay!r}"/></actuator></mujoco>"""
    )
    d = mujoco.MjData(m)
    forces = []
    for i in range(20):
        d.ctrl[0] = i
        mujoco.mj_step(m, d)
        forces.append(d.actuator_force[0])
    np.testing.assert_allclose(forces[10:], np.arange(10, 20) - max(steps, 1.0), atol=1e-9)


def test_a_delay_below_half_a_step_is_none():
    """MuJoCo's shortest is one step: what is nearer to zero is left out."""
    assert history(0.001, 0.0025) == (0, 0.0)
    assert history(0.002, 0.0025)[1] == 0.0025


def test_a_held_command_is_replayed_held(tmp_path: Path):
    """A held command, late by a part of a step, is linear between the samples of MuJoCo's history: it moves as the fit does."""
    robot, fit, rec = rig()
    held = rec.replace(command_hold=True)
    made = export(fit, robot, to="mjcf", out=tmp_path / "o.xml", model=saved(RIG, tmp_path, "r.xml"), recording=held)
    assert prove(fit, robot, made.files[0], "mjcf", recording=held, probes=False).failures == []


def test_feedforward_torque_offs_and_prescribed_joints_are_replayed(tmp_path: Path):
    """What a recording may contain besides positions reaches the file's actuators."""
    robot, fit, rec = rig()
    t = rec.time[:, None]
    on = np.broadcast_to((t < 1.0) | (t > 1.2), rec.target.shape)
    busy = rec.replace(
        feedforward=np.sin(9 * t) * [30.0, 1.0], target_velocity=np.cos(7 * t) * [0.1, 0.5], enabled=on, velocity=None
    )
    for motion in (busy, rec.prescribe("rail")):
        made = export(fit, robot, to="mjcf", out=tmp_path / "o.xml", model=saved(RIG, tmp_path, "r.xml"), recording=motion)
        proof = prove(fit, robot, made.files[0], "mjcf", recording=motion, probes=False)
        assert [f for f in proof.failures if "knee" in f] == []
