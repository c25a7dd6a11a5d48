"""The running track: laps at one speed until the battery is at its floor, from short stretches of walking at known charges.

A walk over a whole battery takes an hour and a half. What it adds to a short one is that the voltage falls, and with it what the
drives can do and draw. So the robot walks a short stretch at each of a few charges, and the battery is run down by

    dSoC/dt = −P(SoC) / E_B        ds/dt = v(SoC)

with P and v straight between the charges that were walked. Heat, wear and wind are not in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.analyze.energy import HOUR, Transport, decompose
from surefoot.errors import SurefootError

Array = NDArray[np.float64]
LAP = 400.0  # [m]
FINE = 2001  # charges that the integral is taken over


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """Steady walking at one state of charge."""

    charge: float  # SoC [-]
    power: float  # mean, from the battery [W]
    speed: float  # mean, along the track [m/s]


@dataclass(frozen=True, kw_only=True, eq=False)
class Track:
    """A battery, run down on the track."""

    capacity: float  # E_B [Wh]
    charge: Array  # SoC, falling [-], shape (K,)
    time: Array  # since the start [s], shape (K,)
    distance: Array  # since the start [m], shape (K,)

    @property
    def rounds(self) -> float:
        """Laps of 400 m."""
        return float(self.distance[-1] / LAP)

    @property
    def duration(self) -> float:
        """[s]"""
        return float(self.time[-1])

    @property
    def speed(self) -> float:
        """Average [m/s]."""
        return float(self.distance[-1] / self.time[-1])

    @property
    def energy(self) -> float:
        """From the battery [J]."""
        return HOUR * self.capacity * float(self.charge[0] - self.charge[-1])

    @property
    def power(self) -> float:
        """Average [W]."""
        return self.energy / self.duration

    def laps(self) -> tuple[Array, Array]:
        """Distance [m] and SoC at the start, after each whole lap, and at the end."""
        at = np.append(np.arange(0.0, self.distance[-1], LAP), self.distance[-1])
        return at, np.interp(at, self.distance, self.charge)

    def cost(self, mass: float, off: float, rest: float) -> Transport:
        """CoT and its parts."""
        return decompose(
            energy=self.energy, duration=self.duration, distance=float(self.distance[-1]), mass=mass, off=off, rest=rest
        )


def run_down(stretches: Sequence[Stretch], *, capacity: float, start: float = 1.0, floor: float = 0.05) -> Track:
    """Walk from SoC `start` to `floor`; outside the charges that were walked, the nearest one holds."""
    if not stretches:
        raise SurefootError("a battery cannot be run down without a stretch of walking; give at least one.")
    if not 0 <= floor < start <= 1 or not capacity > 0:
        raise SurefootError(
            f"the battery of {capacity:g} Wh is to go from {start:g} to {floor:g}; expected 0 <= floor < start <= 1 and a "
            "capacity above 0 Wh."
        )
    for s in stretches:
        if not (s.power > 0 and s.speed > 0):
            raise SurefootError(
                f"at a charge of {s.charge:g} the robot walked {s.speed:.3g} m/s with {s.power:.4g} W; on the track it must move "
                "forward and draw power."
            )
    known = sorted(stretches, key=lambda s: s.charge)
    at = np.array([s.charge for s in known])
    charge = np.linspace(start, floor, FINE)
    power, speed = (np.interp(charge, at, [getattr(s, name) for s in known]) for name in ("power", "speed"))
    per_charge = HOUR * capacity / power  # −dt/dSoC [s]
    time, distance = _integral(per_charge, -charge), _integral(per_charge * speed, -charge)
    return Track(capacity=capacity, charge=charge, time=time, distance=distance)


def _integral(value: Array, over: Array) -> Array:
    """∫ value d(over) from the first point on, by trapezoids."""
    return np.concatenate([[0.0], np.cumsum(0.5 * (value[1:] + value[:-1]) * np.diff(over))])
