"""Inertia of a link that swings freely from a pivot, with the error that its measurements carry."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from surefoot.errors import SurefootError


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A value and its standard deviation, in the same unit."""

    value: float
    deviation: float

    @classmethod
    def of(cls, value: float, *slopes: tuple[float, float]) -> Self:
        """f(x) with σ² = Σ (∂f/∂x_i)² σ_i², from pairs (∂f/∂x_i, σ_i)."""
        return cls(value=value, deviation=math.hypot(*(slope * sigma for slope, sigma in slopes)))


@dataclass(frozen=True, kw_only=True)
class PendulumInertia:
    """What a swinging link weighs against turning."""

    pivot: Measured  # about the pivot, I_P [kg·m²]
    centre: Measured  # about its own centre of mass, I_CoM [kg·m²]


def pendulum_inertia(mass: float, radius: Measured, frequency: Measured, gravity: float) -> PendulumInertia:
    """Inertia of a link of `mass` m [kg] whose centre hangs `radius` r [m] below the pivot and swings `frequency` f [Hz].

    I_P = m r g / (2π f)² and I_CoM = I_P − m r². Small swings; m and g [m/s²] are taken as exact.
    """
    m, r, f, g = mass, radius.value, frequency.value, gravity
    for name, value in (("mass", m), ("radius", r), ("frequency", f), ("gravity", g)):
        if not value > 0:
            raise SurefootError(f"the {name} of a pendulum is {value:g}; it must be above 0.")
    omega = 2 * math.pi * f
    pivot = m * r * g / omega**2
    by_frequency = -2 * pivot / f
    centre = pivot - m * r**2
    if centre < 0:
        raise SurefootError(
            f"a pendulum with its centre {r:g} m below the pivot swings at {math.sqrt(g / r) / (2 * math.pi):.3g} Hz or less; "
            f"{f:g} Hz was measured. Measure the radius or the frequency again: the inertia would be negative."
        )
    return PendulumInertia(
        pivot=Measured.of(pivot, (m * g / omega**2, radius.deviation), (by_frequency, frequency.deviation)),
        centre=Measured.of(centre, (m * g / omega**2 - 2 * m * r, radius.deviation), (by_frequency, frequency.deviation)),
    )


def offset_inertia(mass: float, radius: Measured) -> Measured:
    """What a centre of mass at a distance from an axis adds to the inertia about it: m r² [kg·m²]."""
    return Measured.of(mass * radius.value**2, (2 * mass * radius.value, radius.deviation))
