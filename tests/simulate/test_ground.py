"""What a foot is, and what of a model stands on the ground."""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import mujoco
import numpy as np
import pytest
from rigs import load
from walkers import placed

from surefoot import Physics, Robot, SurefootError
from surefoot.robot.dynamics import JointDynamics
from surefoot.simulate.ground import GROUND, Ground
from surefoot.simulate.terrain import Terrain

GO2 = Path(__file__).parents[2] / "examples" / "go2.toml"


def ground_of(robot, **changes):
    dynamics = robot.dynamics or JointDynamics.no_model(robot.joints)
    return Ground.of(robot, dynamics.replace(**changes), Physics(timestep=0.005), Terrain())


@pytest.fixture
def go2(tmp_path):
    """The example's robot.toml, beside nothing but a line that says where the URDF is."""
    try:
        package = distribution("example-robot-data")
    except PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    urdf = package.locate_file("cmeel.prefix/share/example-robot-data/robots/go2_description/urdf/go2.urdf")
    path = tmp_path / "robot.toml"
    path.write_text(GO2.read_text().replace('"go2.urdf"', f'"{urdf}"'))
    return Robot.load(path)


@pytest.mark.parametrize("name", ["anymal", "tytan", "minimal"])
def test_a_bundled_robot_stands_on_the_four_spheres_at_its_shanks_ends(name):
    robot = Robot.load(name)
    ground = ground_of(robot)
    assert ground.feet == ("LF_SHANK", "RF_SHANK", "LH_SHANK", "RH_SHANK")
    sensed = [ground.model.sensor(f"foot{i}").objid[0] for i in range(4)]
    assert {int(ground.model.geom_type[g]) for g in sensed} == {int(mujoco.mjtGeom.mjGEOM_SPHERE)}
    assert ground.mass == pytest.approx(robot.mass)
    sides = [len(ground.sensors[f"{part}{i}"]) for part in ("thigh", "shank") for i in range(4)]
    assert sides == [1] * 8
    assert len(ground.sensors["trunk"]) == 6  # two of the torso, four hips


def test_a_urdf_and_a_robot_toml_stand_without_python(go2):
    """Go2 as published: mesh shapes, feet welded to the calves."""
    world = placed(go2)
    assert world.feet == ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
    assert world.mass == pytest.approx(16.1, abs=0.05)
    assert world.stand_height == pytest.approx(0.213 * np.cos(0.8) + 0.213 * np.cos(0.7) + 0.022, abs=0.01)
    for _ in range(30):
        motion = world.step(go2.posture[None])
    assert world.read().foot_contact.all()
    assert motion.foot_force[0, -1, :, 2].sum() == pytest.approx(9.81 * world.mass, rel=0.1)
    assert not world.read().trunk_contact.any()


def test_the_dynamics_of_the_model_file_give_way_to_the_fits():
    robot = Robot.load("anymal")
    scene = robot.scene.replace('axis="1 0 0"', 'axis="1 0 0" armature="3" damping="7" frictionloss="5"')
    assert scene != robot.scene
    model = ground_of(robot.replace(scene=scene), friction=np.full(12, 0.25)).model
    np.testing.assert_array_equal(model.dof_armature[6:], robot.dynamics.armature)
    np.testing.assert_array_equal(model.dof_damping[6:], robot.dynamics.damping)
    np.testing.assert_array_equal(model.dof_frictionloss[6:], 0.25)


HOSTILE = """<default>
    <general ctrllimited="true" ctrlrange="-1 1" gear="7" dyntype="integrator" biasprm="9 9 9" gainprm="5"/>
    <joint damping="3" armature="2" frictionloss="1"/>
    <geom margin="0.1" gap="0.05" priority="3" group="3" solref="0.5 2" rgba"""


def test_the_models_defaults_and_flags_do_not_reach_the_ground_the_drives_or_the_base():
    plain = Robot.load("anymal")
    scene = plain.scene.replace("<default>\n    <geom rgba", HOSTILE, 1).replace("<option ", '<option density="1000" ')
    scene = scene.replace('<freejoint name="root"/>', '<joint name="root" type="free"/>')
    scene = scene.replace("</worldbody>", '</worldbody><actuator><motor joint="LF_HAA"/></actuator>')
    models = [ground_of(plain.replace(scene=text)).model for text in (plain.scene, scene)]
    calm, hostile = models
    for name in (
        "dof_armature", "dof_damping", "dof_frictionloss", "actuator_gear", "actuator_gainprm", "actuator_biasprm",
        "actuator_dyntype", "actuator_ctrllimited", "actuator_armature", "geom_priority",
    ):  # fmt: skip
        np.testing.assert_array_equal(getattr(hostile, name), getattr(calm, name), err_msg=name)
    floor = hostile.geom(GROUND).id
    assert (hostile.geom_margin[floor], hostile.geom_gap[floor], hostile.opt.density) == (0.0, 0.0, 0.0)
    np.testing.assert_array_equal(hostile.geom_solref[floor], calm.geom_solref[floor])


def test_the_robots_own_joint_order_and_limits_hold():
    robot = Robot.load("anymal")
    order = tuple(reversed(robot.joints))
    turned = robot.replace(joints=order, posture=robot.posture[::-1], upper=np.full(12, 2.9), dynamics=None)
    ground = ground_of(turned)
    names = [ground.model.joint(int(ground.model.dof_jntid[d])).name for d in ground.dofs]
    assert names == list(order)
    assert ground.feet == ("RH_SHANK", "LH_SHANK", "RF_SHANK", "LF_SHANK")
    assert (ground.model.jnt_range[1:, 1] == 2.9).all()


BOX = '<geom type="box" size="0.2 0.1 0.05"/>'
LEG = """<body name="{0}" pos="{1} 0 0"><joint name="{0}" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" {2}/></body>"""


def stool(base=BOX, legs=(("a", 0.2), ("b", -0.2)), extra="", shape=""):
    inside = base + "".join(LEG.format(name, x, shape) for name, x in legs)
    return load(f'<mujoco><worldbody><body name="trunk" pos="0 0 1">{inside}</body>{extra}</worldbody></mujoco>')


def test_a_fixed_base_is_set_free_and_its_legs_end_is_the_foot():
    ground = ground_of(stool())
    assert ground.free
    assert ground.feet == ("a", "b")
    assert ground.stand_height == pytest.approx(0.32)


def test_an_arm_that_does_not_reach_the_ground_is_no_leg():
    arm = '<body name="arm"><joint name="arm" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.02"/></body>'
    assert ground_of(stool(base=BOX + arm)).feet == ("a", "b")


def test_what_cannot_stand_is_refused_in_a_sentence():
    two = '<body name="other"><joint name="c" axis="0 1 0"/><geom size="0.1"/></body>'
    with pytest.raises(SurefootError, match="has 2 bodies with joints on the world"):
        ground_of(stool(extra=two))
    with pytest.raises(SurefootError, match=r"no leg of .* has a shape that could be a foot"):
        ground_of(stool(shape='contype="0" conaffinity="0"'))
    with pytest.raises(SurefootError, match="has no shapes, so it cannot stand"):
        ground_of(stool().replace(scene=""))
    with pytest.raises(SurefootError, match=r"every joint of the model must move: .* leaves out b"):
        ground_of(stool(legs=(("a", 0.2),)).replace(scene=stool().scene))
