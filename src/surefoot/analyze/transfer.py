"""Closed forms: what the linear models of a joint and of its current loop make of a frequency."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Complex = NDArray[np.complex128]


def joint_transfer(
    frequency: ArrayLike, *, inertia: float, viscous: float, stiffness: float, damping: float, delay: float
) -> Complex:
    """The paper's outer loop, commanded to measured joint position, at frequencies [Hz], shape (F,).

    H_q(s) = e^(−s T_d) P / (I s² + (d + D) s + P), with I = `inertia` of the joint and all it moves [kg·m²], d = `viscous`
    [N·m·s/rad], P = `stiffness` [N·m/rad], D = `damping` gain [N·m·s/rad], T_d = `delay` [s]. Dry friction has no place in it.
    """
    s = 2j * np.pi * np.asarray(frequency, dtype=float)
    return np.exp(-s * delay) * stiffness / (inertia * s**2 + (viscous + damping) * s + stiffness)


def current_transfer(
    frequency: ArrayLike, *, resistance: float, inductance: float, proportional: float, integral: float, dead_time: float,
    back_emf: float = 0.0, torque_constant: float = 0.0, inertia: float = np.inf, viscous: float = 0.0,
) -> Complex:  # fmt: skip
    """The paper's inner loop, commanded to measured current, at frequencies [Hz], shape (F,); all on the motor's side.

    H_i = C Y e^(−s T) / (1 + C Y e^(−s T)) with the PI law C = P_u + I_u / s, `proportional` P_u [V/A] and `integral` I_u
    [V/(A·s)], dead time T [s] of computation and inverter, and the winding Y = 1 / (L s + R + k_ω k_i / (J s + b)). The last
    term is the back-EMF of a rotor that turns freely, `inertia` J [kg·m²] and `viscous` b [N·m·s/rad] with k_ω = `back_emf`
    [V·s/rad] and k_i = `torque_constant` [N·m/A]; as given, the rotor is locked.
    """
    s = 2j * np.pi * np.asarray(frequency, dtype=float)
    motion = 0.0 if np.isinf(inertia) else back_emf * torque_constant / (inertia * s + viscous)
    winding = 1.0 / (inductance * s + resistance + motion)
    loop = (proportional + integral / s) * winding * np.exp(-s * dead_time)
    return loop / (1.0 + loop)
