"""What is to be found: which parameters are free, which are fixed or tied together, and between which bounds they lie.

`Unknowns` is what the user says; `Space` is what the search sees: a cube [-1, 1]^d and its way back to joint dynamics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from dataclasses import replace as _replace
from fnmatch import fnmatchcase
from typing import Any, Self

import numpy as np

from surefoot.errors import SurefootError, unknown
from surefoot.identify.names import mirrored
from surefoot.robot.dynamics import PARAMETERS, JointDynamics

Array = np.ndarray
CORE = tuple(name for name, p in PARAMETERS.items() if p.core)
EXTRA = ("load", "breakaway", "load_friction", "cutoff", "tilt", "gain_scale")
LOGARITHMIC = ("cutoff", "gain_scale")  # searched in their logarithm
TIED = ("armature", "damping", "friction")  # what a tie without a parameter's name ties


@dataclass(frozen=True, kw_only=True)
class Unknowns:
    """The user's choice. Keys are "NAME" or "NAME:PATTERN", the pattern in shell style on joint names: "friction:LF_*"."""

    extra: tuple[str, ...] = ()  # optional parameters to find as well, of EXTRA
    joint_delays: bool = False  # one delay per joint
    fixed: Mapping[str, float] = field(default_factory=dict)
    tied: tuple[str, ...] = ()  # "left-right", "PATTERN" or "NAME:PATTERN": one value for all these joints
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    stribeck_speed: float = 0.1  # [rad/s]

    def __post_init__(self) -> None:
        wrong = [name for name in self.extra if name not in EXTRA]
        if wrong:
            raise unknown("extra parameter", wrong, EXTRA)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One scalar of the joint dynamics."""

    name: str
    index: int
    label: str  # "LF_HAA friction", "delay"
    joint: str  # "" where the joints share it
    lower: float
    upper: float


@dataclass(frozen=True, kw_only=True)
class Space:
    """A cube [-1, 1]^d of free variables; every entry of the joint dynamics is a variable, or fixed."""

    base: JointDynamics  # values of everything that is fixed
    entries: tuple[Entry, ...]
    variable: Array  # variable of each entry, -1 where fixed, shape (entries,)
    lower: Array  # [SI], shape (d,); logarithmic where `log`
    upper: Array
    log: Array  # bool, shape (d,)

    @property
    def size(self) -> int:
        """Number of free variables."""
        return len(self.lower)

    def labels(self) -> list[str]:
        """A name for each variable: its entries' labels."""
        out: list[list[str]] = [[] for _ in range(self.size)]
        for entry, k in zip(self.entries, self.variable, strict=True):
            if k >= 0:
                out[k].append(entry.label)
        return [" = ".join(names) for names in out]

    def values(self, x: Array) -> Array:
        """Physical values of points of the cube, shape (..., d)."""
        y = self.lower + (np.asarray(x) + 1) / 2 * (self.upper - self.lower)
        return np.where(self.log, np.exp(np.where(self.log, y, 0.0)), y)

    def slopes(self, x: Array) -> Array:
        """d value / d x, shape (d,)."""
        half = (self.upper - self.lower) / 2
        return np.where(self.log, self.values(x) * half, half)

    def decode(self, x: Array) -> JointDynamics:
        """Joint dynamics of points of the cube, shape (L, d)."""
        x = np.atleast_2d(x)
        values = self.values(x)
        arrays = {k: np.repeat(v[None], len(x), 0) for k, v in self.base.arrays().items()}
        for entry, k in zip(self.entries, self.variable, strict=True):
            if k >= 0:
                arrays[entry.name][:, entry.index] = values[:, k]
        return JointDynamics(joints=self.base.joints, **arrays)

    def encode(self, dynamics: JointDynamics) -> Array:
        """The point of the cube nearest to some joint dynamics, shape (d,); tied entries are averaged."""
        total, count = np.zeros(self.size), np.zeros(self.size)
        for entry, k in zip(self.entries, self.variable, strict=True):
            if k >= 0:
                row = getattr(dynamics, entry.name)
                total[k] += row[entry.index if len(row) > entry.index else 0]
                count[k] += 1
        mean = total / count
        mean = np.where(self.log, np.log(np.maximum(mean, 1e-300)), mean)
        return np.clip(2 * (mean - self.lower) / (self.upper - self.lower) - 1, -1, 1)

    def with_base(self, **changes: Array) -> Self:
        """The same space with other fixed values."""
        return _replace(self, base=self.base.replace(**changes))


def make_space(
    joints: tuple[str, ...], prescribed: tuple[str, ...], unknowns: Unknowns, bounds: dict[str, tuple[Array, Array]]
) -> Space:
    """Lay out the free variables; `bounds` gives (lower, upper) per parameter, one number per joint or shared one."""
    base = JointDynamics.no_model(joints).replace(stribeck_speed=np.array([unknowns.stribeck_speed]))
    if unknowns.joint_delays:
        base = base.replace(delay=np.zeros(len(joints)))
    entries = _entries(joints, prescribed, unknowns, bounds)
    bounds_of = _by_key(unknowns.bounds, entries, joints, "bounds")
    fixed = _by_key(unknowns.fixed, entries, joints, "fixed")
    entries = [_narrowed(e, bounds_of.get(i)) for i, e in enumerate(entries)]
    for i, value in fixed.items():
        row = np.array(getattr(base, entries[i].name))
        row[entries[i].index] = value
        base = base.replace(**{entries[i].name: row})
    variable = _variables(entries, fixed, unknowns, joints)
    count = int(variable.max(initial=-1)) + 1
    if count == 0:
        raise SurefootError("every parameter is fixed; leave at least one free.")
    lower, upper, log = np.full(count, -np.inf), np.full(count, np.inf), np.zeros(count, bool)
    for e, k in zip(entries, variable, strict=True):
        if k >= 0:
            log[k] = e.name in LOGARITHMIC
            low, high = (np.log([e.lower, e.upper])) if log[k] else (e.lower, e.upper)
            lower[k], upper[k] = max(lower[k], low), min(upper[k], high)
    for k in np.flatnonzero(lower >= upper):
        names = ", ".join(e.label for e, v in zip(entries, variable, strict=True) if v == k)
        raise SurefootError(f"the bounds of {names} leave no room: {lower[k]:g} to {upper[k]:g}. Give lower < upper.")
    return Space(base=base, entries=tuple(entries), variable=variable, lower=lower, upper=upper, log=log)


def _entries(
    joints: tuple[str, ...], prescribed: tuple[str, ...], unknowns: Unknowns, bounds: dict[str, tuple[Array, Array]]
) -> list[Entry]:  # fmt: skip
    out = []
    for name in [*CORE, *unknowns.extra]:
        per_joint = PARAMETERS[name].size == "joint" or (name == "delay" and unknowns.joint_delays)
        size = len(joints) if per_joint else {"one": 1, "tilt": 2}[PARAMETERS[name].size]
        low, high = (np.broadcast_to(b, (size,)) for b in bounds[name])
        for i in range(size):
            if per_joint and joints[i] in prescribed:
                continue
            label = f"{joints[i]} {name}" if per_joint else name
            label = f"tilt {('roll', 'pitch')[i]}" if name == "tilt" else label
            joint = joints[i] if per_joint else ""
            out.append(Entry(name=name, index=i, label=label, joint=joint, lower=float(low[i]), upper=float(high[i])))
    return out


def _narrowed(entry: Entry, bounds: Any) -> Entry:
    if bounds is None:
        return entry
    low, high = map(float, bounds)
    least, open_end = PARAMETERS[entry.name].least, PARAMETERS[entry.name].positive
    if not low < high or low < least or (open_end and low == least) or not np.isfinite([low, high]).all():
        rule = "finite" if least == -np.inf else f"finite and {'above' if open_end else 'at least'} {least:g}"
        raise SurefootError(f"bounds of {entry.label} are {low:g} to {high:g}; give lower < upper, both {rule}.")
    return _replace(entry, lower=low, upper=high)


def _by_key(table: Mapping[str, Any], entries: list[Entry], joints: tuple[str, ...], what: str) -> dict[int, Any]:
    """Entries that each key names; later keys win."""
    out: dict[int, Any] = {}
    for key, value in table.items():
        name, _, pattern = key.partition(":")
        chosen = [i for i, e in enumerate(entries) if e.name == name and (not pattern or fnmatchcase(e.joint, pattern))]
        if not chosen:
            valid = sorted({e.name for e in entries})
            if name in valid:
                raise unknown(f"joint pattern in {what} {key!r}:", [pattern], joints)
            hint = "; switch an extra parameter on with --extra" if name in EXTRA else ""
            raise SurefootError(f"unknown parameter {name!r} in {what}; valid: {', '.join(valid)}{hint}.")
        out.update(dict.fromkeys(chosen, value))
    return out


def _variables(entries: list[Entry], fixed: Mapping[int, Any], unknowns: Unknowns, joints: tuple[str, ...]) -> Array:
    """One variable per entry, then merged by the ties."""
    leader = list(range(len(entries)))
    for tie in unknowns.tied:
        for members in _tied(tie, entries, joints):
            held = [i for i in members if i in fixed]
            if held and len(held) < len(members):
                other = next(i for i in members if i not in fixed)
                raise SurefootError(
                    f"{entries[held[0]].label} is fixed, but tied to {entries[other].label}, which is free; "
                    "fix both or drop the tie."
                )
            first = min(leader[i] for i in members)
            olds = {leader[i] for i in members}
            leader = [first if x in olds else x for x in leader]
    free = sorted({leader[i] for i in range(len(entries)) if i not in fixed})
    number = {x: k for k, x in enumerate(free)}
    return np.array([-1 if i in fixed else number[leader[i]] for i in range(len(entries))], dtype=int)


def _tied(tie: str, entries: list[Entry], joints: tuple[str, ...]) -> list[list[int]]:
    """Groups of entries that one tie makes equal."""
    if tie == "left-right":
        pairs = mirrored(joints)
        if not pairs:
            raise SurefootError(
                f"no joint has a left or right twin by name; tie by pattern instead. Joints: {', '.join(joints)}."
            )
        groups, names = [{joints[i] for i in pair} for pair in pairs], TIED
    else:
        name, _, pattern = tie.rpartition(":")
        names = (name,) if name else TIED
        valid = sorted({e.name for e in entries if e.joint})
        if wrong := [n for n in names if n not in valid]:
            known = PARAMETERS.get(wrong[0])
            hint = "; joints share this one" if known else ""
            hint = "; switch it on with --extra" if known and known.size == "joint" else hint
            raise SurefootError(f"unknown parameter {wrong[0]!r} in tie {tie!r}; valid: {', '.join(valid)}{hint}.")
        groups = [{joint for joint in joints if fnmatchcase(joint, pattern)}]
        if len(groups[0]) < 2:
            raise SurefootError(
                f"tie {tie!r} matches {len(groups[0])} joints; at least 2 are needed. Joints: {', '.join(joints)}."
            )
    tied = [[i for i, e in enumerate(entries) if e.name == n and e.joint in g] for n in names for g in groups]
    return [members for members in tied if members]
