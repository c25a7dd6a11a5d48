import mujoco
import numpy as np
import pytest

from surefoot.robot import Robot, bundled_names, drive_torque, torque_bounds

QUADRUPEDS = ("anymal", "tytan", "minimal")
LEGS = ("LF", "RF", "LH", "RH")


def at_home(robot: Robot) -> tuple[mujoco.MjModel, mujoco.MjData]:
    m = mujoco.MjModel.from_xml_string(robot.scene)
    data = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, data, 0)
    mujoco.mj_forward(m, data)
    return m, data


def test_the_paper_s_robots_are_bundled():
    assert bundled_names() == ("anymal", "minimal", "single_drive", "tytan")


@pytest.mark.parametrize("name", QUADRUPEDS)
def test_a_quadruped_has_twelve_joints_leg_by_leg(name):
    assert Robot.load(name).joints == tuple(f"{leg}_{j}" for leg in LEGS for j in ("HAA", "HFE", "KFE"))


@pytest.mark.parametrize(
    ("name", "mass", "height", "width", "depth", "thigh", "shank"),
    [
        ("anymal", 52.8, 0.55, 0.20, 0.75, 0.30, 0.38),
        ("tytan", 52.3, 0.62, 0.22, 0.73, 0.40, 0.37),
        ("minimal", 4.2, 0.25, 0.16, 0.39, 0.15, 0.16),
    ],
)
def test_weight_and_lengths_are_the_paper_s(name, mass, height, width, depth, thigh, shank):
    robot = Robot.load(name)
    m, data = at_home(robot)
    assert robot.mass == pytest.approx(mass, abs=1e-9)
    np.testing.assert_allclose(m.body("LF_HIP").pos - m.body("RH_HIP").pos, [depth, width, 0.0], atol=1e-12)
    assert np.linalg.norm(m.body("LF_SHANK").pos) == pytest.approx(thigh)
    assert np.linalg.norm(m.geom("LF_FOOT").pos) == pytest.approx(shank)
    assert data.body("LF_HIP").xpos[2] == pytest.approx(height)


@pytest.mark.parametrize("name", QUADRUPEDS)
def test_in_the_home_posture_the_feet_stand_on_the_ground_under_the_shoulders(name):
    robot = Robot.load(name)
    m, data = at_home(robot)
    np.testing.assert_allclose(data.qpos[7:], robot.posture)
    for leg in LEGS:
        foot, hip = data.geom(f"{leg}_FOOT").xpos, data.body(f"{leg}_HIP").xpos
        assert abs(foot[2] - m.geom(f"{leg}_FOOT").size[0]) < 0.002
        assert abs(foot[0] - hip[0]) < 0.005
    assert data.ncon == 0
    assert np.abs(data.subtree_com[1][:2]).max() < 1e-9


def test_minimal_has_three_quarters_of_its_mass_in_the_base():
    m, _ = at_home(Robot.load("minimal"))
    assert m.body("base").mass[0] / 4.2 == pytest.approx(0.76)
    assert m.body_subtreemass[m.body("LF_HIP").id] / 4.2 == pytest.approx(0.06)


def test_tytan_s_leg_is_the_paper_s_cad_leg():
    m, _ = at_home(Robot.load("tytan"))
    thigh, shank = m.body("LF_THIGH"), m.body("LF_SHANK")
    assert (thigh.mass[0], shank.mass[0]) == (3.612, 0.4535)
    assert thigh.mass[0] * thigh.ipos[2] ** 2 == pytest.approx(0.0203, abs=5e-5)  # the paper's CoM-induced thigh inertia
    assert (thigh.inertia[1], shank.inertia[1]) == (0.0228, 0.0107)


@pytest.mark.parametrize(
    ("name", "p", "d", "energy"), [("anymal", 85, 0.6, -16e-5), ("tytan", 60, 2, -16e-5), ("minimal", 4, 0.05, -128e-5)]
)
def test_gains_and_rewards_are_the_paper_s(name, p, d, energy):
    robot = Robot.load(name)
    assert set(robot.stiffness) == {p}
    assert set(robot.damping) == {d}
    assert robot.rewards == {"velocity_tracking": 0.2, "energy": energy, "collisions": -1.0, "touchdown": -0.1}


def extremes(robot: Robot, joint: str) -> tuple[float, float, float, float]:
    """Smallest and largest joint torque, and no-load speed, over the range of a joint."""
    i = robot.index(joint)
    q = np.tile(robot.posture, (2001, 1))
    q[:, i] = np.linspace(robot.lower[i], robot.upper[i], 2001)
    torque = torque_bounds(robot, q, np.zeros_like(q))[1][:, i]
    speed = robot.no_load_speed[i] / np.interp(q[:, i], robot.gear_position[i], robot.gear_ratio[i])
    return torque.min(), torque.max(), speed.min(), speed.max()


@pytest.mark.parametrize(
    ("name", "joint", "expected"),
    [
        ("tytan", "LF_KFE", (28, 315, 3, 36)),
        ("tytan", "RH_KFE", (28, 315, 3, 36)),
        ("minimal", "LF_HAA", (2.9, 6.4, 45, 99.4)),
        ("minimal", "LH_HFE", (2.9, 6.4, 45, 99.4)),
        ("minimal", "RF_KFE", (2.9, 6.4, 45, 99.4)),
    ],
)
def test_gear_tables_reproduce_the_paper_s_joint_torques_and_speeds(name, joint, expected):
    np.testing.assert_allclose(extremes(Robot.load(name), joint), expected, rtol=0.08)


@pytest.mark.parametrize(("name", "limit", "speed"), [("anymal", 89, 8.5), ("tytan", 140, 16.8), ("single_drive", 140, 16.8)])
def test_fixed_gears_have_the_paper_s_joint_torque_and_speed(name, limit, speed):
    robot = Robot.load(name)
    assert robot.torque_limit[0] == limit
    assert robot.no_load_speed[0] == speed
    assert not robot.geared[0]


def test_the_published_dynamics_are_complete_and_in_joint_order():
    dynamics = {name: Robot.load(name).dynamics for name in QUADRUPEDS}
    assert dynamics["anymal"].armature[[0, 11]].tolist() == [0.076, 0.051]
    assert dynamics["tytan"].damping[[2, 8]].tolist() == [2.1, 3.9]
    assert dynamics["minimal"].armature[3] == pytest.approx(5.6e-5)
    assert dynamics["minimal"].bias[11] == 0.0188
    assert [d.delay.tolist() for d in dynamics.values()] == [[0.0075], [0.0075], [0.0]]
    assert all((d.friction > 0.01).all() for d in dynamics.values())  # torques of ours, never the paper's coefficient


def test_the_single_drive_has_the_paper_s_largest_output_inertia():
    robot = Robot.load("single_drive")
    m = mujoco.MjModel.from_xml_string(robot.model)
    m.dof_armature[:] = robot.dynamics.armature
    data = mujoco.MjData(m)
    mujoco.mj_forward(m, data)
    inertia = np.zeros((1, 1))
    mujoco.mj_fullM(m, data, inertia)
    assert inertia[0, 0] == pytest.approx(6.27e-2, rel=0.005)


def step_response(robot: Robot, seconds: float) -> np.ndarray:
    """Joint positions after a 0.1 rad step of every target, in the air, with the published dynamics."""
    m = mujoco.MjModel.from_xml_string(robot.model)
    dynamics = robot.dynamics
    m.dof_armature[:], m.dof_damping[:], m.dof_frictionloss[:] = dynamics.armature, dynamics.damping, dynamics.friction
    data = mujoco.MjData(m)
    data.qpos[:] = robot.posture
    path = []
    for _ in range(round(seconds / m.opt.timestep)):
        gains = {"stiffness": robot.stiffness, "damping": robot.damping, "bias": dynamics.bias}
        data.qfrc_applied[:] = drive_torque(robot, robot.posture + 0.1, data.qpos, data.qvel, **gains)
        mujoco.mj_step(m, data)
        path.append(data.qpos.copy())
    return np.array(path)


@pytest.mark.parametrize("name", ["anymal", "tytan", "minimal", "single_drive"])
def test_with_published_gains_and_dynamics_every_joint_settles_at_the_paper_s_step_size(name):
    robot = Robot.load(name)
    path = step_response(robot, 3.0)
    late = path[-200:]
    assert np.ptp(late, axis=0).max() < 0.002
    assert np.abs(late - robot.posture - 0.1).max() < 0.15  # gravity over P, bias and friction remain
    assert np.isfinite(path).all()
