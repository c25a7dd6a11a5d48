import mujoco
import numpy as np
import pytest

from surefoot.errors import SurefootError
from surefoot.robot import Robot

MODEL = """<mujoco model="arm"><worldbody><body name="a"><joint name="L_HIP" axis="0 1 0" range="-60 60"/>
<geom type="capsule" fromto="0 0 0 0 0 -1" size="0.05" mass="1"/>
<body name="b" pos="0 0 -1"><joint name="L_KNEE" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 -1" size="0.05" mass="1"/></body></body></worldbody></mujoco>"""

TOML = """
[robot]
name = "arm"
model = "arm.xml"

[[joint]]
match = "*"
stiffness = 20.0
damping = 0.5
motor.k_i = 0.1

[[joint]]
match = "*_KNEE"
stiffness = 30
torque_limit = 2.0
gear_position = [-1.0, 0.0, 1.0]
gear_ratio = [5.0, 6.0, 7.0]
lower = -0.5
upper = 0.5
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "arm.xml").write_text(MODEL)
    return tmp_path


def load(folder, text: str) -> Robot:
    (folder / "robot.toml").write_text(text)
    return Robot.load(folder / "robot.toml")


def test_later_blocks_override_earlier_ones(folder):
    robot = load(folder, TOML)
    assert robot.stiffness.tolist() == [20.0, 30.0]
    assert robot.damping.tolist() == [0.5, 0.5]
    assert robot.torque_limit.tolist() == [np.inf, 2.0]
    assert robot.motor["k_i"].tolist() == [0.1, 0.1]
    assert np.isnan(robot.motor["resistance"]).all()


def test_a_gear_table_belongs_to_the_joints_that_have_one(folder):
    robot = load(folder, TOML)
    assert robot.geared.tolist() == [False, True]
    assert robot.gear_ratio[1].tolist() == [5.0, 6.0, 7.0]
    assert robot.gear_position.shape == (2, 3)


def test_tables_of_different_length_end_constant(folder):
    block = '[[joint]]\nmatch = "*HIP"\ngear_position = [0.0, 2.0]\ngear_ratio = [1.0, 3.0]\n'
    robot = load(folder, TOML + block)
    assert robot.gear_ratio[0].tolist() == [1.0, 3.0, 3.0]
    assert (np.diff(robot.gear_position) > 0).all()


def test_limits_of_the_toml_are_the_limits_of_the_model(folder):
    robot = load(folder, TOML)
    m = mujoco.MjModel.from_xml_string(robot.model)
    assert m.joint("L_KNEE").range.tolist() == [-0.5, 0.5]
    assert m.jnt_limited.tolist() == [1, 1]
    np.testing.assert_allclose(robot.upper, [np.pi / 3, 0.5])


def test_a_limit_on_one_side_leaves_the_other_side_open(folder):
    robot = load(folder, TOML.replace("upper = 0.5\n", ""))
    m = mujoco.MjModel.from_xml_string(robot.model)
    assert robot.upper[1] == np.inf
    assert m.joint("L_KNEE").range[0] == -0.5
    assert m.joint("L_KNEE").range[1] > 1e5


def test_the_listed_order_is_the_order_of_every_array(folder):
    robot = load(folder, TOML.replace('model = "arm.xml"', 'model = "arm.xml"\njoints = ["L_KNEE", "L_HIP"]'))
    assert robot.joints == ("L_KNEE", "L_HIP")
    assert robot.stiffness.tolist() == [30.0, 20.0]
    np.testing.assert_allclose(robot.upper, [0.5, np.pi / 3])


def test_joints_left_out_of_the_list_do_not_move(folder):
    robot = load(folder, '[robot]\nmodel = "arm.xml"\njoints = ["L_HIP"]')
    assert mujoco.MjModel.from_xml_string(robot.model).nv == 1
    assert robot.name == "arm"


@pytest.mark.parametrize("armature", ["0.1", "[0.1, 0.1]", "{L_KNEE = 0.1, L_HIP = 0.1}"])
def test_published_dynamics_are_a_value_a_list_or_a_table_by_joint(folder, armature):
    rest = "damping = 0\nfriction = 0\nbias = 0\ndelay = 0.002\n"
    robot = load(folder, TOML + f"[dynamics]\narmature = {armature}\n{rest}")
    assert robot.dynamics is not None
    assert robot.dynamics.armature.tolist() == [0.1, 0.1]
    assert robot.dynamics.delay.tolist() == [0.002]


def test_a_bare_model_is_a_robot_with_unknown_gains(folder):
    robot = Robot.load(str(folder / "arm.xml"))
    assert np.isnan(robot.stiffness).all()
    assert np.isinf(robot.torque_limit).all()
    assert robot.dynamics is None
    assert mujoco.MjModel.from_xml_string(robot.scene).ngeom == 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("stiffness = 20.0", "stifness = 20.0"), "'stifness'; valid: match, stiffness, damping"),
        (("motor.k_i = 0.1", "motor = 0.1"), "motor in robot.toml is 0.1; write motor.k_i"),
        (("[robot]", "[rewards]\nenergy = true\n[robot]"), "energy in robot.toml is True; expected one number"),
        (("[robot]", "dynamics = 3\n[robot]"), r"expected a \[dynamics\] section"),
        (("motor.k_i", "motor.ki"), "'ki'; valid: k_i, resistance"),
        (('match = "*_KNEE"', 'match = "*_ANKLE"'), r"'\*_ANKLE' in robot.toml fits no joint; joints: L_HIP, L_KNEE"),
        (("[robot]", "[rowbot]"), "'rowbot'; valid: robot, joint, dynamics, rewards, battery"),
        (('model = "arm.xml"', ""), "names no model"),
        (('model = "arm.xml"', 'model = "leg.xml"'), "leg.xml, which is not there"),
        (("stiffness = 20.0", 'stiffness = "20"'), "stiffness in robot.toml is '20'; expected one number"),
        (("stiffness = 20.0", "stiffness = -1.0"), "stiffness of joint L_HIP is -1.0"),
        (("gear_ratio = [5.0, 6.0, 7.0]", "gear_ratio = [5.0, 6.0]"), "joint L_KNEE in robot.toml needs gear_position"),
        (("gear_ratio = [5.0, 6.0, 7.0]", "gear_ratio = 5.0"), "a fixed ratio is motor.gear_ratio"),
        (("[robot]", "[robot"), "is not TOML"),
        (('name = "arm"', 'name = "arm"\njoints = ["L_HIP", "L_TOE"]'), "'L_TOE'; valid: L_HIP, L_KNEE"),
        (('name = "arm"', 'name = "arm"\njoints = ["L_HIP", "L_HIP"]'), "listed twice"),
        (('name = "arm"', 'name = "arm"\njoints = "L_HIP"'), "joints in robot.toml"),
        (("[robot]", "[battery]\nvolume = 1\n[robot]"), "'volume'; valid: capacity, off, rest"),
        (("[robot]", "[battery]\noff = 9\nrest = 5\n[robot]"), "off = 9, rest = 5; expected capacity above 0"),
        (("[robot]", "[rewards]\nspeed = 1\n[robot]"), "'speed'; valid: velocity_tracking"),
        (("[robot]", "[dynamics]\narmature = 1\n[robot]"), "lacks damping, friction, bias, delay"),
        (("[robot]", "[dynamics]\ninertia = 1\n[robot]"), "'inertia'; valid: armature"),
    ],
)
def test_mistakes_in_a_robot_toml_are_answered_with_what_is_valid(folder, change, says):
    text = TOML.replace(*change, 1)
    assert text != TOML
    with pytest.raises(SurefootError, match=says):
        load(folder, text)


def test_a_single_joint_table_is_not_a_list_of_blocks(folder):
    with pytest.raises(SurefootError, match=r"robot.toml has \[joint\]; write \[\[joint\]\]"):
        load(folder, '[robot]\nmodel = "arm.xml"\n[joint]\nmatch = "*"\n')


def test_an_unknown_robot_is_answered_with_the_bundled_names():
    with pytest.raises(SurefootError, match=r"no robot 'anymall'.*anymal, minimal, single_drive, tytan"):
        Robot.load("anymall")


def test_a_folder_is_not_a_robot(tmp_path):
    with pytest.raises(SurefootError, match="nor a file"):
        Robot.load(tmp_path)


def test_a_posture_beyond_the_joint_limits_is_moved_inside_with_a_note():
    """A calf whose zero lies outside its range, as in many models of quadrupeds."""
    text = """<mujoco><compiler angle="radian"/><worldbody><body>
      <joint name="calf" axis="0 1 0" limited="true" range="-2.72 -0.84"/><inertial pos="0 0 -0.1" mass="1" diaginertia="1 1 1"/>
      <body><joint name="toe" axis="0 1 0" limited="true" range="0.2 0.25"/>
      <inertial pos="0 0 -0.1" mass="1" diaginertia="1 1 1"/>
      <body><joint name="free" axis="0 1 0"/><inertial pos="0 0 -0.1" mass="1" diaginertia="1 1 1"/></body></body></body>
    </worldbody></mujoco>"""
    robot = Robot.load(text)
    np.testing.assert_allclose(robot.posture, [-0.84 - 0.05, 0.2, 0.0])  # the toe's range has no room for two soft bands
    note = [n for n in robot.notes if "posture" in n]
    assert len(note) == 1
    assert "calf (0 to -0.89), toe (0 to 0.2)." in note[0]
