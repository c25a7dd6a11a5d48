"""How a drive network is asked: a small TOML file beside a TorchScript file, written by us or for a network of others.

    [network]
    file = "lstm.pt"                 # TorchScript, beside this file
    kind = "lstm"                    # or "mlp"
    period = 0.005                   # [s] between two questions; the torque is held in between
    inputs = ["error", "velocity"]   # in the network's order; see INPUTS
    error = "target - position"      # or "position - target"
    lags = [0, 1, 2]                 # mlp: age of each input, in periods; all ages of the first input, then of the next
    state = [2, 8]                   # lstm: layers and size of its state
    joints = []                      # names of the joints if the network is told which one it drives (one-hot, after the inputs)
    input_scale = [1.0, 1.0]         # factor on each input, 1 unless given; output_scale likewise
    stiffness = 85.0                 # gains that the network was learned with; absent: any (it is told the demand)
    damping = 0.6

    [beside]                         # what the simulator adds: armature, damping, friction, one number or one per joint of
    armature = 0.0                   # `joints`; absent: nothing

An mlp maps rows (R, inputs · lags) to (R, 1); an lstm maps (R, 1, inputs) and (h, c), each (layers, R, size), to torque and
(h, c). One row per robot and joint, joints fastest. Torque in N·m.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np

from surefoot.errors import SurefootError, unknown
from surefoot.robot.dynamics import JointDynamics

Array = np.ndarray
Kind = Literal["mlp", "lstm"]
INPUTS = {
    "error": "û − q or q − û [rad]",
    "velocity": "q̇ [rad/s]",
    "velocity_error": "û̇ − q̇ [rad/s]",
    "demand": "P (û − q) + D (û̇ − q̇), with the gains in force [N·m]",
}
SIGNS = {"target - position": 1.0, "position - target": -1.0}
BESIDE = ("armature", "damping", "friction")


@dataclass(frozen=True, kw_only=True)
class Convention:
    """Everything that must be known to ask a network for torque."""

    kind: Kind
    period: float  # [s]
    inputs: tuple[str, ...]
    error: str = "target - position"
    lags: tuple[int, ...] = ()
    state: tuple[int, ...] = ()
    joints: tuple[str, ...] = ()
    input_scale: tuple[float, ...] = ()
    output_scale: float = 1.0
    stiffness: float | None = None  # [N·m/rad]
    damping: float | None = None  # [N·m·s/rad]
    beside: dict[str, tuple[float, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise SurefootError(f"kind is {self.kind!r}; valid: {', '.join(get_args(Kind))}.")
        if wrong := [name for name in self.inputs if name not in INPUTS]:
            raise unknown("input", wrong, tuple(INPUTS))
        if not self.inputs:
            raise SurefootError(f"inputs is empty; give one or more of {', '.join(INPUTS)}.")
        if self.error not in SIGNS:
            raise SurefootError(f"error is {self.error!r}; valid: {', '.join(SIGNS)}.")
        if not (math.isfinite(self.period) and self.period > 0):
            raise SurefootError(f"period is {self.period:g}; give the seconds between two questions, for example 0.005.")
        if self.kind == "mlp" and (not self.lags or min(self.lags) < 0):
            raise SurefootError(
                f"lags is {list(self.lags)}; an mlp needs the age of its inputs in periods, for example [0, 1, 2]."
            )
        if self.kind == "lstm" and (len(self.state) != 2 or min(self.state) < 1):
            raise SurefootError(f"state is {list(self.state)}; an lstm needs [layers, size], for example [2, 8].")
        if self.input_scale and len(self.input_scale) != len(self.inputs):
            raise SurefootError(f"input_scale has {len(self.input_scale)} numbers; {len(self.inputs)} inputs need as many.")
        if wrong := [name for name in self.beside if name not in BESIDE]:
            raise unknown("entry in [beside]", wrong, BESIDE)
        for name, values in self.beside.items():
            if len(values) not in (1, len(self.joints)) or not all(math.isfinite(x) and x >= 0 for x in values):
                raise SurefootError(
                    f"{name} in [beside] is {list(values)}; give one number >= 0, or one for each of {len(self.joints)} joints."
                )

    @property
    def width(self) -> int:
        """Numbers in one row of the network's input."""
        return len(self.inputs) * max(1, len(self.lags)) + len(self.joints)

    def rows(self, target: Array, target_velocity: Array, encoder: Array, velocity: Array, p: Array, d: Array) -> Array:
        """The inputs now, scaled, shape (..., n, inputs)."""
        value = {
            "error": lambda: SIGNS[self.error] * (target - encoder),
            "velocity": lambda: velocity,
            "velocity_error": lambda: target_velocity - velocity,
            "demand": lambda: p * (target - encoder) + d * (target_velocity - velocity),
        }
        scale = self.input_scale or (1.0,) * len(self.inputs)
        return np.stack([s * value[name]() for name, s in zip(self.inputs, scale, strict=True)], axis=-1)

    def check_gains(self, stiffness: Array, damping: Array, joints: tuple[str, ...]) -> None:
        """A network that holds its gains inside cannot answer for others."""
        for name, mine, given in (("stiffness", self.stiffness, stiffness), ("damping", self.damping, damping)):
            if mine is not None and len(wrong := np.flatnonzero(~np.isclose(given, mine, rtol=1e-3))):
                j = int(wrong[0])
                raise SurefootError(
                    f"this network was learned with {name} {mine:g}, and {joints[j]} runs with {given[j]:g}: it cannot know "
                    'other gains. Record with its gains, or learn one that is told the demand (inputs = ["demand", "velocity"]).'
                )

    def dynamics(self, joints: tuple[str, ...]) -> JointDynamics:
        """What the simulator adds beside the network."""
        rows = {name: np.zeros(len(joints)) for name in BESIDE}
        for name, values in self.beside.items():
            if len(values) == 1:
                rows[name][:] = values[0]
                continue
            if missing := [joint for joint in joints if joint not in self.joints]:
                raise unknown("joint of the network", missing, self.joints)
            rows[name][:] = [values[self.joints.index(joint)] for joint in joints]
        return JointDynamics.no_model(joints).replace(**rows)

    # --- files -----------------------------------------------------------------------------------------------------------------
    @classmethod
    def load(cls, path: str | Path) -> tuple[Self, Path]:
        """The convention of a TOML file, and the TorchScript file that it names."""
        path = Path(path)
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SurefootError(f"cannot read the network {path}: {error}.") from None
        table = data.get("network")
        if not isinstance(table, dict):
            raise SurefootError(f"{path} has no [network] table; see docs/networks.md.")
        table = dict(table)
        if "file" not in table:
            raise SurefootError(f'[network] in {path} lacks file; name the TorchScript file beside it, file = "network.pt".')
        file = path.parent / str(table.pop("file"))
        valid = tuple(name for name in cls.__dataclass_fields__ if name != "beside")
        if wrong := [name for name in table if name not in valid]:
            raise unknown(f"entry of [network] in {path}", wrong, ("file", *valid))
        if missing := [name for name in ("kind", "period", "inputs") if name not in table]:
            raise SurefootError(f"[network] in {path} lacks {', '.join(missing)}; see docs/networks.md.")
        beside = {k: tuple(np.atleast_1d(np.asarray(v, float)).tolist()) for k, v in data.get("beside", {}).items()}
        try:
            listed: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}
            return cls(**listed, beside=beside), file
        except TypeError as error:
            raise SurefootError(f"[network] in {path}: {error}; see docs/networks.md.") from None

    def save(self, path: Path, file: str) -> None:
        """Write the TOML file."""
        plain = {k: v for k, v in asdict(self).items() if k != "beside" and v is not None and v != ()}
        lines = ["[network]", f"file = {_toml(file)}", *(f"{k} = {_toml(v)}" for k, v in plain.items())]
        lines += ["", "[beside]", *(f"{k} = {_toml(v)}" for k, v in self.beside.items())] if self.beside else []
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _toml(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else repr(value)
