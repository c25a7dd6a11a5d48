"""A user's own battery log: time, voltage and current, and how far the robot came. Units are read from the header and checked.

A header may be: time [s], voltage [V], current [A], distance [m].
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import SurefootError
from surefoot.record.formats.csv import columns
from surefoot.record.formats.words import SECONDS, time_unit

Array = NDArray[np.float64]
KINDS: dict[str, tuple[str, dict[str, float], float]] = {  # names, units with their factor to SI, largest believable size in SI
    "voltage": ("voltage bus_voltage battery_voltage pack_voltage v_bat vbat u volt volts", {"V": 1.0, "mV": 1e-3}, 1000.0),
    "current": ("current battery_current pack_current bus_current i_bat ibat amps", {"A": 1.0, "mA": 1e-3}, 1000.0),
    "power": ("power battery_power p_bat", {"W": 1.0, "kW": 1e3, "mW": 1e-3}, 50000.0),
    "distance": ("distance odometer way", {"m": 1.0, "km": 1e3}, 1e6),
    "speed": ("speed velocity v_x vx forward_velocity", {"m/s": 1.0, "km/h": 1 / 3.6}, 15.0),
    "x": ("x position_x pos_x px", {"m": 1.0}, 1e6),
    "y": ("y position_y pos_y py", {"m": 1.0}, 1e6),
    "charge": ("soc charge state_of_charge", {"-": 1.0, "%": 0.01}, 1.0),
}
LEAST = {"voltage": 3.0}  # smaller medians are not those of a robot's battery
GAP = 10.0  # seconds without a sample that are told


@dataclass(frozen=True, kw_only=True, eq=False)
class BatteryLog:
    """What left the battery, and how far the robot came, in SI; arrays of shape (T,)."""

    name: str
    time: Array  # [s]
    power: Array  # out of the battery [W]
    distance: Array | None  # since the first sample [m]
    charge: Array | None  # SoC as the battery says [-]
    notes: tuple[str, ...] = ()  # what was assumed

    @classmethod
    def load(cls, path: str | Path, *, flip_current: bool = False) -> Self:
        """Read a CSV; `flip_current` for a log that counts a discharge negative."""
        path = Path(path)
        if not path.is_file():
            raise SurefootError(f"there is no log at {path}.")
        header, read = columns(path)
        found = _find(path.name, header)
        time = _time(path.name, header, read)
        good = {kind: _si(path.name, kind, name, unit, read(name)) for kind, (name, unit) in found.items()}
        for kind, values in good.items():
            if not np.isfinite(values).all():
                raise SurefootError(
                    f"{path.name}: row {int(np.flatnonzero(~np.isfinite(values))[0]) + 1} has no {kind}; remove the row."
                )
        if "power" not in good and not {"voltage", "current"} <= good.keys():
            raise SurefootError(
                f"{path.name} has the columns {', '.join(header)}; an account of energy needs time, voltage and current (or "
                "power). Name them in the header, for example time [s], voltage [V], current [A]."
            )
        power = good["power"] if "power" in good else good["voltage"] * good["current"]
        power = -power if flip_current else power
        if not power.mean() > 0:
            raise SurefootError(
                f"{path.name}: the battery gains energy ({power.mean():.4g} W on average). If this log counts a discharge "
                "negative, pass --flip-current."
            )
        units = tuple(f"{name} taken as {kind} in {unit or next(iter(KINDS[kind][1]))}" for kind, (name, unit) in found.items())
        return cls(
            name=path.name, time=time - time[0], power=power, distance=_distance(time, good), charge=good.get("charge"),
            notes=units + _gaps(time),
        )  # fmt: skip

    @property
    def duration(self) -> float:
        """t [s]."""
        return float(self.time[-1])

    @property
    def energy(self) -> float:
        """E = ∫ u i dt [J], straight between the samples."""
        return float(np.trapezoid(self.power, self.time))

    @property
    def mean_power(self) -> float:
        """E / t [W]."""
        return self.energy / self.duration

    def charge_over_distance(self, capacity: float, every: float) -> tuple[Array, Array]:
        """SoC at every so many metres and at the end: the battery's own, or 1 − E / E_B from full at the first sample."""
        if self.distance is None:
            raise SurefootError(
                f"{self.name} says nothing of the way; add a column distance [m], speed [m/s], or x [m] and y [m]."
            )
        used = np.concatenate([[0.0], np.cumsum(0.5 * (self.power[1:] + self.power[:-1]) * np.diff(self.time))])
        charge = 1.0 - used / (3600.0 * capacity) if self.charge is None else self.charge
        at = np.append(np.arange(0.0, self.distance[-1], every), self.distance[-1])
        return at, np.interp(at, self.distance, charge)


def _find(where: str, header: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Column and unit of each kind that the header names."""
    out: dict[str, tuple[str, str]] = {}
    for name in header:
        match = re.fullmatch(r"\s*(.*?)\s*(?:[\[(]\s*(.*?)\s*[\])])?\s*", name)
        base, unit = (match[1].lower().replace(" ", "_"), match[2] or "") if match else (name, "")
        for kind, (words, units, _) in KINDS.items():
            suffix = next((u for u in units if base.endswith(f"_{u.lower()}")), "")
            if base in words.split() or (suffix and base.removesuffix(f"_{suffix.lower()}") in words.split()):
                unit = unit or suffix
                if unit and unit not in units:
                    raise SurefootError(f"{where}: {name!r} is in {unit!r}; a {kind} can be in {', '.join(units)}.")
                if kind in out:
                    raise SurefootError(f"{where}: both {out[kind][0]!r} and {name!r} are a {kind}; keep one.")
                out[kind] = (name, unit)
                break
    return out


def _time(where: str, header: Sequence[str], read: Callable[[str], Array]) -> Array:
    """Stamps in seconds, increasing."""
    named = [(name, unit) for name in header if (unit := time_unit(name)) is not None]
    if len(named) != 1:
        raise SurefootError(
            f"{where} has {len(named)} columns of time among {', '.join(header)}; expected one, for example time [s] or time_ms."
        )
    name, unit = named[0]
    stamps = read(name)
    seconds = (stamps - stamps[0]).astype(float) * SECONDS[unit] if len(stamps) else stamps  # whole nanoseconds first
    if len(seconds) < 2:
        raise SurefootError(f"{where} has {len(seconds)} samples; an account needs at least two.")
    if (wrong := np.flatnonzero(~(np.diff(seconds) > 0))).size:
        raise SurefootError(
            f"{where}: time does not increase from row {wrong[0] + 1} to row {wrong[0] + 2}; sort or remove rows."
        )
    return seconds


def _si(where: str, kind: str, name: str, unit: str, values: Array) -> Array:
    """A column in SI; a size that cannot be is refused with the unit that it may have."""
    _, units, most = KINDS[kind]
    out = np.asarray(values, float) * (units[unit] if unit else 1.0)
    there = np.abs(out[np.isfinite(out)])
    if not there.size:
        return out
    size = float(there.max())
    if size > most * (1 + 1e-9) or float(np.median(there)) < LEAST.get(kind, 0.0):
        said = f"in {unit}" if unit else "without a unit"
        names = ", ".join(f"{name.split(' [')[0]} [{u}]" for u in units)
        raise SurefootError(
            f"{where}: {name!r} is {said} and reaches {size:g} {next(iter(units))}, which no legged robot's {kind} does. Write "
            f"its unit into the header: {names}."
        )
    return out


def _distance(time: Array, good: dict[str, Array]) -> Array | None:
    """The way: as logged, along x and y, or the integral of the speed."""
    if "distance" in good:
        return good["distance"] - good["distance"][0]
    if {"x", "y"} <= good.keys():
        return np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(good["x"]), np.diff(good["y"])))])
    if "speed" in good:
        v = np.abs(good["speed"])
        return np.concatenate([[0.0], np.cumsum(0.5 * (v[1:] + v[:-1]) * np.diff(time))])
    return None


def _gaps(time: Array) -> tuple[str, ...]:
    step = np.diff(time)
    if step.max() <= max(GAP, 5 * float(np.median(step))):
        return ()
    k = int(step.argmax())
    return (f"{step[k]:.0f} s without a sample from {time[k] - time[0]:.0f} s on; power is taken as straight there",)
