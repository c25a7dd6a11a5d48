"""Which shapes of a URDF survive."""

import xml.etree.ElementTree as ET

import mujoco
import pytest

from surefoot.robot import Robot

URDF = """<robot name="leg">
  <link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><sphere radius="9"/></geometry></visual>
    <collision><geometry><box size="0.1 0.2 0.3"/></geometry></collision></link>
  <link name="shank"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><mesh filename="{mesh}" scale="2 2 2"/></geometry></collision></link>
  <joint name="knee" type="revolute"><parent link="base"/><child link="shank"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="5" velocity="5"/></joint>
</robot>"""
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "my_robot"
    (folder / "urdf").mkdir(parents=True)
    (folder / "meshes").mkdir()
    (folder / "meshes" / "shank.obj").write_text(TETRAHEDRON)
    return folder


def shapes(folder, mesh):
    path = folder / "urdf" / "leg.urdf"
    path.write_text(URDF.format(mesh=mesh))
    model = mujoco.MjSpec.from_string(Robot.load(path).scene).compile()
    return sorted(mujoco.mjtGeom(int(kind)).name for kind in model.geom_type)


@pytest.mark.parametrize("mesh", ["package://my_robot/meshes/shank.obj", "../meshes/shank.obj"])
def test_a_mesh_is_found_by_its_package_or_beside_the_file(package, mesh):
    assert shapes(package, mesh) == ["mjGEOM_BOX", "mjGEOM_MESH"]


def test_a_whole_path_is_a_whole_path(package):
    assert shapes(package, f"file://{package}/meshes/shank.obj") == ["mjGEOM_BOX", "mjGEOM_MESH"]


def test_a_package_is_found_where_ros_looks(package, tmp_path, monkeypatch):
    elsewhere = tmp_path / "far" / "urdf"
    elsewhere.mkdir(parents=True)
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(package))
    assert shapes(elsewhere.parent, "package://my_robot/meshes/shank.obj") == ["mjGEOM_BOX", "mjGEOM_MESH"]


@pytest.mark.parametrize("mesh", ["package://my_robot/meshes/missing.stl", "package://my_robot/meshes/shank.dae"])
def test_a_mesh_that_is_missing_or_cannot_be_read_is_left_out_and_what_is_only_seen_too(package, mesh):
    (package / "meshes" / "shank.dae").write_text("<COLLADA/>")
    assert shapes(package, mesh) == ["mjGEOM_BOX"]


def test_the_text_in_the_air_is_as_before(package):
    (package / "urdf" / "leg.urdf").write_text(URDF.format(mesh="../meshes/shank.obj"))
    robot = Robot.load(package / "urdf" / "leg.urdf")
    assert "geom" not in {element.tag for element in ET.fromstring(robot.model).iter()}
    assert robot.notes == ()
