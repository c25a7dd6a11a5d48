"""What is unknown about a robot's joints: the paper's 4n+1 parameters, and the optional ones that real robots need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from dataclasses import replace as _replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import SurefootError, unknown

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One kind of joint parameter: its unit, its size, and the value at which it has no effect."""

    name: str
    unit: str  # for a hinge
    slide_unit: str  # for a slide
    symbol: str
    size: Literal["joint", "one", "tilt"]  # n values, one value (delay: one or n), or roll and pitch
    neutral: float
    core: bool  # one of the paper's 4n+1
    least: float = -np.inf  # smallest value that means anything
    positive: bool = False  # the smallest value itself is excluded


_TORQUE, _VISCOUS, _ANGLE = ("N·m", "N"), ("N·m·s/rad", "N·s/m"), ("rad", "m")


def _parameter(name: str, symbol: str, units: tuple[str, str], **more: Any) -> tuple[str, Parameter]:
    settings = {"size": "joint", "neutral": 0.0, "core": False} | more
    return name, Parameter(name=name, symbol=symbol, unit=units[0], slide_unit=units[1], **settings)


PARAMETERS: dict[str, Parameter] = dict(
    [
        _parameter("armature", "I_a", ("kg·m²", "kg"), core=True, least=0.0),
        _parameter("damping", "d", _VISCOUS, core=True, least=0.0),
        _parameter("friction", "τ_f", _TORQUE, core=True, least=0.0),
        _parameter("bias", "q_b", _ANGLE, core=True),
        _parameter("delay", "T_d", ("s", "s"), core=True, least=0.0, size="one"),
        _parameter("load", "τ_0", _TORQUE),
        _parameter("breakaway", "τ_s", _TORQUE, least=0.0),
        _parameter("stribeck_speed", "v_s", ("rad/s", "m/s"), least=0.0, positive=True, size="one", neutral=0.1),
        _parameter("load_friction", "μ", ("-", "-"), least=0.0),
        _parameter("cutoff", "f_c", ("Hz", "Hz"), least=0.0, positive=True, size="one", neutral=np.inf),
        _parameter("tilt", "φ", ("rad", "rad"), size="tilt"),
        _parameter("gain_scale", "s", ("-", "-"), least=0.0, positive=True, size="one", neutral=1.0),
    ]
)


def _none_for_infinity(value: Any) -> Any:
    if isinstance(value, list):
        return [_none_for_infinity(x) for x in value]
    return None if np.isinf(value) else value


def _absent() -> Array:
    return np.empty(0)


@dataclass(frozen=True, kw_only=True, eq=False)
class JointDynamics:
    """The dynamics of n joints, of one candidate or of a batch of them (the leading axes, shape `batch`).

    The drive of a joint with encoder q − q_b gives τ = sat(P(û(t − T_d) − (q − q_b)) − D q̇), and the joint follows
    (M(q) + diag(I_a)) q̈ + bias forces = τ − d q̇ − friction(q̇), with
    friction(v) = sign(v) (τ_f + μ |τ| + τ_s / (1 + (v / v_s)²)). The parameters after `delay` are neutral unless given.
    """

    joints: tuple[str, ...]
    armature: Array  # I_a [kg·m²] (slide: kg), shape (..., n)
    damping: Array  # d [N·m·s/rad] (slide: N·s/m), shape (..., n)
    friction: Array  # τ_f [N·m] (slide: N), shape (..., n)
    bias: Array  # q_b [rad] (slide: m), shape (..., n)
    delay: Array  # T_d [s], shape (..., 1) shared by all joints, or (..., n)
    load: Array = field(default_factory=_absent)  # constant load torque [N·m], shape (..., n)
    breakaway: Array = field(default_factory=_absent)  # τ_s: extra friction at standstill [N·m], shape (..., n)
    stribeck_speed: Array = field(default_factory=_absent)  # v_s: speed at which half of τ_s is gone [rad/s], (..., 1)
    load_friction: Array = field(default_factory=_absent)  # μ: friction per drive torque [-], shape (..., n)
    cutoff: Array = field(default_factory=_absent)  # drive-side low-pass on the joint velocity [Hz], (..., 1)
    tilt: Array = field(default_factory=_absent)  # roll and pitch of the base of a robot that hangs askew [rad], (..., 2)
    gain_scale: Array = field(default_factory=_absent)  # one factor on all gains [-], (..., 1)

    def __post_init__(self) -> None:
        joints = tuple(self.joints)
        if not joints or len(set(joints)) != len(joints):
            raise SurefootError(f"joint dynamics need distinct joint names; got {', '.join(joints) or 'none'}.")
        object.__setattr__(self, "joints", joints)
        values = {p.name: self._read(p) for p in PARAMETERS.values()}
        try:
            batch = np.broadcast_shapes(*(v.shape[:-1] for v in values.values()))
        except ValueError:
            shapes = ", ".join(f"{k} {v.shape}" for k, v in values.items())
            raise SurefootError(f"the leading axes of the joint dynamics do not fit together: {shapes}.") from None
        for name, value in values.items():
            full = np.broadcast_to(value, (*batch, value.shape[-1])).copy()
            full.setflags(write=False)
            object.__setattr__(self, name, full)

    def _read(self, p: Parameter) -> Array:
        """One parameter as a float array whose last axis is right and whose values mean something."""
        try:
            value = np.asarray(getattr(self, p.name), dtype=float)
        except (TypeError, ValueError):
            raise SurefootError(f"{p.name} is not an array of numbers: {getattr(self, p.name)!r}.") from None
        if value.size == 0 and not p.core:
            value = np.full(self._sizes(p)[0], p.neutral)
        if value.ndim == 0 or value.shape[-1] not in self._sizes(p):
            wanted = " or ".join(f"(..., {s})" for s in self._sizes(p))
            who = f"{len(self.joints)} joints ({', '.join(self.joints)})"
            raise SurefootError(f"{p.name} has shape {value.shape}; {who} need {wanted}.")
        bad = ~np.isfinite(value) & ~((value == np.inf) & (p.neutral == np.inf))
        bad |= (value <= p.least) if p.positive else (value < p.least)
        if bad.any():
            at = np.argwhere(bad)[0]
            who = f" of joint {self.joints[at[-1]]}" if value.shape[-1] == len(self.joints) and p.size != "tilt" else ""
            rule = "finite" if p.least == -np.inf else f"{'above' if p.positive else 'at least'} {p.least:g}"
            raise SurefootError(f"{p.name}{who} is {value[tuple(at)]:g} {p.unit}; it must be {rule}.")
        return value

    def _sizes(self, p: Parameter) -> tuple[int, ...]:
        """The lengths that the last axis of a parameter may have."""
        if p.name == "delay":
            return (1, len(self.joints))
        return ({"joint": len(self.joints), "one": 1, "tilt": 2}[p.size],)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joints)

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading shape: () for one candidate."""
        return self.armature.shape[:-1]

    def arrays(self) -> dict[str, Array]:
        """Every parameter by name, in the order of PARAMETERS."""
        return {name: getattr(self, name) for name in PARAMETERS}

    def replace(self, **changes: Any) -> Self:
        """The same dynamics with some parameters changed."""
        return _replace(self, **changes)

    def lane(self, i: Any) -> Self:
        """One candidate of a batch, or, by an index array or slice, some of them."""
        return type(self)(joints=self.joints, **{k: v[i] for k, v in self.arrays().items()})

    @classmethod
    def stack(cls, candidates: Sequence["JointDynamics"]) -> Self:
        """A batch of candidates, one per lane; all must have the same joints in the same order."""
        first = candidates[0]
        for c in candidates[1:]:
            if c.joints != first.joints:
                raise SurefootError(
                    f"cannot stack dynamics of different joints: {', '.join(first.joints)} and {', '.join(c.joints)}."
                )
        wide = max(c.delay.shape[-1] for c in candidates)
        rows = [c.arrays() | {"delay": np.broadcast_to(c.delay, (*c.batch, wide))} for c in candidates]
        return cls(joints=first.joints, **{k: np.stack([r[k] for r in rows]) for k in PARAMETERS})

    @classmethod
    def no_model(cls, joints: Sequence[str]) -> Self:
        """The baseline without an actuator model: armature, damping, friction, bias and delay all zero."""
        zero = np.zeros(len(joints))
        return cls(joints=tuple(joints), armature=zero, damping=zero, friction=zero, bias=zero, delay=np.zeros(1))

    def ordered_for(self, joints: Sequence[str]) -> Self:
        """The same parameters for the given joints, in their order; every one of them must be known."""
        missing = [j for j in joints if j not in self.joints]
        if missing:
            raise unknown("joint", missing, self.joints)
        order = [self.joints.index(j) for j in joints]
        picked = {
            k: v[..., order] if PARAMETERS[k].size == "joint" or (k == "delay" and v.shape[-1] == self.n) else v
            for k, v in self.arrays().items()
        }
        return type(self)(joints=tuple(joints), **picked)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists for JSON; optional parameters that are neutral everywhere are left out, infinity is None."""
        out: dict[str, Any] = {"joints": list(self.joints)}
        for p in PARAMETERS.values():
            value = getattr(self, p.name)
            if p.core or (value != p.neutral).any():
                out[p.name] = value.tolist() if np.isfinite(value).all() else _none_for_infinity(value.tolist())
        return out

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        valid = tuple(f.name for f in fields(cls))
        wrong = [k for k in data if k not in valid]
        if wrong:
            raise unknown("joint-dynamics entry", wrong, valid)
        missing = [k for k in ("joints", *(p.name for p in PARAMETERS.values() if p.core)) if k not in data]
        if missing:
            raise SurefootError(
                f"joint dynamics lack {', '.join(missing)}; needed: joints, armature, damping, friction, bias, delay."
            )
        values = {k: np.array(v, dtype=float) for k, v in data.items() if k != "joints"}
        if "cutoff" in values:
            values["cutoff"] = np.where(np.isnan(values["cutoff"]), np.inf, values["cutoff"])
        return cls(joints=tuple(data["joints"]), **values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JointDynamics):
            return NotImplemented
        mine, theirs = self.arrays(), other.arrays()
        return self.joints == other.joints and all(np.array_equal(mine[k], theirs[k]) for k in PARAMETERS)

    __hash__ = None  # type: ignore[assignment]
