"""Python modules: they compile, import, and give the simulator's own objects the fit's numbers with the right sign."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from fitted import TWINS, fit_of, rig, twin

from surefoot.errors import SurefootError
from surefoot.export import export, prove, stubs
from surefoot.export.targets import write
from surefoot.robot.drive import drive_torque
from surefoot.robot.spec import Robot

MODULES = ("isaaclab", "mjlab", "legged_gym", "genesis")


@pytest.mark.parametrize("to", MODULES)
def test_every_value_reaches_the_simulators_objects(tmp_path: Path, to: str):
    """Gains, rotor, both frictions, bias, delay and limits, in each joint of a rig with a slide."""
    robot, fit, rec = rig()
    made = export(fit, robot, to=to, out=tmp_path / "m.py", recording=rec)
    proof = prove(fit, robot, made.files[0], to, recording=rec)
    assert proof.failures == []
    assert proof.rmse is None
    names = {check.name for check in proof.checks}
    assert {"armature", "damping", "friction", "bias", "stiffness", "velocity_gain", "torque_limit", "delay"} <= names


@pytest.mark.parametrize("to", MODULES)
@pytest.mark.parametrize("wrong", TWINS)
def test_a_proof_names_what_is_wrong(tmp_path: Path, to: str, wrong: str):
    """Each twin fails by the value that is wrong."""
    robot, fit, rec = rig()
    values = export(fit, robot, to=to, out=tmp_path / "m.py", recording=rec).values
    write(twin(values, wrong), to, "", tmp_path / "twin.py")
    failures = prove(fit, robot, tmp_path / "twin.py", to, recording=rec).failures
    assert any(f.startswith(f"{TWINS[wrong]} of knee: the export says") for f in failures)


@pytest.mark.parametrize("to", ["isaaclab", "legged_gym", "genesis"])
def test_a_module_that_has_not_been_seen_to_move_says_so(tmp_path: Path, to: str):
    """In the file itself, in the export's notes and in the proof's."""
    robot, fit, rec = rig()
    made = export(fit, robot, to=to, out=tmp_path / "m.py", recording=rec)
    assert "not run here" in made.files[0].read_text()
    assert any("not run here" in note for note in made.notes)
    assert any("motion was not seen" in note for note in prove(fit, robot, made.files[0], to, recording=rec).notes)


def anymal_module(folder: Path, to: str):
    robot = Robot.load("anymal")
    fit, rec = fit_of(robot, seconds=0.2)
    made = export(fit, robot, to=to, out=folder / "m.py", recording=rec)
    return robot, fit, rec, made


def test_isaac_labs_explicit_drive_gives_the_torque_of_our_drive(tmp_path: Path):
    """At random states and a constant command, on both sides of the envelope: surefoot's own drive_torque."""
    robot, fit, rec, made = anymal_module(tmp_path, "isaaclab")
    rng = np.random.default_rng(0)
    q, v, u = rng.normal(0, 0.5, (200, 12)), rng.uniform(-8, 8, (200, 12)), rng.normal(0, 1.5, (200, 12))
    with stubs.imported(made.files[0]) as module:
        (cfg,) = module.delayed_dc_motor().values()
        drive = module.BiasedDelayedDCMotor(cfg, joint_names=list(robot.joints))
        none = stubs.tensor(np.zeros_like(q))
        action = SimpleNamespace(joint_positions=stubs.tensor(u), joint_velocities=none, joint_efforts=none)
        torque = drive.compute(action, stubs.tensor(q), stubs.tensor(v)).joint_efforts
    own = drive_torque(robot, u, q, v, stiffness=rec.stiffness, damping=rec.damping, bias=fit.dynamics.bias)
    np.testing.assert_allclose(torque, own, atol=1e-9)
    assert np.any(np.abs(own) < 1e-9 + robot.torque_limit * 0.999)


def test_isaac_labs_explicit_drive_is_late_by_the_fits_delay_and_forgets_at_a_reset(tmp_path: Path):
    """8.1 ms at steps of 2.5 ms are 3.24 steps; one environment is reset and starts anew, the other goes on."""
    robot, fit, rec = rig()
    made = export(fit, robot, to="isaaclab", out=tmp_path / "m.py", recording=rec)
    with stubs.imported(made.files[0]) as module:
        groups = module.delayed_dc_motor()
        cfg = next(c for c in groups.values() if "knee" in c.joint_names_expr)
        at = cfg.joint_names_expr.index("knee")
        drive = module.BiasedDelayedDCMotor(cfg, joint_names=list(cfg.joint_names_expr), envs=2)
        p, bias, seen = cfg.stiffness["knee"], cfg.encoder_bias["knee"], []
        shape = (2, len(cfg.joint_names_expr))
        for k in range(12):
            if k == 8:
                drive.reset([1])
            none = stubs.tensor(np.zeros(shape))
            action = SimpleNamespace(
                joint_positions=stubs.tensor(np.full(shape, 0.01 * k)), joint_velocities=none, joint_efforts=none
            )
            seen.append(drive.compute(action, none, none).joint_efforts[:, at] / p - bias)
    seen = np.array(seen) / 0.01
    np.testing.assert_allclose(seen[5:, 0], np.arange(5, 12) - 3.24, atol=1e-9)
    np.testing.assert_allclose(seen[8:, 1], [8, 8 + 0, 8 + 0, 8 + 0 * 0.76], atol=1e-9)


def test_isaac_lab_gets_both_frictions(tmp_path: Path):
    """Static and dynamic friction are set in both forms; break-away friction is what makes them differ."""
    robot, _, _ = rig()
    fit, rec = fit_of(robot, breakaway=np.array([5.0, 0.2]))
    made = export(fit, robot, to="isaaclab", out=tmp_path / "m.py", recording=rec)
    found = stubs.read(made.files[0], "isaaclab", robot.joints)
    for form in ("", "implicit "):
        np.testing.assert_allclose(found[f"{form}friction"], fit.dynamics.friction)
        np.testing.assert_allclose(found[f"{form}static_friction"], fit.dynamics.friction + fit.dynamics.breakaway)


def test_legged_gyms_torques_are_our_drive_and_the_joints_losses(tmp_path: Path):
    """The drive of surefoot, less viscous and sliding friction, at speeds where the friction is whole."""
    robot, fit, rec, made = anymal_module(tmp_path, "legged_gym")
    rng = np.random.default_rng(1)
    q, u = rng.normal(0, 0.5, (200, 12)), rng.normal(0, 1.5, (200, 12))
    v = rng.uniform(0.1, 12, (200, 12)) * rng.choice([-1, 1], (200, 12))
    with stubs.imported(made.files[0]) as module:
        torque = module.joint_torques(robot.joints, u, q, v)
    d = fit.dynamics
    own = drive_torque(robot, u, q, v, stiffness=rec.stiffness, damping=rec.damping, bias=d.bias)
    np.testing.assert_allclose(torque, own - d.damping * v - d.friction * np.sign(v), atol=1e-9)


def test_mjlabs_bias_has_the_other_sign_and_its_delay_whole_steps(tmp_path: Path):
    """The module's bias is minus the fit's, 8.1 ms are 3 steps, and the export prints what rounding leaves out."""
    robot, fit, rec = rig()
    made = export(fit, robot, to="mjlab", out=tmp_path / "m.py", recording=rec)
    with stubs.imported(made.files[0]) as module:
        for joint, bias in zip(robot.joints, fit.dynamics.bias, strict=True):
            assert module.ENCODER_BIAS[joint] == -bias
            assert module.DELAY_STEPS[joint] == 3
    assert any("8.1 ms became 3 steps of 2.5 ms, 0.6 ms off" in note for note in made.notes)


def test_an_mjlab_proof_without_mjlab_says_what_to_type(tmp_path: Path):
    """mjlab lives in its own environment: the values are read back, the rest needs --python."""
    robot, fit, rec = rig()
    made = export(fit, robot, to="mjlab", out=tmp_path / "m.py", recording=rec)
    assert any("--python" in note for note in prove(fit, robot, made.files[0], "mjlab", recording=rec).notes)


def test_joint_names_that_are_patterns_are_taken_literally(tmp_path: Path):
    """mjlab reads names as regular expressions: a dot in a name must not match another letter."""
    import re

    from fitted import RIG, robot_of

    robot = robot_of(
        RIG.replace("knee'", "k.e'").replace('joint="knee"', 'joint="k.e"'), np.array([9e3, 60.0]), np.array([200, 1.5])
    )
    fit, rec = fit_of(robot, seconds=0.1)
    made = export(fit, robot, to="mjlab", out=tmp_path / "m.py", recording=rec)
    with stubs.imported(made.files[0]) as module:
        assert re.fullmatch(module.PATTERNS["k.e"], "k.e")
        assert not re.fullmatch(module.PATTERNS["k.e"], "kie")


def test_a_broken_module_is_an_error_with_its_name(tmp_path: Path):
    """A file that was edited into nonsense does not pass for a proof."""
    path = tmp_path / "m.py"
    path.write_text("JOINTS = (\n")
    with pytest.raises(SurefootError, match=r"m\.py does not import: SyntaxError"):
        stubs.read(path, "mjlab", ("a",))
