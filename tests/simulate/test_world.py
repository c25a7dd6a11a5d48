"""The training world: the same physics as the fit's in the air, and Newton's laws on the ground."""

import numpy as np
import pytest
from rigs import chirp
from walkers import hung, placed, start

from surefoot import Physics, Robot, SurefootError
from surefoot.robot.dynamics import JointDynamics
from surefoot.simulate.frames import to_world
from surefoot.simulate.inair import InAir
from surefoot.simulate.on_ground import make_world
from surefoot.simulate.reference import Reference
from surefoot.simulate.terrain import terrain

ANYMAL = Robot.load("anymal")
RNG = np.random.default_rng(0)


def in_air(robot, recording, dynamics, physics, engine=InAir):
    return engine(robot, recording, physics).trajectories(JointDynamics.stack([dynamics]))[0][0]


@pytest.mark.parametrize("name", ["anymal", "tytan", "minimal"])
@pytest.mark.parametrize(("h", "substeps"), [(0.0025, 1), (0.005, 4)])
def test_a_recording_replayed_with_the_base_fixed_is_the_in_air_engines(name, h, substeps):
    """To 1e-6 rad; targets arrive every step, or every fourth and are held."""
    robot, physics = Robot.load(name), Physics(timestep=h)
    recording = chirp(robot, seconds=4.0, rate=1 / (h * substeps), command_hold=substeps > 1)
    expected = in_air(robot, recording, robot.dynamics, physics)
    readings = hung(robot, recording, robot.dynamics, physics, substeps=substeps)
    assert np.abs(readings - expected).max() < 1e-6
    assert np.ptp(expected, axis=0).min() > 0.05
    other = robot.dynamics.replace(delay=robot.dynamics.delay + 0.001)
    assert np.abs(hung(robot, recording, other, physics, substeps=substeps) - expected).max() > 1e-4


OPTIONS = {
    "load": {"load": np.full(12, 3.0)},
    "breakaway": {"breakaway": np.full(12, 2.0), "stribeck_speed": np.array([0.3])},
    "load_friction": {"load_friction": np.full(12, 0.1)},
    "cutoff": {"cutoff": np.array([20.0])},
    "gain_scale": {"gain_scale": np.array([0.8])},
    "delay": {"delay": np.linspace(0, 0.02, 12)},
}


@pytest.mark.parametrize("option", OPTIONS)
def test_every_optional_parameter_acts_as_in_the_fit(option):
    recording, physics = chirp(ANYMAL, seconds=0.6), Physics()
    dynamics = ANYMAL.dynamics.replace(**OPTIONS[option])
    expected = in_air(ANYMAL, recording, dynamics, physics, Reference)
    assert np.abs(hung(ANYMAL, recording, dynamics, physics) - expected).max() < 1e-6
    assert np.abs(hung(ANYMAL, recording, ANYMAL.dynamics, physics) - expected).max() > 1e-4


@pytest.mark.parametrize("physics", [Physics(delay_on="torque"), Physics(bias_form="setpoint")], ids=["torque", "setpoint"])
def test_the_fits_conventions_are_the_worlds(physics):
    recording = chirp(ANYMAL, seconds=0.6)
    expected = in_air(ANYMAL, recording, ANYMAL.dynamics, physics, Reference)
    assert np.abs(hung(ANYMAL, recording, ANYMAL.dynamics, physics) - expected).max() < 1e-6
    assert np.abs(hung(ANYMAL, recording, ANYMAL.dynamics, Physics()) - expected).max() > 1e-4


def touching(state):
    return {part: bool(getattr(state, f"{part}_contact").any()) for part in ("foot", "thigh", "shank", "trunk")}


@pytest.mark.parametrize("name", ["anymal", "tytan", "minimal"])
def test_a_robot_that_stands_weighs_on_its_feet_alone(name):
    robot = Robot.load(name)
    stiffer = 4 if name == "tytan" else 1  # with its own gains it sinks until it tips over
    robot = robot.with_gains(stiffer * robot.stiffness, stiffer * robot.damping)
    world = placed(robot)
    for _ in range(60):
        motion = world.step(robot.posture[None])
    state = world.read()
    assert motion.foot_force[0, :, :, 2].sum(-1) == pytest.approx(9.81 * world.mass, rel=0.02)
    assert state.foot_contact.all()
    assert touching(state) == {"foot": True, "thigh": False, "shank": False, "trunk": False}
    assert state.position[0, 2] == pytest.approx(world.stand_height, rel=0.2)
    np.testing.assert_allclose(state.down[0], [0, 0, -1], atol=0.1)


def test_what_touches_the_ground_is_told_apart():
    knees, feet_up = ANYMAL.posture.copy(), ANYMAL.posture.copy()
    knees[[1, 4]], knees[[2, 5]] = 0.0, -2.6  # front thighs straight down, shanks folded up
    feet_up[2::3] *= 0.0
    feet_up[1::3] = np.where(ANYMAL.posture[1::3] > 0, 2.2, -2.2)  # all legs point up
    heights = {"air": 5.0, "stand": -0.003, "kneel": -0.17, "lie": -0.49}
    shapes = {"air": ANYMAL.posture, "stand": ANYMAL.posture, "kneel": knees, "lie": feet_up}
    found = {}
    for name, lift in heights.items():
        world = placed(ANYMAL)
        quaternion = np.array([[np.cos(0.1), 0, np.sin(0.1), 0]]) if name == "kneel" else np.array([[1.0, 0, 0, 0]])
        begin = start(world, ANYMAL, 1, lift=lift, joint_position=shapes[name][None], quaternion=quaternion)
        world.reset(np.array([0]), begin)
        found[name] = touching(world.read())
    nothing = dict.fromkeys(found["air"], False)
    assert found["air"] == nothing
    assert found["stand"] == nothing | {"foot": True}
    assert found["kneel"]["thigh"]
    assert not found["kneel"]["trunk"]
    assert found["lie"] == nothing | {"trunk": True}


def test_the_torque_is_what_the_drives_gave_and_the_foot_moves_as_it_says():
    world = placed(ANYMAL, substeps=1, h=0.0025, lift=0.3)
    before, moved, said = world.read().foot_position, [], []
    for k in range(20):
        motion = world.step(ANYMAL.posture[None] + 0.1 * np.sin(k / 3))
        moved.append((world.read().foot_position - before)[0] / 0.0025)
        said.append(motion.foot_velocity[0, 0])
        before = world.read().foot_position
    np.testing.assert_allclose(moved[2:], said[2:], atol=2e-3)
    p, d = ANYMAL.stiffness, ANYMAL.damping
    encoder = motion.joint_position[0, 0] - ANYMAL.dynamics.bias
    felt = (world.drives.weights[0] * world.drives.past).sum(0)[0]
    np.testing.assert_allclose(motion.torque[0, 0], p * (felt - encoder) - d * motion.joint_velocity[0, 0], atol=1e-9)


def test_a_robot_in_free_fall_gains_speed_by_gravity_and_by_the_wrench_on_its_base():
    world = placed(ANYMAL, lift=20.0, robots=2)
    force = np.array([30.0, -20.0, 50.0])
    world.wrench[1, :3] = force
    for _ in range(10):
        motion = world.step(np.tile(ANYMAL.posture, (2, 1)))
    seconds = 39 * 0.005
    np.testing.assert_allclose(motion.com_velocity[0, -1], [0, 0, -9.81 * seconds], atol=1e-3)
    np.testing.assert_allclose(motion.com_velocity[1, -1] - motion.com_velocity[0, -1], force / world.mass * seconds, atol=1e-3)


def test_a_push_adds_to_the_velocity_in_the_worlds_axes():
    world = placed(ANYMAL, lift=1.0, robots=2)
    turned = np.array([[0.5, 0.5, 0.5, 0.5]])
    world.reset(np.array([1]), start(world, ANYMAL, 1, quaternion=turned, velocity=np.array([[0.3, 0.0, 0.0]])))
    world.push(np.array([1]), np.array([[0.5, -0.2, 0.1, 1.0, 2.0, 3.0]]))
    state = world.read()
    assert not state.velocity[0].any()
    moved = to_world(turned, np.array([[0.3, 0.0, 0.0]])) + np.array([0.5, -0.2, 0.1])
    np.testing.assert_allclose(to_world(state.quaternion[1:], state.velocity[1:]), moved, atol=1e-12)
    np.testing.assert_allclose(to_world(state.quaternion[1:], state.rate[1:])[0], [1.0, 2.0, 3.0], atol=1e-12)


def test_on_ice_a_side_force_moves_a_robot_that_rubber_would_hold():
    world = placed(ANYMAL, robots=2)
    world.friction[:] = 0.05, 1.0
    world.wrench[:, 1] = 0.15 * 9.81 * world.mass
    for _ in range(25):
        world.step(np.tile(ANYMAL.posture, (2, 1)))
    slid = world.read().foot_position[:, :, 1] - placed(ANYMAL).read().foot_position[0, :, 1]
    assert (slid[0] > 0.08).all()
    assert (np.abs(slid[1]) < 0.05).all()


def test_what_is_reset_is_read_back_and_the_others_go_on():
    world = placed(ANYMAL, robots=3)
    world.step(np.tile(ANYMAL.posture, (3, 1)))
    before = world.read()
    q, v = ANYMAL.posture + 0.1, RNG.normal(size=12)
    rate, velocity = np.array([[0.1, 0.2, 0.3]]), np.array([[1.0, 2.0, 3.0]])
    begin = start(world, ANYMAL, 1, lift=2.0, joint_position=q[None], joint_velocity=v[None], velocity=velocity, rate=rate)
    world.reset(np.array([1]), begin)
    after = world.read()
    for name, value in (("joint_position", q), ("joint_velocity", v), ("velocity", velocity[0]), ("rate", rate[0])):
        np.testing.assert_allclose(getattr(after, name)[1], value, atol=1e-12)
        np.testing.assert_array_equal(getattr(after, name)[[0, 2]], getattr(before, name)[[0, 2]])
    np.testing.assert_allclose(after.encoder[1], q - ANYMAL.dynamics.bias)
    assert not after.foot_contact[1].any()
    assert after.foot_contact[[0, 2]].all()


def test_a_robots_fate_depends_neither_on_its_neighbours_nor_on_the_threads():
    targets = ANYMAL.posture + 0.2 * RNG.normal(size=(10, 3, 12))
    crowd, alone = placed(ANYMAL, robots=3, threads=2), placed(ANYMAL, threads=1)
    for target in targets:
        crowd.step(target)
        alone.step(target[2:])
    np.testing.assert_array_equal(crowd.read().joint_position[2], alone.read().joint_position[0])


def test_robots_may_have_dynamics_of_their_own():
    other = ANYMAL.dynamics.replace(
        armature=ANYMAL.dynamics.armature * 2, damping=ANYMAL.dynamics.damping / 2, friction=np.full(12, 0.3),
        bias=-ANYMAL.dynamics.bias, delay=np.array([0.017]), gain_scale=np.array([0.9]),
    )  # fmt: skip
    both = placed(ANYMAL, robots=2, dynamics=JointDynamics.stack([ANYMAL.dynamics, other]))
    apart = [placed(ANYMAL, dynamics=d) for d in (ANYMAL.dynamics, other)]
    for target in ANYMAL.posture + 0.1 * RNG.normal(size=(15, 1, 12)):
        both.step(np.repeat(target, 2, axis=0))
        for world in apart:
            world.step(target)
    expected = np.concatenate([world.read().joint_position for world in apart])
    np.testing.assert_allclose(both.read().joint_position, expected, atol=1e-9)
    assert np.abs(np.diff(expected, axis=0)).max() > 1e-3


def test_a_robot_that_the_engine_loses_starts_again_is_counted_and_leaves_no_number_behind():
    world, sane = placed(ANYMAL, robots=3), placed(ANYMAL, robots=3)
    target = np.tile(ANYMAL.posture, (3, 1))
    for w in (world, sane):
        w.step(target)
    qpos, qvel = world.stepper.state()
    qpos[1, 0], qvel[1, 8] = np.nan, 1e12
    motion, expected = world.step(target), sane.step(target)
    assert motion.diverged.tolist() == [False, True, False]
    assert world.diverged == 1
    for name in ("joint_position", "torque", "com_velocity", "foot_force"):
        assert np.isfinite(getattr(motion, name)).all()
        assert not getattr(motion, name)[1].any()
        np.testing.assert_array_equal(getattr(motion, name)[[0, 2]], getattr(expected, name)[[0, 2]])
    state = world.read()
    assert state.position[1, 2] == pytest.approx(world.stand_height, abs=0.05)
    assert not world.step(target).diverged.any()
    assert world.read().foot_contact[1].all()


def test_it_stands_on_the_papers_terrain():
    ground = terrain("paper", seed=0, levels=2, columns=1)
    spots = ground.spots.reshape(-1, 3)
    world = make_world(
        ANYMAL, ANYMAL.dynamics, physics=Physics(timestep=0.005), robots=len(spots), substeps=4, terrain=ground
    )  # fmt: skip
    begin = start(world, ANYMAL, len(spots), position=spots + np.array([0, 0, world.stand_height + 0.02]))
    world.reset(np.arange(len(spots)), begin)
    for _ in range(60):
        motion = world.step(np.tile(ANYMAL.posture, (len(spots), 1)))
    state = world.read()
    level = [ground.kinds[k % len(ground.kinds)] != "rough" for k in range(len(spots))]
    assert state.foot_contact[level].all()
    above = state.foot_position[..., 2] - ground.height(state.foot_position[..., :2])
    np.testing.assert_allclose(above[level], 0.03, atol=0.01)
    np.testing.assert_allclose(motion.foot_force[level].mean(1)[..., 2].sum(-1), 9.81 * world.mass, rtol=0.05)


def test_what_cannot_be_is_refused_in_a_sentence():
    world = placed(ANYMAL, robots=2)
    target = np.tile(ANYMAL.posture, (2, 1))
    with pytest.raises(SurefootError, match=r"target has shape \(12,\); expected \(2, 12\)"):
        world.step(target[0])
    target[1, 4] = np.nan
    with pytest.raises(SurefootError, match="the target of joint RF_HFE of robot 1 is nan"):
        world.step(target)
    with pytest.raises(SurefootError, match="joint_position has shape"):
        world.reset(np.array([0]), start(world, ANYMAL, 1, joint_position=np.zeros((1, 11))))
    settings = {"physics": Physics(), "robots": 2, "substeps": 4}
    with pytest.raises(SurefootError, match=r"leading shape \(3,\); expected \(\) or \(2,\)"):
        make_world(ANYMAL, JointDynamics.stack([ANYMAL.dynamics] * 3), **settings)
    with pytest.raises(SurefootError, match="engine is 'physx'; valid: batch, warp"):
        make_world(ANYMAL, ANYMAL.dynamics, engine="physx", **settings)
    stiffness = np.where(np.arange(12) == 0, np.nan, 80.0)
    with pytest.raises(SurefootError, match="the stiffness of LF_HAA is unknown"):
        make_world(ANYMAL.replace(stiffness=stiffness), ANYMAL.dynamics, **settings)
    with pytest.raises(SurefootError, match="cannot be pushed"):
        placed(ANYMAL, fixed=True).push(np.array([0]), np.zeros((1, 6)))
