"""Real URDFs, as published by their makers: package:// meshes, empty links, thin inertias."""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import mujoco
import numpy as np
import pytest

from surefoot.robot import Robot

try:
    _PACKAGE = distribution("example-robot-data")
except PackageNotFoundError:
    pytest.skip("example-robot-data is not installed", allow_module_level=True)

ROBOTS = Path(str(_PACKAGE.locate_file("cmeel.prefix/share/example-robot-data/robots")))

CASES = [
    ("go2_description/urdf/go2.urdf", 12, 16.1),
    ("solo_description/robots/solo12.urdf", 12, 2.5),
    ("anymal_c_simple_description/urdf/anymal.urdf", 12, 52.1),
    ("anymal_b_simple_description/robots/anymal.urdf", 12, 30.5),
    ("ur_description/urdf/ur5_robot.urdf", 6, 21.0),
    ("allegro_hand_description/urdf/allegro_right_hand.urdf", 16, 0.95),
    ("g1_description/urdf/g1_29dof_rev_1_0.urdf", 29, 33.3),
    ("g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf", 43, 34.4),
    ("talos_data/robots/talos_reduced.urdf", 32, 90.3),
    ("talos_data/robots/talos_full_v2.urdf", 44, 93.3),
    ("panda_description/urdf/panda.urdf", 9, 17.5),
    ("a1_description/urdf/a1.urdf", 12, 13.7),
    ("go1_description/urdf/go1.urdf", 12, 13.1),
    ("b1_description/urdf/b1.urdf", 12, 55.7),
    ("laikago_description/urdf/laikago.urdf", 12, 25.4),
    ("so_arm_description/urdf/so101.urdf", 6, 0.63),
    ("bolt_description/robots/bolt.urdf", 6, 1.25),
    ("icub_description/robots/icub.urdf", 32, 28.4),
    ("tiago_description/robots/tiago_dual.urdf", 101, 98.0),
]


@pytest.mark.parametrize(("path", "joints", "mass"), CASES, ids=[c[0].split("/")[-1] for c in CASES])
def test_a_published_urdf_loads_with_its_joints_and_its_mass(path, joints, mass):
    robot = Robot.load(ROBOTS / path)
    m = mujoco.MjModel.from_xml_string(robot.model)
    assert robot.n == joints == m.nv
    assert tuple(m.joint(j).name for j in range(m.njnt)) == robot.joints
    assert robot.mass == pytest.approx(mass, rel=0.01)
    assert m.nbody == joints + 1


@pytest.mark.parametrize("path", [c[0] for c in CASES], ids=[c[0].split("/")[-1] for c in CASES])
def test_its_mass_matrix_is_positive_definite_in_the_air(path):
    robot = Robot.load(ROBOTS / path)
    m = mujoco.MjModel.from_xml_string(robot.model)
    data = mujoco.MjData(m)
    data.qpos[:] = np.random.default_rng(0).uniform(-0.5, 0.5, m.nq)
    mujoco.mj_forward(m, data)
    mass = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, data, mass)
    assert np.linalg.eigvalsh(mass)[0] > 0


def test_what_was_repaired_in_anymal_b_is_said():
    notes = Robot.load(ROBOTS / "anymal_b_simple_description/robots/anymal.urdf").notes
    assert any("inertia" in note and "base" in note for note in notes)
