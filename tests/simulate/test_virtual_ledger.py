"""Every joule of a virtual robot is found again."""

import mujoco
import numpy as np
import pytest

from surefoot import Robot
from surefoot.robot.hardware import Command
from surefoot.simulate.virtual.hardware import VirtualHardware
from surefoot.simulate.virtual.ledger import TERMS


def moved(name, place, seconds=1.0, seed=3):
    """A machine that treads for a while, with its accounts."""
    robot = Robot.load(name)
    machine = VirtualHardware(robot, seed, place=place)
    machine.set_gains(robot.stiffness, robot.damping)
    ledger = machine.keep_accounts()
    for _ in range(round(seconds / machine.period)):
        state = machine.read()
        swing = 0.3 * np.sin(2 * np.pi * 1.5 * state.time) * np.tile([0.3, 1.0, -1.5], 4)
        machine.write(Command(target=robot.posture + swing))
    return machine, ledger


@pytest.mark.parametrize("name", ["anymal", "tytan", "minimal"])
@pytest.mark.parametrize("place", ["fixed", "ground"])
def test_what_the_battery_gives_is_burnt_stored_or_work(name, place):
    """battery = losses + stored + work within 1 % of what is left after electronics and idle inverters, which are no question."""
    machine, ledger = moved(name, place)
    account = ledger.account()
    assert set(account) == set(TERMS)
    moving = ledger.given - account["electronics"] - account["switching"]
    assert abs(ledger.gap) * ledger.given < 0.01 * moving
    assert ledger.given == pytest.approx((1 - machine.bus.charge) * 3600 * machine.machine.battery.capacity, rel=1e-6)
    assert min(account["windings"], account["transmissions"], account["inverters"], account["cells"]) > 0


@pytest.mark.parametrize("term", ["windings", "transmissions"])
def test_a_loss_that_is_forgotten_shows(term):
    """Without its windings or its gears the account misses more than 10 %."""
    _, ledger = moved("anymal", "fixed", 0.5)
    forgotten = ledger.account()[term]
    assert forgotten > 0.1 * ledger.given * (1 - sum(ledger.account()[k] for k in ("electronics", "switching")) / ledger.given)


def test_work_on_the_links_is_what_mujoco_says_they_gained():
    """In the air nothing but the drives acts on elastic joints' links: their work is the gain of kinetic and potential energy.

    The drives push with a torque that holds for a step of the links, so the two agree as that step allows.
    """
    robot = Robot.load("anymal")
    machine = VirtualHardware(robot, 3, place="fixed")
    assert machine.machine.drives.elastic.all()
    body = machine.body

    def energy():
        mujoco.mj_energyPos(body.model, body.data)
        mujoco.mj_energyVel(body.model, body.data)
        return float(body.data.energy.sum())

    machine.set_gains(robot.stiffness, robot.damping)
    ledger, before = machine.keep_accounts(), energy()
    seen, reach = [], []
    for _ in range(240):
        machine.read()
        machine.write(Command(target=robot.posture + 0.4 * np.tile([0.3, 1.0, 1.0], 4)))
        seen.append(ledger.account()["work"])
        reach.append(energy() - before)
    seen, reach = np.array(seen), np.array(reach)
    assert np.ptp(reach) > 5.0
    assert np.abs(seen - reach).max() < 0.03 * np.ptp(reach)


def test_a_machine_at_rest_pays_for_its_electronics_alone():
    """Damped on its stand it draws its idle power; armed, its inverters switch as well."""
    robot = Robot.load("tytan")
    machine = VirtualHardware(robot, 1, place="fixed")
    battery = machine.machine.battery
    assert battery.idle == pytest.approx(robot.battery["off"], rel=0.05)
    machine.read()
    assert machine.bus.power == pytest.approx(battery.idle, rel=1e-3)
    machine.set_gains(np.zeros(12), np.zeros(12))
    machine.read()
    assert machine.bus.power == pytest.approx(battery.idle + battery.switching, rel=0.02)
    assert battery.idle + battery.switching == pytest.approx(robot.battery["rest"], rel=0.05)
