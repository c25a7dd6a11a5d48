import mujoco
import numpy as np
import pytest

from surefoot.errors import SurefootError
from surefoot.robot import Robot, read_model

RICH = """
<mujoco model="rich">
  <compiler angle="degree" autolimits="true"/>
  <option timestep="0.0025" integrator="implicitfast" gravity="0.3 0.2 -9.7"/>
  <default>
    <joint armature="0.03" damping="0.4" frictionloss="0.7" solreffriction="0.03 1" solimpfriction="0.8 0.9 0.01"/>
    <default class="stiff"><joint stiffness="12" springref="20" range="-30 40" solreflimit="0.05 0.9" margin="0.01"/>
    </default>
  </default>
  <worldbody>
    <geom type="plane" size="3 3 0.1"/>
    <body name="stand" pos="0.1 0 1" euler="10 0 20">
      <geom type="box" size="0.1 0.1 0.1" mass="5"/>
      <body name="frame" pos="0 0.3 0.1" euler="0 35 0">
        <geom type="sphere" size="0.05" mass="1"/>
        <body name="upper" pos="0 0 -0.2" quat="0.9 0.1 0.2 0.3">
          <joint name="yaw" axis="0 0.6 0.8" pos="0.01 0.02 0.03" ref="15"/>
          <joint name="pitch" axis="0 1 0" class="stiff"/>
          <geom type="capsule" fromto="0 0 0 0.1 0 -0.3" size="0.03" mass="1.2"/>
          <body name="gearbox" pos="0.1 0 -0.3" euler="20 30 40">
            <geom type="box" size="0.05 0.03 0.02" mass="0.7"/>
            <body name="rod" pos="0 0.05 -0.1">
              <joint name="stroke" type="slide" axis="0 0 1" range="-0.1 0.1" frictionloss="2"/>
              <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="0.5"/>
              <body name="tip" pos="0 0 -0.2"><geom type="sphere" size="0.03" mass="0.2"/></body>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <keyframe><key name="home" qpos="0.1 0.2 0.03"/></keyframe>
</mujoco>
"""


def state_of(m: mujoco.MjModel, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
    data = mujoco.MjData(m)
    data.qpos[-len(q) :], data.qvel[-len(v) :] = q, v
    mujoco.mj_forward(m, data)
    mass = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, data, mass)
    n = len(q)
    return mass[-n:, -n:], data.qfrc_bias[-n:], data.qfrc_passive[-n:], data.qfrc_constraint[-n:]


def assert_same_motion(original: mujoco.MjModel, text: str, *, constraint: bool, seed: int = 0) -> None:
    """Mass matrix, bias and passive forces agree at random states, to 1e-12 of their size."""
    canonical = mujoco.MjModel.from_xml_string(text)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        q, v = rng.uniform(-0.7, 0.7, canonical.nq), rng.normal(0, 2, canonical.nv)
        for k, (a, b) in enumerate(zip(state_of(original, q, v), state_of(canonical, q, v), strict=True)):
            if k < 3 or constraint:
                np.testing.assert_allclose(b, a, rtol=0, atol=1e-12 * max(1.0, np.abs(a).max()))


def test_the_canonical_model_moves_like_the_original_with_springs_limits_and_friction():
    original = mujoco.MjModel.from_xml_string(RICH)
    original.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    model = read_model(RICH)
    assert_same_motion(original, model.canonical, constraint=True)


def test_a_simulated_second_is_the_same_in_both_models():
    original = mujoco.MjModel.from_xml_string(RICH)
    original.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    both = [original, mujoco.MjModel.from_xml_string(read_model(RICH).canonical)]
    ends = []
    for m in both:
        data = mujoco.MjData(m)
        data.qvel[:] = 1.0
        mujoco.mj_step(m, data, 400)
        ends.append(data.qpos.copy())
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-9)


def test_what_the_canonical_model_keeps_and_what_it_drops():
    model = read_model(RICH)
    m = mujoco.MjModel.from_xml_string(model.canonical)
    assert [m.body(b).name for b in range(m.nbody)] == ["world", "upper", "rod"]
    assert (m.ngeom, m.nu, m.neq, m.nkey) == (0, 0, 0, 0)
    assert m.opt.timestep == 0.0025
    assert m.opt.integrator == mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    assert (model.joints, model.kinds) == (("yaw", "pitch", "stroke"), ("hinge", "hinge", "slide"))
    assert model.mass == pytest.approx(5 + 1 + 1.2 + 0.7 + 0.5 + 0.2)
    assert model.posture.tolist() == [0.1, 0.2, 0.03]


def test_degrees_become_radians_and_missing_limits_infinite():
    model = read_model(RICH)
    np.testing.assert_allclose(model.lower, [-np.inf, np.deg2rad(-30), -0.1])
    np.testing.assert_allclose(model.upper, [np.inf, np.deg2rad(40), 0.1])


def test_a_free_robot_hangs_by_its_base():
    free = (
        RICH.replace('<body name="stand"', '<body name="stand"', 1)
        .replace(
            '<geom type="box" size="0.1 0.1 0.1" mass="5"/>',
            '<freejoint name="root"/><geom type="box" size="0.1 0.1 0.1" mass="5"/>',
        )
        .replace('qpos="', 'qpos="0 0 1 1 0 0 0 ')
    )
    hung, fixed = read_model(free), read_model(RICH)
    assert hung.canonical == fixed.canonical
    assert hung.posture.tolist() == [0.1, 0.2, 0.03]
    assert "The free body stand is fixed in the air at its pose." in hung.notes


def test_running_the_reader_on_its_own_output_changes_nothing():
    once = read_model(RICH).canonical
    twice = read_model(once)
    assert_same_motion(mujoco.MjModel.from_xml_string(once), twice.canonical, constraint=True)


def test_disabled_physics_stays_disabled():
    off = RICH.replace('gravity="0.3 0.2 -9.7">', ">").replace(
        "<default>",
        '<option><flag gravity="disable" limit="disable" frictionloss="disable" spring="disable"/></option><default>',
        1,
    )
    m = mujoco.MjModel.from_xml_string(read_model(off).canonical)
    assert not m.opt.gravity.any()
    assert not m.dof_frictionloss.any()
    assert not m.jnt_stiffness.any()
    assert not m.jnt_limited.any()


def test_joints_that_are_not_listed_are_held_at_their_posture():
    model = read_model(
        RICH.replace('<joint name="pitch" axis="0 1 0" class="stiff"/>', "").replace("0.1 0.2 0.03", "0.1 0.03"),
        ["yaw"],
    )
    assert model.joints == ("yaw",)
    assert "held at their posture: stroke" in model.notes[-1]
    original = mujoco.MjModel.from_xml_string(
        RICH.replace('<joint name="pitch" axis="0 1 0" class="stiff"/>', "").replace("0.1 0.2 0.03", "0.1 0.03")
    )
    canonical = mujoco.MjModel.from_xml_string(model.canonical)
    for q in (-0.4, 0.9):
        held = state_of(original, np.array([q, 0.03]), np.array([1.3, 0.0]))
        alone = state_of(canonical, np.array([q]), np.array([1.3]))
        np.testing.assert_allclose(alone[0][0, 0], held[0][0, 0], rtol=1e-12)
        np.testing.assert_allclose(alone[1][0], held[1][0], rtol=1e-12)


def test_a_joint_that_shares_its_body_cannot_be_held_alone():
    with pytest.raises(SurefootError, match="pitch shares its body"):
        read_model(RICH, ["yaw", "stroke"])


def test_actuators_of_the_model_give_gains_and_torque_limits():
    actuators = """<actuator>
      <position joint="yaw" kp="40" kv="2" gear="3" forcerange="-5 5"/>
      <motor joint="stroke" gear="2" ctrlrange="-7 7" ctrllimited="true"/>
    </actuator></mujoco>"""
    model = read_model(RICH.replace("</mujoco>", actuators))
    assert model.stiffness[0] == 9 * 40
    assert model.damping[0] == 9 * 2
    assert np.isnan(model.stiffness[1:]).all()
    assert model.torque_limit.tolist() == [15.0, np.inf, 14.0]


def test_included_files_and_meshes_that_are_missing_do_not_stop_a_model_with_inertias(tmp_path):
    (tmp_path / "leg.xml").write_text(
        """<mujocoinclude><body name="leg"><inertial pos="0 0 -0.1" mass="2" diaginertia="0.1 0.1 0.01"/>
        <joint name="knee" axis="0 1 0"/><geom type="mesh" mesh="leg"/></body></mujocoinclude>"""
    )
    (tmp_path / "robot.xml").write_text(
        """<mujoco model="r"><asset><mesh name="leg" file="nowhere.stl"/></asset>
        <worldbody><include file="leg.xml"/></worldbody></mujoco>"""
    )
    model = read_model(tmp_path / "robot.xml")
    assert model.joints == ("knee",)
    assert any("nowhere.stl" in note for note in model.notes)
    assert mujoco.MjModel.from_xml_string(model.canonical).body_mass[1] == 2.0


def test_a_missing_mesh_that_carries_the_inertia_is_named(tmp_path):
    (tmp_path / "robot.xml").write_text(
        """<mujoco><asset><mesh name="leg" file="nowhere.stl"/></asset><worldbody><body name="shin">
        <joint name="knee"/><geom type="mesh" mesh="leg"/></body></worldbody></mujoco>"""
    )
    with pytest.raises(SurefootError, match=r"nowhere.stl.*body shin has the mesh leg but no <inertial>"):
        read_model(tmp_path / "robot.xml")


def test_an_equality_constraint_is_noted_with_its_joints():
    tied = RICH.replace("</mujoco>", '<equality><joint joint1="yaw" joint2="stroke"/></equality></mujoco>')
    assert any("yaw ~ stroke" in note and "Prescribe" in note for note in read_model(tied).notes)


def test_an_unnamed_joint_gets_a_name_from_its_body():
    model = read_model(RICH.replace('name="stroke" ', ""))
    assert model.joints == ("yaw", "pitch", "rod_joint")
    assert any("rod_joint" in note for note in model.notes)
    assert mujoco.MjModel.from_xml_string(model.canonical).joint(2).name == "rod_joint"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<mujoco><worldbody>", "is not XML"),
        ("<sdf/>", "starts with <sdf>; expected <mujoco>"),
        ("<mujoco><worldbody/></mujoco>", "no hinge or slide joint"),
        (RICH.replace('name="yaw" axis="0 0.6 0.8"', 'name="yaw" axis="0 0 0"'), "MuJoCo cannot"),
        (RICH.replace('type="slide" axis="0 0 1" range="-0.1 0.1" ', 'type="ball" '), "joint stroke is a ball joint"),
        (RICH.replace("<joint ", "<joynt ", 1), "MuJoCo cannot read"),
    ],
)
def test_models_that_cannot_be_used_are_refused_in_a_sentence(text, says):
    with pytest.raises(SurefootError, match=says):
        read_model(text)


@pytest.mark.parametrize("name", ["anymal", "tytan", "minimal", "single_drive"])
def test_every_bundled_robot_moves_in_the_air_like_its_drawing(name):
    robot = Robot.load(name)
    original = mujoco.MjModel.from_xml_string(robot.scene)
    original.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    assert_same_motion(original, robot.model, constraint=False)
