"""Virtual robots behind the border: what they hide, what they show, and that they stop."""

import json

import numpy as np
import pytest

from surefoot import Robot, SurefootError, identify
from surefoot.record.excitation import chirp
from surefoot.record.recorder import record
from surefoot.record.targets import Targets
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.hardware import Command
from surefoot.simulate.physics import Physics
from surefoot.simulate.reference import Reference
from surefoot.simulate.virtual.battery import Battery
from surefoot.simulate.virtual.drives import Drives
from surefoot.simulate.virtual.hardware import VirtualHardware
from surefoot.simulate.virtual.hidden import Machine, hidden_machine
from surefoot.simulate.virtual.path import Path


@pytest.fixture(scope="module")
def robot():
    return Robot.load("anymal")


def plain_machine(robot, **changes):
    """A machine that is nothing but the model that is fitted: instant current, no losses, rigid joints."""
    n = robot.n
    values = {
        "joints": robot.joints, "torque_constant": np.full(n, 5.0), "resistance": np.full(n, 1.0), "inductance": np.full(n, 1e-3),
        "rotor_inertia": np.full(n, 0.08), "gear_ratio": np.ones((n, 2)), "gear_position": np.tile([0.0, 1.0], (n, 1)),
        "current_gain": np.full(n, 1e-3 * 8000), "current_integral": np.full(n, 8000.0), "current_limit": np.full(n, 1e3),
        "emf_aid": 1.0, "damping": 2.0, "friction": 0.5, "stribeck_speed": 0.1, "bias": 0.01, "resolution": 1e-9,
        "velocity_cutoff": 1500.0,
    }  # fmt: skip
    return Machine(robot="anymal", seed=0, drives=Drives(**(values | changes)), path=Path(delay=0.005),
                   battery=Battery(voltage=1000.0), stand=None)  # fmt: skip


def short_chirp(robot, duration=4.0):
    motion = chirp(robot, duration=duration, stop_hz=6.0)
    return Targets(joints=robot.joints, time=motion.time, target=motion.target, stiffness=robot.stiffness,
                   damping=robot.damping, kind="chirp")  # fmt: skip


@pytest.fixture(scope="module")
def plain(robot):
    machine = plain_machine(robot)
    return record(VirtualHardware(robot, machine, place="fixed"), short_chirp(robot))


TRUTH = {"armature": 0.08, "damping": 2.0, "friction": 0.5, "bias": 0.01}


def test_without_its_extras_a_virtual_robot_is_the_model_that_is_fitted(robot, plain):
    """The same motion as the reference with the same numbers, to what it moves in a quarter of a millisecond.

    The reference's drive acts on the middle of its 0.5 ms step, the virtual one on the step before.
    """
    n = robot.n
    truth = JointDynamics(joints=robot.joints, delay=np.array([0.005]), **{k: np.full(n, v) for k, v in TRUTH.items()})
    free = robot.replace(torque_limit=np.full(n, np.inf), stall_torque=np.full(n, np.inf), no_load_speed=np.full(n, np.inf))
    replayed, _, _ = Reference(free, plain, Physics(timestep=5e-4)).replay(truth)
    lag = 2.5e-4 * np.sqrt(np.mean(np.gradient(plain.position, plain.time, axis=0) ** 2))
    assert np.sqrt(np.mean((replayed - plain.position) ** 2)) < lag
    other, _, _ = Reference(free, plain, Physics(timestep=5e-4)).replay(truth.replace(armature=np.full(n, 0.09)))
    assert np.sqrt(np.mean((other - plain.position) ** 2)) > 2e-3


def test_identification_finds_the_numbers_of_a_plain_virtual_robot(robot, plain):
    fit = identify(robot, [plain.replace(torque=None)], seed=0)
    np.testing.assert_allclose(fit.dynamics.armature, 0.08, rtol=0.06)
    np.testing.assert_allclose(fit.dynamics.damping, 2.0, rtol=0.06)
    np.testing.assert_allclose(fit.dynamics.friction, 0.5, rtol=0.25)
    assert fit.dynamics.delay[0] == pytest.approx(0.005, abs=0.00125)  # half a step of the fit's physics


def test_a_hidden_robot_is_richer_than_any_fit_and_yet_fitted(robot):
    """The error left is above the encoder's step, and far below that of no model."""
    hardware = VirtualHardware(robot, 7)
    fit = identify(robot, [record(hardware, short_chirp(robot)).replace(torque=None)], seed=0)
    none = np.sqrt(np.mean(fit.recordings[0].rmse_no_model ** 2))
    assert hardware.machine.drives.resolution.max() < fit.recordings[0].total < none / 5


def test_a_seed_draws_one_machine(robot):
    first, again, other = (hidden_machine(robot, seed).to_dict() for seed in (3, 3, 4))
    assert first == again
    assert first["drives"]["friction"] != other["drives"]["friction"]


def test_the_same_seed_moves_the_same_way(robot):
    takes = []
    for seed in (3, 3, 4):
        hardware = VirtualHardware(robot, seed)
        hardware.set_gains(robot.stiffness, robot.damping)
        for _ in range(40):
            state = hardware.read()
            hardware.write(Command(target=robot.posture + 0.1))
        takes.append(state.position)
    np.testing.assert_array_equal(takes[0], takes[1])
    assert np.abs(takes[0] - takes[2]).max() > 1e-4


@pytest.mark.parametrize("name", ["anymal", "tytan", "minimal", "single_drive"])
def test_every_bundled_robot_has_virtual_ones(name):
    """They hold their posture, and draw power for it."""
    robot = Robot.load(name)
    hardware = VirtualHardware(robot, 1)
    hardware.set_gains(robot.stiffness, robot.damping)
    for _ in range(120):
        state = hardware.read()
        hardware.write(Command(target=robot.posture))
    assert np.abs(state.position - robot.posture).max() < 0.15
    assert state.more["current"].shape == state.more["power"].shape == (robot.n,)
    assert 0 < state.more["bus_voltage"][0] < 1.1 * np.nanmax(robot.motor["bus_voltage"])


def test_damping_brings_a_swinging_robot_to_rest(robot):
    """Within 0.2 s no joint is faster than its own weight moves it; before, they were a good deal faster."""
    hardware, plan = VirtualHardware(robot, 5), chirp(robot, duration=2.0, start_hz=2.0, stop_hz=4.0)
    hardware.set_gains(robot.stiffness, robot.damping)
    for target in plan.target:
        hardware.read()
        hardware.write(Command(target=target))
        if hardware.time > 1.0 and np.abs(hardware.truth()["joint_velocity"]).max() > 2.0:
            break
    hardware.damp()
    hardware.write(Command(target=plan.target[0]))  # not obeyed: gains arm the drives, commands do not
    for _ in range(80):
        hardware.read()
    assert np.abs(hardware.truth()["joint_velocity"]).max() < 0.3


def test_a_robot_stands_on_the_ground_and_its_battery_pays_for_it(robot):
    hardware = VirtualHardware(robot, 2, place="ground")
    hardware.set_gains(3 * robot.stiffness, 3 * robot.damping)
    for _ in range(400):
        state = hardware.read()
        hardware.write(Command(target=robot.posture))
    assert hardware.truth()["base_position"][2] > 0.45
    assert len(hardware.body.contacts()) == 4
    assert state.more["charge"][0] < 1.0
    assert np.linalg.norm(state.more["imu_acceleration"]) == pytest.approx(9.81, abs=0.5)


def test_power_is_counted_once(robot):
    """What the battery gives is what the joints draw together, and at least what their windings burn."""
    hardware = VirtualHardware(robot, hidden_machine(robot, 2), place="fixed")
    hardware.set_gains(robot.stiffness, robot.damping)
    for _ in range(200):
        state = hardware.read()
        hardware.write(Command(target=robot.posture + 0.2))
    drawn = hardware.motors.power()
    standby = hardware.machine.battery.idle + hardware.machine.battery.switching
    assert hardware.bus.power == pytest.approx(max(drawn.sum(), 0.0) + standby, abs=1e-9)
    assert (drawn > 0.9 * hardware.motors.copper_loss()).all()
    assert state.more["power"].sum() == pytest.approx(drawn.sum(), rel=0.1)


def test_what_it_hides_can_be_revealed(robot, tmp_path):
    machine = hidden_machine(robot, 7)
    truth = json.loads(machine.reveal(tmp_path / "truth.json", robot, 0.0025).read_text())
    assert truth["drives"]["friction"] == machine.drives.friction.tolist()
    near = JointDynamics.from_dict(truth["nearest_joint_dynamics"])
    assert near.joints == robot.joints
    assert (near.armature >= machine.drives.reflected_inertia(robot.posture)).all()
    with pytest.raises(SurefootError, match="cannot write"):
        machine.reveal(tmp_path / "no" / "truth.json", robot, 0.0025)


def test_a_lost_state_leaves_a_gap_of_whole_periods(robot):
    machine = plain_machine(robot)
    lossy = Machine(robot="anymal", seed=1, drives=machine.drives, path=Path(log_loss=0.3), battery=machine.battery, stand=None)
    hardware = VirtualHardware(robot, lossy)
    gaps = np.diff([hardware.read().time for _ in range(200)]) / hardware.period
    np.testing.assert_allclose(gaps, np.round(gaps), atol=1e-9)
    assert gaps.max() >= 2


def test_nonsense_is_refused(robot):
    hardware = VirtualHardware(robot, 1)
    with pytest.raises(SurefootError, match="stiffness must be 12 numbers"):
        hardware.set_gains(np.array([1.0]), robot.damping)
    with pytest.raises(SurefootError, match="target must be 12 finite numbers"):
        hardware.write(Command(target=np.full(12, np.nan)))
    with pytest.raises(SurefootError, match="whole number of electrical steps"):
        VirtualHardware(robot, 1, period=1 / 3000)
    with pytest.raises(SurefootError, match="seed"):
        hidden_machine(robot, -1)


def test_a_robot_of_which_too_little_is_known_is_asked_for_it(robot):
    with pytest.raises(SurefootError, match=r"\[dynamics\]"):
        hidden_machine(robot.replace(dynamics=None), 1)
    with pytest.raises(SurefootError, match="stall_torque of every joint"):
        hidden_machine(robot.replace(stall_torque=np.full(12, np.inf), no_load_speed=np.full(12, np.inf)), 1)
    blind = robot.replace(motor=dict(robot.motor) | {"bus_voltage": np.full(12, np.nan)})
    with pytest.raises(SurefootError, match="bus_voltage"):
        hidden_machine(blind, 1)
