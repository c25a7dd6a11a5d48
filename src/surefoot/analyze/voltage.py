"""How fast a motor's torque can change when voltage is all that limits it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.errors import SurefootError

Array = NDArray[np.float64]


def winding_bandwidth(resistance: float, inductance: float) -> float:
    """f∞ = R / (2π L) [Hz]: where a winding's current, and so its torque, has fallen by 3 dB at a given voltage."""
    if not (resistance > 0 and inductance > 0):
        raise SurefootError(f"resistance is {resistance:g} Ω and inductance {inductance:g} H; both must be above 0.")
    return resistance / (2 * np.pi * inductance)


def torque_bandwidth(
    speed: ArrayLike, amplitude: ArrayLike, *, resistance: float, inductance: float, bus_voltage: float, back_emf: float
) -> Array:
    """The highest frequency [Hz] at which a current of this `amplitude` î [A] can swing about zero at a motor `speed` [rad/s].

    Speed takes e = k_ω |ω| of the bus voltage u (`back_emf` k_ω [V·s/rad]), and the rest must drive the winding's impedance:

        î √(R² + (2π f L)²) = u − e    =>    f = √(((u − e) / î)² − R²) / (2π L)

    0 where u − e does not even hold the current still. Of the largest current that voltage can alternate at f∞ and
    standstill, î = u / (√2 R), this is f∞ = R / (2π L); at speed it is less. Shapes broadcast.
    """
    f_inf = winding_bandwidth(resistance, inductance)
    i = np.asarray(amplitude, dtype=float)
    if not (i > 0).all():
        raise SurefootError(f"the amplitude of the current is {i.min():g} A; it must be above 0.")
    headroom = np.maximum(bus_voltage - back_emf * np.abs(np.asarray(speed, dtype=float)), 0.0)
    return f_inf * np.sqrt(np.maximum((headroom / (i * resistance)) ** 2 - 1.0, 0.0))
