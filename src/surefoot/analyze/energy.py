"""What walking costs, and to whom: the cost of transport as electronics, drives and locomotion, after the paper's protocol.

Three tests of one robot: `off` (powered, drives disabled), `rest` (drives enabled, no torque) and the walk itself. Power of a
drive and of gravity is in surefoot.robot.energy; here are the accounts of a whole robot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import SurefootError
from surefoot.robot.energy import GRAVITY, cost_of_transport, joule_constant
from surefoot.robot.spec import Robot

Array = NDArray[np.float64]
HOUR = 3600.0  # [s]; 1 Wh = 3600 J
LEVER = 0.1  # [m]


@dataclass(frozen=True, kw_only=True)
class Discharge:
    """A battery's state of charge at both ends of a test."""

    duration: float  # t [s]
    first: float  # SoC at the beginning [-]
    last: float  # SoC at the end [-]

    def __post_init__(self) -> None:
        if not self.duration > 0:
            raise SurefootError(f"a discharge of {self.duration:g} s is none; its duration must be above 0 s.")
        if not 0 <= self.last < self.first <= 1:
            raise SurefootError(
                f"a battery was discharged from {self.first:g} to {self.last:g}; expected shares of its capacity that fall, "
                "such as 0.95 and 0.15."
            )

    def energy(self, capacity: float) -> float:
        """E = E_B (SoC_max − SoC_min) [J] of a battery of E_B [Wh]."""
        return HOUR * capacity * (self.first - self.last)

    def power(self, capacity: float) -> float:
        """P = E_B (SoC_max − SoC_min) / t [W]."""
        return self.energy(capacity) / self.duration


@dataclass(frozen=True, kw_only=True)
class Transport:
    """Cost of transport and its parts [-]: CoT = CoE + CoD + CoL."""

    electronics: float  # CoE: computing and sensing
    drives: float  # CoD: drives that are enabled and do nothing
    locomotion: float  # CoL: what motion costs: the rest

    @property
    def total(self) -> float:
        """CoT."""
        return self.electronics + self.drives + self.locomotion

    def to_dict(self) -> dict[str, float]:
        """By the paper's names."""
        return {"cot": self.total, "coe": self.electronics, "cod": self.drives, "col": self.locomotion}


def decompose(
    *, energy: float, duration: float, distance: float, mass: float, off: float, rest: float,
) -> Transport:  # fmt: skip
    """The parts of a walk of `distance` Δs [m] in `duration` t [s] that took `energy` E [J] from the battery.

    With m [kg], and P_off and P_rest [W] from the other two tests:

        CoT = E / (m g Δs)        CoE = P_off t / (m g Δs)
        CoD = (P_rest − P_off) t / (m g Δs)        CoL = CoT − P_rest t / (m g Δs)
    """
    for name, value, unit in (("duration", duration, "s"), ("distance", distance, "m"), ("mass", mass, "kg")):
        if not (np.isfinite(value) and value > 0):
            raise SurefootError(f"the {name} of a walk is {value:g} {unit}; a cost of transport needs one above 0.")
    if not 0 <= off <= rest:
        raise SurefootError(
            f"the robot draws {off:g} W with its drives disabled and {rest:g} W with them enabled; expected 0 <= off <= rest."
        )
    speed = distance / duration
    cost = lambda power: float(cost_of_transport(power, mass, speed))  # noqa: E731
    total = cost(energy / duration)
    return Transport(electronics=cost(off), drives=cost(rest - off), locomotion=total - cost(rest))


def standby(robot: Robot) -> tuple[float, float]:
    """P_off and P_rest of a robot [W], as its robot.toml says."""
    if missing := [name for name in ("off", "rest") if name not in robot.battery]:
        raise SurefootError(
            f"{robot.name}: what it draws at rest is not known ({' and '.join(missing)}). Give off and rest [W] under "
            "[battery] in its robot.toml, or measure them with --off and --rest."
        )
    return robot.battery["off"], robot.battery["rest"]


@dataclass(frozen=True, kw_only=True, eq=False)
class JouleScale:
    """How much heat a robot's joints make, in its posture."""

    robot: str
    mass: float  # [kg]
    joints: tuple[str, ...]
    constant: Array  # R / (r k_i)² [W/(N·m)²], shape (n,)

    @property
    def mean(self) -> float:
        """Over the joints [W/(N·m)²]."""
        return float(self.constant.mean())

    @property
    def weighed(self) -> float:
        """Σ_j c_j (m g l / n)² [W]: heat of carrying the weight on a lever l of 10 cm, shared by all n joints alike.

        Heat goes with the torque squared and torque with the weight, so this compares robots of different weight.
        """
        torque = self.mass * GRAVITY * LEVER / len(self.joints)
        return float((self.constant * torque**2).sum())


def joule_scale(robot: Robot) -> JouleScale:
    """The paper's bar chart for one robot: what its motors make of a torque, beside its weight."""
    return JouleScale(robot=robot.name, mass=robot.mass, joints=robot.joints, constant=joule_constant(robot, robot.posture))


@dataclass(frozen=True, kw_only=True)
class Published:
    """A column of the paper's running-track table, as printed."""

    name: str
    mass: float | None  # [kg]; None: not in the paper
    rounds: float
    distance: float  # [m]
    discharge: Discharge
    speed: float  # average, as printed [m/s]
    efficiency: float  # η, as printed [-]
    power: float  # average, as printed [W]
    cost: Transport | None  # CoT and its parts, as printed; None: not in the table
    total: float | None  # CoT, as printed


def _column(
    name: str, mass: float | None, rounds: float, distance: float, first: float, last: float, minutes: float, speed: float,
    efficiency: float, power: float, parts: tuple[float, float, float, float] | None,
) -> Published:  # fmt: skip
    cost = None if parts is None else Transport(electronics=parts[0], drives=parts[1], locomotion=parts[2])
    return Published(
        name=name, mass=mass, rounds=rounds, distance=distance, speed=speed, efficiency=efficiency, power=power, cost=cost,
        discharge=Discharge(duration=60 * minutes, first=first, last=last), total=None if parts is None else parts[3],
    )  # fmt: skip


CAPACITY = 907.2  # E_B of the paper's robots [Wh]
PUBLISHED = (
    _column("ANYmal C", None, 6.6, 2640, 0.89, 0.10, 59, 0.740, 1.00, 723, (0.50, 0.24, 1.12, 1.86)),
    _column("AoPS", None, 7.5, 3000, 0.92, 0.11, 68, 0.735, 1.11, 646, None),
    _column("ANYmal D", 52.8, 10.3, 4120, 0.95, 0.15, 82, 0.850, 1.32, 556, (0.50, 0.24, 0.53, 1.27)),
    _column("Tytan", 52.3, 15.25, 6100, 0.98, 0.05, 104, 0.978, 1.96, 504, (0.29, 0.21, 0.47, 0.97)),
)
"""The paper's tables. Its formula applied to ANYmal D's own row gives 1.22, not 1.27; see docs/energy.md."""


def published_cost(column: Published) -> float:
    """CoT by the paper's formula from a column of its own table; nan where the mass is not given."""
    if column.mass is None:
        return float("nan")
    power = column.discharge.power(CAPACITY)
    return float(cost_of_transport(power, column.mass, column.distance / column.discharge.duration))
