"""Where a virtual robot's energy goes: every joule that the battery gives is burnt, stored, or done as work on the links.

    battery = cells + electronics + switching + braking + inverters + windings + transmissions + stored + work

Each term is integrated from its own cause over the machine's own steps, none as a remainder; what is left over is the error of
the steps, and `Ledger.gap` says how large it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from surefoot.simulate.virtual.hardware import VirtualHardware

Array = np.ndarray
TERMS = {
    "cells": "in the battery's inner resistance",
    "electronics": "sensing and computing",
    "switching": "inverters of enabled drives, torque or none",
    "braking": "braking power that the battery does not take back",
    "inverters": "voltage lost while current flows",
    "windings": "Joule heat, R i²",
    "transmissions": "friction, damping and dampers of elastic joints",
    "stored": "in windings, rotors and springs",
    "work": "of the drives on the links; friction and damping of rigid joints are in it",
}


class Ledger:
    """The accounts of one machine from now on, all in joules."""

    def __init__(self, machine: VirtualHardware) -> None:
        self._machine = machine
        self.given = 0.0  # by the battery's cells
        self._spent = dict.fromkeys(TERMS, 0.0)
        bus = machine.bus
        self._bus = (bus.given, bus.lost, bus.burnt)
        self._held = self._store()

    def note(self, push: Array, velocity: Array, duration: float, enabled: bool) -> None:
        """Book one step of the links: mean torque on them [N·m] at a velocity [rad/s], shape (n,)."""
        motors, battery, spent = self._machine.motors, self._machine.bus.battery, self._spent
        spent["electronics"] += battery.idle * duration
        spent["switching"] += enabled * battery.switching * duration
        spent["inverters"] += float(motors.inverter_loss().sum()) * duration
        spent["windings"] += float(motors.copper_loss().sum()) * duration
        spent["transmissions"] += float(motors.transmission_loss().sum()) * duration
        spent["work"] += float(push @ velocity) * duration

    def account(self) -> dict[str, float]:
        """Every term of TERMS so far [J]."""
        bus = self._machine.bus
        given, lost, burnt = (now - then for now, then in zip((bus.given, bus.lost, bus.burnt), self._bus, strict=True))
        self.given = given
        return self._spent | {"cells": lost, "braking": burnt, "stored": self._store() - self._held}

    @property
    def gap(self) -> float:
        """What the terms lack of what the battery gave, over the latter [-]."""
        spent = sum(self.account().values())
        return (self.given - spent) / self.given if self.given else 0.0

    def _store(self) -> float:
        """½ L i² of the windings, ½ J r² φ̇² and ½ k (φ − q − play)² of elastic joints, and the cogging's potential [J]."""
        machine = self._machine
        drives, block = machine.machine.drives, machine.motors.block
        current, elastic = block.now("current"), drives.elastic
        link, rotor = machine.body.position, np.where(elastic, block.now("rotor"), machine.body.position)
        stretch = rotor - link
        stretch = stretch - np.clip(stretch, -drives.backlash / 2, drives.backlash / 2)
        stored = 0.5 * drives.inductance * current**2
        stored += 0.5 * np.where(elastic, block.input("inertia"), 0.0) * np.where(elastic, block.now("rotor_velocity"), 0.0) ** 2
        stored += 0.5 * np.where(elastic, drives.spring, 0.0) * stretch**2
        lobes = np.maximum(drives.cogging_lobes, 1e-12)
        stored += np.where(drives.cogging_lobes > 0, drives.cogging / lobes * np.cos(lobes * rotor + drives.cogging_phase), 0.0)
        return float(stored.sum())
