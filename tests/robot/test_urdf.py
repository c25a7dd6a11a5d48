import mujoco
import numpy as np
import pytest

from surefoot.errors import SurefootError
from surefoot.robot import read_model
from surefoot.robot.urdf import LEAST_INERTIA, LEAST_MASS

INERTIAL = '<inertial><mass value="{m}"/><inertia ixx="{x}" iyy="{y}" izz="{z}" ixy="0" ixz="0" iyz="0"/></inertial>'


def link(name: str, m: float = 1.0, x: float = 0.1, y: float = 0.1, z: float = 0.1) -> str:
    shape = '<visual><geometry><mesh filename="package://nowhere/a.stl"/></geometry></visual>'
    return f'<link name="{name}">{INERTIAL.format(m=m, x=x, y=y, z=z)}{shape}</link>'


def joint(name: str, parent: str, child: str, kind: str = "revolute", more: str = "") -> str:
    limit = '<limit lower="-1" upper="2" effort="30" velocity="5"/>' if kind in ("revolute", "prismatic") else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="0 0 -0.3"/>'
        f'<axis xyz="0 1 0"/>{more or limit}</joint>'
    )


def robot(*parts: str) -> str:
    return f'<robot name="r">{"".join(parts)}</robot>'


def test_a_urdf_loads_without_its_meshes_and_keeps_mass_limits_and_effort():
    model = read_model(robot(link("base", 7.0), link("leg", 2.0), joint("knee", "base", "leg")))
    assert model.joints == ("knee",)
    assert (model.lower[0], model.upper[0], model.torque_limit[0]) == (-1.0, 2.0, 30.0)
    assert model.mass == 9.0
    assert model.notes == ()


def test_an_effort_of_zero_means_no_limit_is_known():
    limit = '<limit lower="-1" upper="1" effort="0" velocity="0"/>'
    model = read_model(robot(link("base"), link("leg"), joint("knee", "base", "leg", more=limit)))
    assert model.torque_limit[0] == np.inf


def test_a_moving_link_without_mass_gets_the_least_one_and_is_named():
    model = read_model(robot(link("base"), '<link name="ghost"/>', joint("knee", "base", "ghost")))
    m = mujoco.MjModel.from_xml_string(model.canonical)
    assert m.body_mass[1] == LEAST_MASS
    np.testing.assert_allclose(m.body_inertia[1], LEAST_INERTIA)
    assert "without mass" in model.notes[0]
    assert "ghost" in model.notes[0]


def test_a_moving_frame_that_carries_a_welded_body_needs_no_repair():
    parts = link("base"), '<link name="frame"/>', link("leg", 2.0)
    model = read_model(robot(*parts, joint("knee", "base", "frame"), joint("weld", "frame", "leg", "fixed")))
    m = mujoco.MjModel.from_xml_string(model.canonical)
    assert model.notes == ()
    assert m.body_mass[1] == 2.0
    assert m.body_ipos[1].tolist() == [0.0, 0.0, -0.3]


def test_a_tiny_inertia_is_raised_and_named():
    model = read_model(robot(link("base"), link("sensor", 0.01, 1e-14, 1e-14, 1e-14), joint("knee", "base", "sensor")))
    assert mujoco.MjModel.from_xml_string(model.canonical).body_inertia[1].min() >= LEAST_INERTIA
    assert "sensor" in model.notes[0]


def test_an_inertia_with_a_zero_is_raised_only_as_far_as_a_body_needs():
    model = read_model(robot(link("base"), link("leg", 1.0, 0.0, 0.1, 0.5), joint("knee", "base", "leg")))
    inertia = np.sort(mujoco.MjModel.from_xml_string(model.canonical).body_inertia[1])
    np.testing.assert_allclose(inertia, [0.1, 0.4, 0.5], rtol=1e-6)
    assert len(model.notes) == 1


def test_an_inertia_that_no_body_can_have_is_named():
    model = read_model(robot(link("base"), link("leg", 1.0, 0.1, 0.1, 0.5), joint("knee", "base", "leg")))
    assert "A + B < C" in model.notes[0]
    assert "leg" in model.notes[0]


def test_a_floating_root_is_fixed_in_the_air():
    parts = '<link name="world"/>', link("base"), link("leg")
    model = read_model(robot(*parts, joint("root", "world", "base", "floating"), joint("knee", "base", "leg")))
    assert model.joints == ("knee",)
    assert "floating joint root" in model.notes[0]


def test_prismatic_continuous_and_planar_joints_are_joints():
    parts = link("base"), link("a"), link("b"), link("c")
    joints = joint("s", "base", "a", "prismatic"), joint("c", "a", "b", "continuous"), joint("p", "b", "c", "planar")
    model = read_model(robot(*parts, *joints))
    assert model.kinds == ("slide", "hinge", "slide", "slide", "hinge")
    assert model.joints[:2] == ("s", "c")
    assert model.lower.tolist() == [-1.0, -np.inf, -np.inf, -np.inf, -np.inf]


@pytest.mark.parametrize(
    "limit", ["", '<limit effort="1" velocity="1"/>', '<limit lower="0" upper="0" effort="1" velocity="1"/>']
)
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_a_range_that_is_missing_or_empty_means_no_limit(kind, limit):
    model = read_model(robot(link("base"), link("leg"), joint("knee", "base", "leg", kind, more=limit or "<dynamics/>")))
    assert (model.lower[0], model.upper[0]) == (-np.inf, np.inf)
    assert "no usable range" in model.notes[0]


def test_a_mimic_joint_is_an_ordinary_joint_that_the_notes_name():
    parts = link("base"), link("a"), link("b")
    mimic = '<limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="f" multiplier="2"/>'
    model = read_model(robot(*parts, joint("f", "base", "a"), joint("g", "base", "b", more=mimic)))
    assert model.joints == ("f", "g")
    assert "g (follows f)" in model.notes[0]


def test_a_xacro_template_is_refused_with_the_command_that_expands_it(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(robot(link("base").replace("7.0", "${m}"), link("leg").replace('"1.0"', '"${m}"'), joint("k", "base", "leg")))
    with pytest.raises(SurefootError, match=r"xacro r.urdf > robot.urdf"):
        read_model(path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (robot(link("base").replace('"1.0"', '"heavy"'), link("leg"), joint("k", "base", "leg")), "not a number"),
        (
            robot(link("base"), link("leg"), '<joint name="k" type="revolute"/>'),
            "joint k of the URDF lacks its <parent>",
        ),
        (robot(link("base"), joint("k", "base", "nowhere")), "MuJoCo cannot read"),
        (robot(link("base")), "no hinge or slide joint"),
    ],
)
def test_broken_urdfs_are_refused_in_a_sentence(text, says):
    with pytest.raises(SurefootError, match=says):
        read_model(text)
