"""The canonical record of one experiment: what was commanded, what was measured, under which gains."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.errors import SurefootError, unknown
from surefoot.record import validation
from surefoot.record.validation import SHORTEST, Array, Flags

if TYPE_CHECKING:
    from surefoot.robot.spec import Robot

Gains = float | Sequence[float] | Mapping[str, float] | NDArray[Any]  # one for all, one per joint, or by joint pattern

CHANNELS = ("target", "position", "target_velocity", "feedforward", "velocity", "torque")  # numbers, shape (T, n)
FLAGS = ("enabled", "valid")  # booleans, shape (T, n)


@dataclass(frozen=True, kw_only=True, eq=False)
class Recording:
    """Commands and measurements of `n` joints at `T` time stamps, never resampled; arrays are read-only."""

    joints: tuple[str, ...]
    time: Array  # [s], shape (T,), strictly increasing, may be irregular
    target: Array  # commanded position [rad or m], shape (T, n)
    position: Array  # measured by the encoder [rad or m], shape (T, n)
    stiffness: Array  # position gain in force P [N·m/rad or N/m], shape (n,)
    damping: Array  # velocity gain in force D [N·m·s/rad or N·s/m], shape (n,)
    target_velocity: Array | None = None  # commanded [rad/s], shape (T, n); None: the drive damps against standstill
    feedforward: Array | None = None  # commanded torque [N·m], shape (T, n)
    velocity: Array | None = None  # measured [rad/s], shape (T, n)
    torque: Array | None = None  # measured [N·m], shape (T, n)
    enabled: Flags | None = None  # False: the drive torque is off, shape (T, n)
    valid: Flags | None = None  # False: the sample is not compared, shape (T, n)
    prescribed: tuple[str, ...] = ()  # joints that follow their measured motion instead of being identified
    command_hold: bool = False  # True: the drive held each command until the next; False: linear between stamps
    name: str = ""
    notes: dict[str, str] = field(default_factory=dict)  # firmware mode, temperature, stand, ...

    def __post_init__(self) -> None:
        put = functools.partial(object.__setattr__, self)
        put("joints", validation.names("joints", self.joints))
        put("prescribed", validation.names("prescribed", self.prescribed))
        put("notes", {str(key): str(value) for key, value in self.notes.items()})
        if not self.joints:
            raise SurefootError(f"{self._label} has no joints; give at least one joint name.")
        if wrong := [joint for joint in self.prescribed if joint not in self.joints]:
            raise unknown("prescribed joint", wrong, self.joints)
        put("time", validation.numbers("time", self.time))
        validation.check_time(self.time, self._label)
        for convert, channels in ((validation.numbers, CHANNELS), (validation.booleans, FLAGS)):
            for channel in channels:
                if getattr(self, channel) is not None or channel in ("target", "position"):
                    put(channel, convert(channel, getattr(self, channel)))
                    validation.check_series(channel, getattr(self, channel), self.time, self.joints)
        if self.valid is not None and not self.valid.any():
            raise SurefootError(f"{self._label} has no valid sample: there is nothing to compare.")
        for gain in ("stiffness", "damping"):
            put(gain, validation.numbers(gain, getattr(self, gain)))
            validation.check_gain(gain, getattr(self, gain), self.joints)
        self._check_driven()

    def _check_driven(self) -> None:
        """Somebody must have pushed: a position drive with zero gains explains no motion."""
        moved = self.feedforward is not None or (self.target_velocity is not None and self.damping.any())
        if self.stiffness.any() or moved or (self.enabled is not None and not self.enabled.any()):
            return
        raise SurefootError(
            f"the stiffness of every joint in {self._label} is zero, so no target reaches a joint. Pass the gains that "
            "were in force: --stiffness and --damping (stiffness=..., damping=...); or log the channel feedforward of a "
            "torque-controlled drive."
        )

    @property
    def _label(self) -> str:
        return f"recording '{self.name}'" if self.name else "this recording"

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joints)

    @property
    def duration(self) -> float:
        """From the first to the last stamp [s]."""
        return float(self.time[-1] - self.time[0])

    @property
    def rate(self) -> float:
        """Median sample rate [Hz]."""
        return float(1.0 / np.median(np.diff(self.time)))

    @functools.cached_property
    def hash(self) -> str:
        """Sixteen hex digits that change with any number or joint name, but not with the recording's name or notes."""
        digest = hashlib.sha256(repr((self.joints, self.prescribed, self.command_hold)).encode())
        for key in ("time", *CHANNELS, *FLAGS, "stiffness", "damping"):
            value = getattr(self, key)
            digest.update(f"|{key}:{None if value is None else value.shape}|".encode())
            if value is not None:
                digest.update(np.ascontiguousarray(value).tobytes())
        return digest.hexdigest()[:16]

    def replace(self, **changes: Any) -> Recording:
        """The same recording with some fields changed, validated again."""
        return dataclasses.replace(self, **changes)

    def with_gains(self, stiffness: Gains, damping: Gains) -> Recording:
        """The same data under other gains: a number, one per joint, or {joint pattern: number}."""
        from surefoot.record.gains import per_joint

        return self.replace(
            stiffness=per_joint("stiffness", stiffness, self.joints), damping=per_joint("damping", damping, self.joints)
        )

    def between(self, start: float, end: float = np.inf, lead_in: float = 0.0) -> Recording:
        """Samples with start <= t < end [s]; `lead_in` seconds before start are kept, but not compared."""
        keep = (self.time >= start - lead_in) & (self.time < end)
        if np.count_nonzero(keep) < SHORTEST:
            raise SurefootError(
                f"between {start:g} s and {end:g} s {self._label} has {np.count_nonzero(keep)} samples; at least "
                f"{SHORTEST} are needed. It runs from {self.time[0]:.10g} s to {self.time[-1]:.10g} s."
            )
        changes = {key: value[keep] for key in ("time", *CHANNELS, *FLAGS) if (value := getattr(self, key)) is not None}
        early = changes["time"] < start
        if early.any():
            valid = changes.get("valid", np.ones(changes["target"].shape, bool))
            changes["valid"] = valid & ~early[:, None]
        return self.replace(**changes)

    def select(self, joints: Sequence[str]) -> Recording:
        """Only these joints, in this order."""
        joints = tuple(joints)
        if wrong := [joint for joint in joints if joint not in self.joints]:
            raise unknown(f"joint of {self._label}", wrong, self.joints)
        columns = [self.joints.index(joint) for joint in joints]
        series = {key: value[:, columns] for key in (*CHANNELS, *FLAGS) if (value := getattr(self, key)) is not None}
        return self.replace(
            joints=joints,
            prescribed=tuple(joint for joint in self.prescribed if joint in joints),
            stiffness=self.stiffness[columns],
            damping=self.damping[columns],
            **series,
        )

    def ordered_for(self, joints: Sequence[str]) -> Recording:
        """The same joints in another order; a joint too many or too few is named."""
        if tuple(joints) == self.joints:
            return self
        missing = [joint for joint in joints if joint not in self.joints]
        extra = [joint for joint in self.joints if joint not in joints]
        if missing or extra:
            lacks = f"lacks {', '.join(missing)}" if missing else ""
            has = f"has {', '.join(extra)} in addition" if extra else ""
            raise SurefootError(
                f"{self._label} {' and '.join(filter(None, (lacks, has)))}; expected {', '.join(joints)}. "
                "Use --rename OLD=NEW (recording.rename({...})) for other spellings, --select (recording.select([...])) to leave "
                "joints out."
            )
        return self.select(joints)

    def prescribe(self, *joints: str) -> Recording:
        """These joints follow their measured motion instead of being identified; no joints: every one is identified."""
        if wrong := [joint for joint in joints if joint not in self.joints]:
            raise unknown(f"joint of {self._label}", wrong, self.joints)
        return self.replace(prescribed=tuple(joint for joint in self.joints if joint in joints))

    def rename(self, names: Mapping[str, str]) -> Recording:
        """The same data under other joint names, {old: new}."""
        if wrong := [old for old in names if old not in self.joints]:
            raise unknown(f"joint of {self._label}", wrong, self.joints)
        return self.replace(
            joints=tuple(names.get(joint, joint) for joint in self.joints),
            prescribed=tuple(names.get(joint, joint) for joint in self.prescribed),
        )

    def in_radians(self, slides: Sequence[str] = ()) -> Recording:
        """Positions, targets and velocities that were logged in degrees; joints that slide are left as they are."""
        factor = np.array([1.0 if joint in slides else np.pi / 180 for joint in self.joints])
        channels = ("target", "position", "target_velocity", "velocity")
        return self.replace(**{key: value * factor for key in channels if (value := getattr(self, key)) is not None})

    def at_joint(self, ratio: ArrayLike, *, measured: bool = True, commanded: bool = True) -> Recording:
        """Logged at the motor, in front of gears of these ratios (motor over joint: one number, or shape (n,)).

        q = q_motor / r, q̇ = q̇_motor / r, τ = τ_motor r; the gains are not changed: they are the joint's, P = P_motor r².
        """
        r = np.broadcast_to(np.asarray(ratio, float), (self.n,))
        if (bad := np.flatnonzero(~(np.isfinite(r) & (r != 0)))).size:
            raise SurefootError(
                f"the gear ratio of joint {self.joints[bad[0]]} is {r[bad[0]]:g}; expected a number other than 0."
            )
        sides = (("position", "velocity", "torque"), measured), (("target", "target_velocity", "feedforward"), commanded)
        there = [key for keys, wanted in sides if wanted for key in keys if getattr(self, key) is not None]
        factor = {key: r if key in ("torque", "feedforward") else 1 / r for key in there}
        return self.replace(**{key: getattr(self, key) * factor[key] for key in there})

    def mark_held(self) -> Recording:
        """Samples that only repeat the one before (lost packets, slow sensors) are no longer compared."""
        from surefoot.record.held import held_samples

        held = held_samples(self)
        valid = np.ones(self.position.shape, bool) if self.valid is None else self.valid
        return self.replace(valid=valid & ~held)

    def save(self, path: str | Path) -> Path:
        """Write the canonical .npz (arrays and text, no pickle)."""
        from surefoot.record.npz import write_npz

        return write_npz(self, Path(path))

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        joints: Sequence[str] | None = None,
        stiffness: Gains | None = None,
        damping: Gains | None = None,
        columns: Mapping[str, Any] | None = None,
        robot: Robot | None = None,
        drop_repeated: bool = False,
        rename: Mapping[str, str] | None = None,
    ) -> Recording:
        """Read a log of any known format; what the file lacks comes from the arguments, then the robot.

        `columns` says where things are in it (docs/formats.md), `rename` says {the file's joint: the robot's joint}.
        """
        from surefoot.record.files import load

        return load(
            Path(path),
            joints=joints,
            stiffness=stiffness,
            damping=damping,
            columns=columns,
            robot=robot,
            drop_repeated=drop_repeated,
            rename=rename or {},
        )
