"""The links of a virtual robot: on a stand that gives, on the ground, and fixed; the battery; the way of a command."""

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import Robot, SurefootError
from surefoot.robot.hardware import Command
from surefoot.simulate.physics import Physics, hung_model, hung_order
from surefoot.simulate.terrain import terrain
from surefoot.simulate.virtual.battery import Battery, Bus
from surefoot.simulate.virtual.body import Body, Stand, can_move
from surefoot.simulate.virtual.path import Path, Wire

STAND = Stand(sway=12.0, rock=9.0, damping=0.05)


@pytest.fixture(scope="module")
def robot():
    return Robot.load("anymal")


def held(body, steps, gain=300.0, damping=5.0):
    """Hold the posture with plain PD control."""
    n = body.robot.n
    more = {"armature": np.full(n, 0.07), "damping": np.full(n, 4.0), "friction": np.zeros(n)}
    for _ in range(steps):
        body.step(gain * (body.robot.posture - body.position) - damping * body.velocity, **more)


def test_a_fixed_body_has_the_link_inertia_of_the_air_model(robot):
    model = hung_model(robot, robot.joints, Physics())
    data = mujoco.MjData(model)
    order = hung_order(model, robot.joints)
    data.qpos[order] = robot.posture
    mujoco.mj_forward(model, data)
    full = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, full)
    np.testing.assert_allclose(Body(robot, "fixed", timestep=5e-4).link_inertia(), np.diag(full)[order])


def test_the_base_swings_on_its_stand_at_the_frequency_that_was_asked_for(robot):
    body = Body(robot, "stand", timestep=5e-4, stand=Stand(sway=12.0, rock=60.0, damping=0.0))
    body.data.qpos[0] += 1e-3
    swing = []
    for _ in range(1000):
        held(body, 1, gain=3000.0, damping=50.0)
        swing.append(body.base()["base_position"][0])
    crossings = np.flatnonzero(np.diff(np.sign(np.array(swing) - np.mean(swing))) > 0)
    assert 1 / (np.diff(crossings).mean() * 5e-4) == pytest.approx(12.0, rel=0.1)


def test_a_stand_carries_the_weight_and_a_stiff_one_does_not_move(robot):
    soft = Body(robot, "stand", timestep=5e-4, stand=STAND)
    start = soft.base()["base_position"].copy()
    held(soft, 2000)
    assert np.abs(soft.base()["base_position"] - start).max() < 1e-3
    fixed = Body(robot, "fixed", timestep=5e-4)
    held(fixed, 2000)
    np.testing.assert_allclose(soft.position, fixed.position, atol=2e-3)


def test_on_the_ground_the_feet_carry_the_weight(robot):
    body = Body(robot, "ground", timestep=5e-4)
    held(body, 3000)
    assert body.contacts().tolist() == ["LF_SHANK", "LH_SHANK", "RF_SHANK", "RH_SHANK"]
    assert 0.4 < body.base()["base_position"][2] < 0.6
    force, total = np.zeros(6), 0.0
    for k in range(body.data.ncon):
        mujoco.mj_contactForce(body.model, body.data, k, force)
        total += force[0]
    assert total == pytest.approx(9.81 * robot.mass, rel=0.02)
    assert np.linalg.norm(body.imu()["imu_acceleration"]) == pytest.approx(9.81, rel=0.02)


def test_a_robot_starts_on_its_terrain(robot):
    """On stairs, at the height of the first tile's middle, with its feet on the ground and not in it."""
    steps = terrain("stairs_up", seed=0, levels=2, columns=1)
    body = Body(robot, "ground", timestep=5e-4, terrain=steps)
    assert body.base()["base_position"][2] - steps.spots[0, 0, 2] == pytest.approx(0.55, abs=0.03)
    held(body, 600)
    assert body.contacts().tolist() == ["LF_SHANK", "LH_SHANK", "RF_SHANK", "RH_SHANK"]


def test_a_base_in_free_fall_feels_no_weight(robot):
    body = Body(robot, "ground", timestep=5e-4)
    body.data.qpos[2] += 1.0
    body.data.qvel[:] = 0.0
    z = np.zeros(robot.n)
    body.step(z, armature=z + 1.0, damping=z, friction=z)
    assert np.linalg.norm(body.imu()["imu_acceleration"]) < 0.2


def test_a_robot_without_a_free_base_can_only_be_fixed():
    arm = Robot.load("single_drive")
    assert not can_move(arm)
    with pytest.raises(SurefootError, match="no leg"):
        Body(arm, "stand", timestep=5e-4, stand=STAND)


def test_the_voltage_sags_by_what_flows():
    """u = u₀ − R I and P = u I; the source gives u₀ I, and the charge falls by that."""
    bus = Bus(Battery(voltage=48.0, resistance=0.1, capacity=100.0))
    bus.draw(960.0, 3.6)
    current = 960.0 / bus.voltage
    assert bus.voltage == pytest.approx(48.0 - 0.1 * current)
    assert 1 - bus.charge == pytest.approx(48.0 * current * 3.6 / 3600 / 100.0)


def test_a_battery_takes_back_its_share_of_the_braking_power():
    taken = []
    for share in (0.0, 0.3):
        bus = Bus(Battery(voltage=48.0, capacity=1.0, regeneration=share))
        bus.charge = 0.5
        bus.draw(-100.0, 3.6)
        taken.append(bus.charge - 0.5)
    assert taken == pytest.approx([0.0, 0.3 * 100.0 * 3.6 / 3600])


def test_an_empty_battery_has_a_lower_voltage_and_impossible_ones_are_refused():
    bus = Bus(Battery(voltage=48.0, droop=0.2, capacity=1.0))
    assert bus.voltage == pytest.approx(48.0 * 1.1)
    bus.charge = 0.0
    bus.draw(0.0, 1.0)
    assert bus.voltage == pytest.approx(48.0 * 0.9)
    for wrong in ({"voltage": 0.0}, {"voltage": 48.0, "regeneration": 2.0}, {"voltage": 48.0, "resistance": -1.0}):
        with pytest.raises(SurefootError):
            Battery(**wrong)


def numbered(k):
    return Command(target=np.array([float(k)]))


def test_a_command_arrives_after_its_delay_and_not_before():
    wire = Wire(Path(delay=0.01), seed=0)
    wire.send(numbered(1), 0.0)
    assert wire.arrived(0.0099) is None
    command = wire.arrived(0.0101)
    assert command is not None
    assert command.target[0] == 1.0
    assert wire.arrived(1.0) is None


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), jitter=st.floats(0, 0.05), loss=st.floats(0, 0.9))
def test_a_drive_never_goes_back_to_an_older_command(seed, jitter, loss):
    wire, seen = Wire(Path(delay=0.002, jitter=jitter, loss=loss), seed=seed), []
    for k in range(300):
        wire.send(numbered(k), 0.0025 * k)
        if (command := wire.arrived(0.0025 * k)) is not None:
            seen.append(command.target[0])
    assert seen == sorted(set(seen))
    assert all(k <= 299 - 0.002 / 0.0025 for k in seen)


def test_the_share_that_is_lost_is_the_share_that_was_asked_for():
    wire = Wire(Path(loss=0.3, log_loss=0.1), seed=0)
    came = 0
    for k in range(5000):
        wire.send(numbered(k), float(k))
        came += wire.arrived(float(k)) is not None
    assert came / 5000 == pytest.approx(0.7, abs=0.03)
    assert np.mean([wire.state_lost() for _ in range(5000)]) == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("wrong", [{"delay": -1.0}, {"jitter": float("nan")}, {"loss": 1.0}, {"log_loss": -0.1}])
def test_a_path_that_cannot_be_is_refused(wrong):
    with pytest.raises(SurefootError, match=next(iter(wrong))):
        Path(**wrong)
