"""The virtual single drive against closed forms: what its loops do, and what its inertia looks like from outside."""

import numpy as np
import pytest

from surefoot import Physics, Recording, Robot, Unknowns, chirp, identify
from surefoot.analyze import current_transfer, dead_time, frequency_response, joint_response, joint_transfer
from surefoot.robot.hardware import Command
from surefoot.simulate.virtual.battery import Battery
from surefoot.simulate.virtual.drives import Drives
from surefoot.simulate.virtual.hardware import VirtualHardware
from surefoot.simulate.virtual.hidden import Machine
from surefoot.simulate.virtual.path import Path

ROTOR, LINK = 0.0165, 8.67e-3  # at the output [kg·m²]: the drive's own, and the interface's
RATE = 2500.0
LOOP = 2 * np.pi * 346.0


def drive(*, loop=LOOP, **changes):
    """A drive without imperfections, unless asked for."""
    plain = {
        "torque_constant": 0.59, "resistance": 1.04, "inductance": 0.534e-3, "rotor_inertia": ROTOR / 5.6**2, "gear_ratio": 5.6,
        "gear_position": [0.0, 1.0], "current_gain": 0.534e-3 * loop, "current_integral": 1.04 * loop, "current_limit": 32.0,
        "emf_aid": 1.0, "resolution": 1e-6, "velocity_cutoff": 2000.0, "damping": 0.1, "friction": 0.05, "dead_time": 5e-5,
    }  # fmt: skip
    return Machine(
        robot="single_drive", seed=0, drives=Drives(joints=("drive",), **plain | changes), path=Path(), stand=None,
        battery=Battery(voltage=48.0, regeneration=1.0),
    )  # fmt: skip


@pytest.fixture(scope="module")
def robot():
    """The interface alone on the drive, balanced about the shaft."""
    text = (
        "<mujoco><worldbody><body name='load'><joint name='drive' axis='0 0 1'/>"
        f"<inertial pos='0 0 0' mass='1' diaginertia='{LINK / 2} {LINK / 2} {LINK}'/></body></worldbody></mujoco>"
    )
    return Robot.load("single_drive").replace(model=Robot.load(text).model, scene="")


def recorded(robot, machine, *, seconds=3.0, stiffness=60.0, damping=2.0):
    """A position chirp of 0.5 to 10 Hz, played and logged at 2.5 kHz."""
    motion = chirp(robot, duration=seconds, start_hz=0.5, stop_hz=10, amplitude=0.15, rate=RATE, ramp=0.5)
    hardware = VirtualHardware(robot, machine, place="fixed", period=1 / RATE, timestep=1e-4)
    hardware.set_gains(np.array([stiffness]), np.array([damping]))
    position = np.zeros_like(motion.target)
    for k, target in enumerate(motion.target):
        position[k] = hardware.read().position
        hardware.write(Command(target=target))
    return Recording(
        joints=robot.joints, time=motion.time, target=motion.target, position=position, stiffness=np.array([stiffness]),
        damping=np.array([damping]), command_hold=True,
    )  # fmt: skip


def fitted(robot, recording, *, timestep=5e-5, delay_on="torque"):
    unknowns = Unknowns(extra=("cutoff",), fixed={"bias": 0.0, "cutoff": 2000.0})
    return identify(robot, recording, physics=Physics(timestep=timestep, delay_on=delay_on), unknowns=unknowns).dynamics


def test_the_current_loop_is_its_closed_form(robot):
    """A locked rotor's loop whose zero cancels its pole, behind its dead time and half a step for which a voltage is held."""
    machine = drive(emf_aid=0.0, rotor_inertia=1e3)
    hardware = VirtualHardware(robot, machine, place="fixed", period=1e-4, timestep=1e-4)
    hardware.set_gains(np.zeros(1), np.zeros(1))
    t = np.arange(15_000) / 1e4
    wanted = 2 * np.sin(2 * np.pi * (5 * t + 300 * t**2))
    current = np.zeros_like(t)
    for k, i in enumerate(wanted):
        current[k] = hardware.read().more["current"][0]
        hardware.write(Command(target=np.zeros(1), feedforward=np.array([0.59 * 5.6 * i])))
    found = frequency_response(t, wanted, current, resolution=10.0, band=(20, 800))
    f, h = found.frequency, 5e-5
    late = np.exp(-2j * np.pi * f * h / 2)  # a logged command lasts two steps; the loop takes it once more, a step later
    model = late * current_transfer(
        f, resistance=1.04, inductance=0.534e-3, proportional=0.534e-3 * LOOP, integral=1.04 * LOOP, dead_time=h + h / 2
    )
    low = (f > 50) & (f < 350)
    assert np.abs(found.response / model - 1)[low].max() < 0.04
    z, decay = np.exp(2j * np.pi * f * h), np.exp(-1.04 * h / 0.534e-3)  # the sampled loop itself
    loop = (0.534e-3 * LOOP + 1.04 * LOOP * h / (z - 1)) * (1 - decay) / 1.04 / (z - decay) / z
    assert np.abs(found.response / (loop / (1 + loop) * (1 + 1 / z) / 2) - 1)[f > 50].max() < 0.02
    slope, _ = dead_time(found.between(50, 200))
    assert slope == pytest.approx(1 / LOOP, rel=0.15)  # the lag of a first-order loop; its dead time bends the phase later


def test_the_drive_weighs_what_its_parts_weigh(robot, plain, stiff):
    """Also where the load is balanced about the shaft, for which MuJoCo keeps a constant mass matrix."""
    for found in (plain, fitted(robot, stiff)):
        assert found.armature[0] + LINK == pytest.approx(ROTOR + LINK, rel=0.015)
        assert found.damping[0] == pytest.approx(0.1, abs=0.03)
        assert found.friction[0] == pytest.approx(0.05, abs=0.015)


@pytest.fixture(scope="module")
def plain(robot):
    """The drive without anything that pretends to be inertia."""
    return fitted(robot, recorded(robot, drive()))


@pytest.fixture(scope="module")
def stiff(robot):
    """Its recording under the stiffest gains."""
    return recorded(robot, drive(), stiffness=250.0, damping=10.0)


def test_compensation_shows_as_virtual_inertia(robot, plain):
    helped = drive(compensation=True, virtual_inertia=8.1e-3, compensation_cutoff=200.0)
    assert fitted(robot, recorded(robot, helped)).armature[0] - plain.armature[0] == pytest.approx(8.1e-3, rel=0.1)


def test_back_emf_that_the_integrator_makes_up_shows_as_inertia_too(robot, plain):
    """A ramp of voltage k ω takes a current error k α / K_i: torque against acceleration, (k r)² / K_i of it."""
    left = fitted(robot, recorded(robot, drive(emf_aid=0.0)))
    expected = (0.59 * 5.6) ** 2 / (1.04 * LOOP)
    assert left.armature[0] - plain.armature[0] == pytest.approx(expected, rel=0.15)


def test_a_late_torque_taken_for_a_late_command_costs_inertia(robot, stiff):
    """The D term acts on an old velocity: D q̇(t − T) = D q̇ − D T q̈. The fit needs the delay where it is, on the torque."""
    right, wrong = fitted(robot, stiff), fitted(robot, stiff, delay_on="command")
    assert right.armature[0] == pytest.approx(ROTOR, rel=0.025)
    assert wrong.armature[0] < ROTOR - 0.6 * 10 * right.delay[0]


def test_a_velocity_filter_that_the_fit_does_not_know_costs_inertia(robot, stiff):
    """The D term acts on a velocity that is late by 1 / (2π f_c)."""
    filtered = recorded(robot, drive(velocity_cutoff=300.0), stiffness=250.0, damping=10.0)
    missing = fitted(robot, stiff).armature[0] - fitted(robot, filtered).armature[0]  # both with a filter of 2 kHz in the fit
    assert missing == pytest.approx(10 / (2 * np.pi) * (1 / 300 - 1 / 2000), rel=0.2)


def test_the_position_loop_is_the_papers_h_q(robot):
    rec = recorded(robot, drive(friction=0.0), seconds=5.0)
    found = joint_response(rec, "drive", resolution=0.8, band=(1, 9.5))
    model = joint_transfer(
        found.frequency, inertia=ROTOR + LINK, viscous=0.1, stiffness=60.0, damping=2.0, delay=1 / LOOP + 5e-5 + 2.5e-5 + 2e-4
    )
    assert np.abs(np.abs(found.response / model) - 1).max() < 0.03
    assert np.abs(np.angle(found.response / model, deg=True)).max() < 2.0
