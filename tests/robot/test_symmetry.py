"""Mirror planes, held against MuJoCo's inverse dynamics: the image of a motion needs the image of its torque and wrench."""

from dataclasses import replace
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

from surefoot.errors import SurefootError
from surefoot.robot import Robot, bundled_names, symmetries
from surefoot.robot.canonical import set_range

PLANES = {"anymal": ("left-right", "front-hind"), "minimal": ("left-right", "front-hind"), "tytan": ("left-right",),
          "single_drive": ()}  # fmt: skip
MIRRORED = [(name, k) for name in PLANES for k in range(len(PLANES[name]))]


@pytest.mark.parametrize("name", PLANES)
def test_anymal_and_minimal_have_two_planes_tytan_one_and_a_single_drive_none(name):
    assert set(PLANES) == set(bundled_names())
    assert tuple(s.plane for s in symmetries(Robot.load(name))) == PLANES[name]


@pytest.mark.parametrize(("name", "k"), MIRRORED)
def test_an_image_of_an_image_is_the_motion_itself(name, k):
    s = symmetries(Robot.load(name))[k]
    x = np.random.default_rng(0).normal(size=(5, len(s.joints)))
    assert np.array_equal(s.mirror(s.mirror(x)), x)
    assert len(s.pairs) == len(s.joints) // 2


def inverse(robot, deviation, velocity, acceleration):
    """Joint torques, and the force and moment about the base's origin, by MuJoCo's inverse dynamics on a base that is held."""
    model = mujoco.MjModel.from_xml_string(robot.model)
    data, order = mujoco.MjData(model), [mujoco.mj_name2id(model, 3, j) for j in robot.joints]
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data.qpos[order], data.qvel[order], data.qacc[order] = robot.posture + deviation, velocity, acceleration
    mujoco.mj_inverse(model, data)
    mujoco.mj_rnePostConstraint(model, data)
    roots = np.flatnonzero(model.body_parentid == 0)[1:]
    forces, moments = data.cfrc_int[roots, 3:], data.cfrc_int[roots, :3]
    centres = data.subtree_com[model.body_rootid[roots]]
    return data.qfrc_inverse[order].copy(), forces.sum(0), (moments + np.cross(centres, forces)).sum(0)


@pytest.mark.parametrize(("name", "k"), MIRRORED)
def test_the_mirror_image_of_a_motion_needs_the_mirror_image_of_its_torque_and_wrench(name, k):
    robot = Robot.load(name)
    s = symmetries(robot)[k]
    motion = np.random.default_rng(1).normal(size=(3, robot.n)) * 0.3
    torque, force, moment = inverse(robot, *motion)
    image = inverse(robot, *s.mirror(motion))
    assert image[0] == pytest.approx(s.mirror(torque), abs=1e-9)
    assert image[1] == pytest.approx(s.polar * force, abs=1e-9)
    assert image[2] == pytest.approx(s.axial * moment, abs=1e-9)
    assert not np.allclose(s.mirror(torque), torque, rtol=0.1)  # the motion is not its own image


def test_legs_that_move_as_mirror_images_push_the_base_neither_sideways_nor_round():
    robot = Robot.load("anymal")
    motion = np.random.default_rng(2).normal(size=(3, robot.n)) * 0.3
    for s in symmetries(robot):
        motion = (motion + s.mirror(motion)) / 2
    _, force, moment = inverse(robot, *motion)
    assert np.abs(force[:2]).max() < 1e-9
    assert np.abs(moment).max() < 1e-9


def test_a_leg_that_hangs_a_centimetre_off_its_image_breaks_the_plane():
    robot = Robot.load("minimal")
    root = ElementTree.fromstring(robot.model)
    leg = root.find("worldbody/body")
    x, y, z = map(float, leg.get("pos").split())
    leg.set("pos", f"{x + 0.01} {y} {z}")
    assert symmetries(robot.replace(model=ElementTree.tostring(root, encoding="unicode"))) == ()


def test_a_range_that_is_not_the_image_of_its_partners_breaks_the_plane_unless_the_plane_is_given():
    robot = Robot.load("anymal")
    upper = robot.upper.copy()
    upper[robot.index("LF_KFE")] -= 0.3
    model = set_range(robot.model, "LF_KFE", float(robot.lower[2]), float(upper[2]))
    short = robot.replace(upper=upper, model=model)
    assert symmetries(short) == ()
    assert [s.plane for s in symmetries(short.replace(symmetry=("left-right",)))] == ["left-right"]


def test_a_plane_that_is_given_must_exist():
    drive = Robot.load("single_drive")
    with pytest.raises(SurefootError, match=r"exchanges no joints|no joint is the left-right mirror image"):
        symmetries(drive.replace(symmetry=("left-right",)))
    with pytest.raises(SurefootError, match="left-right, front-hind"):
        symmetries(drive.replace(symmetry=("diagonal",)))


def test_symmetry_in_a_toml_is_a_list_of_names(tmp_path):
    (tmp_path / "m.xml").write_text(Robot.load("minimal").model)
    file = tmp_path / "robot.toml"
    file.write_text('[robot]\nmodel = "m.xml"\nsymmetry = []\n')
    assert symmetries(Robot.load(file)) == ()
    file.write_text('[robot]\nmodel = "m.xml"\nsymmetry = "left-right"\n')
    with pytest.raises(SurefootError, match=r"symmetry in robot.toml is .*expected a list"):
        Robot.load(file)


def test_the_record_is_frozen():
    s = symmetries(Robot.load("anymal"))[0]
    with pytest.raises(ValueError, match="read-only"):
        s.sign[0] = 3.0
    assert replace(s, plane="other").plane == "other"
