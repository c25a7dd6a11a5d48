"""How heavy the base feels at a joint while the foot stands: the reason why joints are identified in the air.

A leg of two links of equal length l stands on the ground and carries its share m of the base; the links have no mass, there
is no gravity, and the base moves in the leg's plane without turning. q_k is the knee's flexion (0: straight), q_h the hip's
angle from the vertical, I_h and I_k what the two joints carry in the air (links and drives). One coordinate is left, so that
d'Alembert's principle gives one inertia: the base's velocity squared, and each joint's, per joint velocity squared.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.errors import SurefootError

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class StandingLeg:
    """One leg on the ground, with its share of the base."""

    base_mass: float  # m: the base's mass over the legs that carry it [kg]
    length: float  # l of thigh and of shank [m]
    hip_inertia: float  # I_h in the air [kg·m²]
    knee_inertia: float  # I_k in the air [kg·m²]

    def __post_init__(self) -> None:
        for name in ("base_mass", "length"):
            if not getattr(self, name) > 0:
                raise SurefootError(f"{name} of a standing leg is {getattr(self, name):g}; it must be above 0.")

    def vertical(self, height: ArrayLike) -> Array:
        """Inertia at the knee [kg·m²] while the base rises straight above the foot, at a hip height z [m].

        z = 2 l cos(q_k / 2) and q_h = q_k / 2, hence Ĩ_k = m l² sin²(q_k / 2) + I_h / 4 + I_k.
        """
        l, z = self.length, self._reachable(height)
        sine = np.sqrt(1 - (z / (2 * l)) ** 2)
        return self.base_mass * l**2 * sine**2 + self.hip_inertia / 4 + self.knee_inertia

    def horizontal(self, offset: ArrayLike, height: float) -> Array:
        """Inertia at the hip [kg·m²] while the base moves level at a hip height z [m], at x = `offset` [m] ahead of the foot.

        With ρ² = x² + z²: q_k = 2 arccos(ρ / 2l) and q_h = arctan(x / z) + q_k / 2, hence
        Ĩ_h = (m + I_k (dq_k / dx)²) / (dq_h / dx)² + I_h. Infinite where the hip turns back, dq_h / dx = 0.
        """
        l, x, z = self.length, np.asarray(offset, dtype=float), height
        rho = self._reachable(np.hypot(x, z))
        knee = -2 * x / (rho * np.sqrt((2 * l) ** 2 - rho**2))  # dq_k / dx
        hip = z / rho**2 + knee / 2  # dq_h / dx
        with np.errstate(divide="ignore"):
            return (self.base_mass + self.knee_inertia * knee**2) / hip**2 + self.hip_inertia

    def _reachable(self, distance: ArrayLike) -> Array:
        rho = np.asarray(distance, dtype=float)
        if not ((rho > 0) & (rho < 2 * self.length)).all():
            wrong = rho[~((rho > 0) & (rho < 2 * self.length))].flat[0]
            raise SurefootError(
                f"a leg of two links of {self.length:g} m reaches between 0 and {2 * self.length:g} m, not {wrong:.4g} m."
            )
        return rho
