"""Drives that ring by themselves: modes against closed forms and against the drive at work."""

import numpy as np
import pytest

from surefoot import Robot
from surefoot.simulate.virtual.drives import Drives, Motors
from surefoot.simulate.virtual.hidden import TIMESTEP, hidden_machine
from surefoot.simulate.virtual.ringing import LEAST, fast_damping, quieted

ROTOR, LINK, SPRING = 2e-3, 0.1, 200.0  # seen from the joint
FINE = 5e-5  # step of the links [s], so that they are stepped with the rotors


def drives(**changes):
    values = {
        "joints": ("j",), "torque_constant": 0.4, "resistance": 0.2, "inductance": 1e-4, "rotor_inertia": ROTOR,
        "gear_ratio": 1.0, "gear_position": [[0.0, 1.0]], "current_gain": 0.1, "current_integral": 200.0,
        "current_limit": 30.0, "spring": SPRING, "dead_time": 2e-4,
    }  # fmt: skip
    return Drives(**(values | changes))


def least(made, stiffness=0.0, damping=0.0, timestep=FINE, link=LINK):
    return float(fast_damping(made, np.array([link]), np.array([stiffness]), np.array([damping]), timestep, np.zeros(1))[0])


@pytest.mark.parametrize("damper", [0.05, 0.2])
def test_without_current_the_transmission_alone_damps(damper):
    """ζ = c/2 √((1/J + 1/L) / k), and friction or play change nothing of it."""
    made = drives(torque_constant=1e-9, damper=damper)
    closed = damper / 2 * np.sqrt((1 / ROTOR + 1 / LINK) / SPRING)
    assert least(made) == pytest.approx(closed, rel=0.02, abs=0.01)  # steps of 50 µs damp and excite by ω h / 2 or less
    assert least(made.replace(friction=1.0, backlash=1e-3, cogging=0.1, cogging_lobes=90.0, breakaway=0.3)) == least(made)


def amplitude(made, pluck, seconds=0.2):
    """How much the torque of a plucked rotor swings at the end, over what it began with; the drive is asked for nothing."""
    motors = Motors(made, np.zeros(1))
    motors.command(target=0.0, stiffness=0.0, damping=0.0)
    motors.block.now("rotor")[:] = pluck
    position, speed, torque = np.zeros(1), np.zeros(1), []
    for _ in range(round(seconds / TIMESTEP)):
        torque.append(motors.advance(position, speed, 1e3, round(TIMESTEP / made.step)))
        speed = speed + TIMESTEP * torque[-1] / LINK
        position = position + TIMESTEP * speed
    return np.ptp(np.diff(torque[-40:], axis=0)) / np.abs(torque[0][0])  # differences: the link's own slow swing is not asked for


def test_what_is_said_to_grow_grows_and_a_quieted_drive_decays():
    """A light rotor, a fast current loop with dead time: it howls without being asked, until the transmission damps it."""
    howling = drives(rotor_inertia=2.5e-5, current_gain=0.4, current_integral=800.0, damper=2e-3)
    zero, link = np.zeros(1), np.array([LINK])
    assert least(howling, timestep=TIMESTEP) < 0
    assert amplitude(howling, 1e-3) > 2
    quiet = quieted(howling, link, zero, zero, TIMESTEP)
    assert least(quiet, timestep=TIMESTEP) >= LEAST
    assert amplitude(quiet, 0.02) < 0.02  # below 10 µrad the damper lets go
    assert quiet.damper[0] > howling.damper[0]
    assert quiet.replace(damper=howling.damper).to_dict() == howling.to_dict()


def test_a_quiet_or_rigid_drive_is_left_alone():
    zero, link = np.zeros(1), np.array([LINK])
    for made in (drives(damper=0.5), drives(spring=np.inf)):
        assert quieted(made, link, zero, zero, TIMESTEP) is made


@pytest.mark.parametrize("seed", range(4))
def test_no_hidden_machine_rings(seed):
    """minimal has the lightest rotors; some of its seeds had drives that began to howl in the middle of a chirp."""
    robot = Robot.load("minimal")
    made = hidden_machine(robot, seed).drives
    for factor in (1.0, 2.0):
        found = fast_damping(made, np.full(12, 2e-3), factor * robot.stiffness, factor * robot.damping, TIMESTEP, robot.posture)
        assert found.min() > 0.0
