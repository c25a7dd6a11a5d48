"""The battery behind the drives: its voltage sags under load and falls as it empties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.errors import SurefootError


@dataclass(frozen=True, kw_only=True)
class Battery:
    """A voltage source with an inner resistance."""

    voltage: float  # at half charge, without load [V]
    resistance: float = 0.0  # [Ω]
    capacity: float = np.inf  # [Wh]
    droop: float = 0.0  # how much the voltage falls from full to empty, over `voltage` [-]
    regeneration: float = 0.0  # share of the braking power that it takes back; the rest is burnt [-]
    idle: float = 0.0  # what sensing and computing draw [W]
    switching: float = 0.0  # what the inverters of enabled drives draw, torque or none [W]

    def __post_init__(self) -> None:
        if not self.voltage > 0 or not self.capacity > 0:
            raise SurefootError(f"a battery needs a voltage and a capacity above 0; got {self.voltage} V, {self.capacity} Wh.")
        if min(self.resistance, self.droop, self.idle, self.switching) < 0 or not 0 <= self.regeneration <= 1:
            raise SurefootError(
                "resistance, droop, idle and switching power of a battery are at least 0, its regeneration lies in 0 .. 1."
            )


class Bus:
    """A battery in use."""

    def __init__(self, battery: Battery) -> None:
        self.battery, self.charge, self.power = battery, 1.0, 0.0
        self.given = self.lost = self.burnt = 0.0  # energy so far: from the cells, in their resistance, of braking [J]
        self.voltage = self._open()

    def _open(self) -> float:
        return self.battery.voltage * (1 + self.battery.droop * (self.charge - 0.5))

    def draw(self, power: float, duration: float, enabled: bool = False) -> None:
        """Give a power to all drives together [W] for a time [s]; braking joints feed the others first.

        u = u₀ − R I with I = P / u; what the battery gives up is u₀ I. `enabled` drives switch, whatever they do.
        """
        battery = self.battery
        taken = power if power > 0 else battery.regeneration * power
        self.power = taken + battery.idle + enabled * battery.switching
        source = self._open()
        inside = max(source**2 - 4 * battery.resistance * self.power, 0.25 * source**2)  # no lower than 3/4 of the source
        self.voltage = 0.5 * (source + inside**0.5)
        current = self.power / self.voltage
        self.given += float(source * current * duration)
        self.lost += float((source - self.voltage) * current * duration)
        self.burnt += float((taken - power) * duration)
        self.charge = float(np.clip(self.charge - source * current * duration / (3600 * battery.capacity), 0.0, 1.0))
