"""Shapes: the capsules of a robot stand where MuJoCo's geoms stand."""

import mujoco
import numpy as np
import pytest

from surefoot.robot import Robot, bundled_names
from surefoot.robot.shape import shape_of

CASE = """<mujoco><compiler angle="radian"/>
  <asset><mesh name="m" vertex="0 0 0  0.3 0 0  0 0.1 0  0 0 0.05  0.3 0.1 0.05"/></asset>
  <worldbody><geom type="plane" size="1 1 1"/>
  <body name="a"><joint name="j" axis="0 0 1" pos="0.1 0 0" ref="0.2"/>
    <geom type="{0}" size="{1}" {2}/></body></worldbody></mujoco>"""


def drawn(tmp_path, kind, size, more=""):
    path = tmp_path / "case.xml"
    path.write_text(CASE.format(kind, size, more))
    return Robot.load(path), shape_of(Robot.load(path))


@pytest.mark.parametrize("name", bundled_names())
def test_every_bundled_robot_is_drawn_from_its_own_shapes(name):
    robot = Robot.load(name)
    shape, model = shape_of(robot), mujoco.MjModel.from_xml_string(robot.scene)
    assert len(shape.links) == model.nbody - 1
    assert {axis.joint for link in shape.links for axis in link.axes} == set(robot.joints)
    assert all(link.parent < i for i, link in enumerate(shape.links))
    assert len({c.link for c in shape.capsules}) == len(shape.links)


def test_a_capsule_and_a_sphere_are_drawn_as_they_are(tmp_path):
    _, shape = drawn(tmp_path, "capsule", "0.03", 'fromto="0 0 0 0 0 -0.4"')
    (one,) = shape.capsules
    assert one.radius == pytest.approx(0.03)
    np.testing.assert_allclose(sorted([one.start[2], one.end[2]]), [-0.4, 0.0], atol=1e-12)
    (ball,) = drawn(tmp_path, "sphere", "0.05", 'pos="1 2 3"')[1].capsules
    np.testing.assert_allclose([ball.start, ball.end], [[1, 2, 3]] * 2)


def test_a_flat_box_is_a_raft_as_long_and_wide_and_thick_as_the_box(tmp_path):
    _, shape = drawn(tmp_path, "box", "0.3 0.1 0.04")
    reach = np.max([np.abs(end) + c.radius for c in shape.capsules for end in (c.start, c.end)], axis=0)
    np.testing.assert_allclose(reach, [0.3, 0.1, 0.04], atol=1e-12)
    assert len(shape.capsules) == 3


def test_a_mesh_is_drawn_by_its_box_and_gives_way_to_plain_shapes(tmp_path):
    _, shape = drawn(tmp_path, "mesh", "1", 'mesh="m"')
    assert shape.capsules
    path = tmp_path / "both.xml"
    path.write_text(CASE.format("sphere", "0.05", '/><geom type="mesh" mesh="m"'))
    assert len(shape_of(Robot.load(path)).capsules) == 1


def test_a_model_without_shapes_is_drawn_as_sticks_from_joint_to_joint(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(
        '<mujoco><worldbody><body name="a" pos="0 0 1"><joint name="j"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        '<body name="b" pos="0.5 0 0"><joint name="k"/><inertial pos="0.1 0 0" mass="1" diaginertia="1 1 1"/></body></body>'
        "</worldbody></mujoco>"
    )
    sticks = [c for c in shape_of(Robot.load(path)).capsules if c.link >= 0]
    np.testing.assert_allclose([c.end for c in sticks], [[0.5, 0, 0], [0.2, 0, 0]])


def test_a_joints_axis_anchor_and_reference_are_the_models(tmp_path):
    _, shape = drawn(tmp_path, "sphere", "0.05")
    (axis,) = shape.links[0].axes
    assert (axis.joint, axis.kind, axis.reference) == ("j", "hinge", pytest.approx(0.2))
    np.testing.assert_allclose(axis.anchor, [0.1, 0, 0])
