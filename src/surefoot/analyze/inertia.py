"""Inertia from drawings: what a drive's turning parts, and what is bolted to its output, weigh at the joint."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.errors import SurefootError


@dataclass(frozen=True, kw_only=True)
class DriveInertia:
    """Inertia of a drive's parts, each reduced to the output [kg·m²]."""

    rotor: float
    sun: float
    planets: float
    shaft: float

    @property
    def total(self) -> float:
        """Ĩ_output = Ĩ_rotor + Ĩ_sun + Ĩ_planets + Ĩ_shaft [kg·m²]."""
        return self.rotor + self.sun + self.planets + self.shaft


@dataclass(frozen=True, kw_only=True)
class PlanetaryDrive:
    """A motor on the sun of a planetary gear with a fixed ring; the planets' carrier is the output."""

    rotor: float  # about the motor's axis [kg·m²]
    sun: float  # sun gear and what turns with it, about the motor's axis [kg·m²]
    planet: float  # one planet about its own axis [kg·m²]
    planet_mass: float  # of one [kg]
    carrier: float  # output shaft and carrier about the joint's axis [kg·m²]
    planets: int
    sun_radius: float  # pitch radius r_s [m]
    planet_radius: float  # pitch radius r_p [m]

    def __post_init__(self) -> None:
        for name in ("rotor", "sun", "planet", "planet_mass", "carrier"):
            if not getattr(self, name) >= 0:
                raise SurefootError(f"{name} of a planetary drive is {getattr(self, name):g}; it must be at least 0.")
        for name in ("planets", "sun_radius", "planet_radius"):
            if not getattr(self, name) > 0:
                raise SurefootError(f"{name} of a planetary drive is {getattr(self, name):g}; it must be above 0.")

    @property
    def ratio(self) -> float:
        """r = 1 + r_ring / r_s, with r_ring = r_s + 2 r_p."""
        return 2.0 * (1.0 + self.planet_radius / self.sun_radius)

    def reduced(self) -> DriveInertia:
        """Every part's share of the inertia at the output, from the kinetic energy T = ½ Ĩ ω² of an output that turns with ω.

        Rotor and sun turn with r ω. A planet's centre goes round at r_s + r_p with ω, and the planet rolls in the fixed ring,
        which turns it with −(r_s + r_p) / r_p ω.
        """
        r, orbit = self.ratio, self.sun_radius + self.planet_radius
        spin = orbit / self.planet_radius
        return DriveInertia(
            rotor=r**2 * self.rotor,
            sun=r**2 * self.sun,
            planets=self.planets * (self.planet_mass * orbit**2 + spin**2 * self.planet),
            shaft=self.carrier,
        )


def inertia_at_radius(mass: float, own: float, radius: float) -> float:
    """Inertia [kg·m²] about a parallel axis at `radius` [m] from the centre of `mass` [kg]: I = I_own + m r²."""
    return own + mass * radius**2
