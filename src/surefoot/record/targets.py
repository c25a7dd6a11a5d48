"""Commands for a player: what each joint shall be told, when, and under which gains; as .npz, .csv and .mcap.

All three say the same and are read back bit for bit, but for the stamps of an .mcap, which are whole nanoseconds. The .npz
is for NumPy, the .csv for everybody, the .mcap for `ros2 bag play`: one sensor_msgs/msg/JointState per sample on the topic
/joint_command.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import SurefootError, unknown
from surefoot.record import validation
from surefoot.record.atomic import replacing
from surefoot.record.validation import Array

FORMAT = "surefoot-targets-1"
TOPIC = "/joint_command"
SERIES = ("target", "target_velocity", "feedforward")  # shape (T, n)
ABOUT = ("format", "joints", "stiffness", "damping", "kind", "seed", "robot")  # what is said once


@dataclass(frozen=True, kw_only=True, eq=False)
class Targets:
    """Commands to `n` joints at `T` times, and the gains that the drives shall have; arrays are read-only."""

    joints: tuple[str, ...]
    time: Array  # [s], shape (T,), strictly increasing
    target: Array  # position [rad or m], shape (T, n)
    stiffness: Array  # P [N·m/rad or N/m], shape (n,)
    damping: Array  # D [N·m·s/rad or N·s/m], shape (n,)
    target_velocity: Array | None = None  # [rad/s or m/s], shape (T, n); None: the drive damps against standstill
    feedforward: Array | None = None  # torque added to the drive's [N·m or N], shape (T, n)
    kind: str = ""  # of motion: chirp, steps, ...
    seed: int | None = None  # that drew the motion; None: nothing was drawn
    robot: str = ""  # name of the robot that it was made for

    def __post_init__(self) -> None:
        put = functools.partial(object.__setattr__, self)
        put("joints", validation.names("joints", self.joints))
        if not self.joints:
            raise SurefootError("these targets have no joints; give at least one joint name.")
        put("time", validation.numbers("time", self.time))
        validation.check_time(self.time, "this target file")
        for channel in SERIES:
            if getattr(self, channel) is not None or channel == "target":
                put(channel, validation.numbers(channel, getattr(self, channel)))
                validation.check_series(channel, getattr(self, channel), self.time, self.joints)
        for gain in ("stiffness", "damping"):
            put(gain, validation.numbers(gain, getattr(self, gain)))
            validation.check_gain(gain, getattr(self, gain), self.joints)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joints)

    @property
    def duration(self) -> float:
        """From the first to the last command [s]."""
        return float(self.time[-1] - self.time[0])

    @property
    def rate(self) -> float:
        """Median rate of the commands [Hz]."""
        return float(1.0 / np.median(np.diff(self.time)))

    def replace(self, **changes: Any) -> Targets:
        """The same targets with some fields changed, validated again."""
        return dataclasses.replace(self, **changes)

    def ordered_for(self, joints: tuple[str, ...]) -> Targets:
        """The same targets in another order of joints; all of them must be there, and no other."""
        if sorted(joints) != sorted(self.joints):
            odd = sorted(set(joints) ^ set(self.joints))
            raise unknown("joint between the targets and the robot", odd, tuple(joints))
        at = [self.joints.index(joint) for joint in joints]
        series = {key: value[:, at] for key in SERIES if (value := getattr(self, key)) is not None}
        return self.replace(joints=joints, stiffness=self.stiffness[at], damping=self.damping[at], **series)

    def save(self, path: str | Path) -> Path:
        """Write .npz, .csv or .mcap, by the ending of the name."""
        path = Path(path)
        write = _of(path, WRITERS)
        with replacing(path) as draft:
            write(self, draft)
        return path

    @classmethod
    def load(cls, path: str | Path) -> Targets:
        """Read what `save` wrote, or a file of the same shape."""
        path = Path(path)
        read = _of(path, READERS)
        if not path.is_file():
            raise SurefootError(f"there is no file {path}.")
        try:
            fields = read(path)
        except OSError as error:
            raise SurefootError(f"cannot read {path}: {error.strerror or error}.") from error
        if (found := fields.pop("format", FORMAT)) != FORMAT:
            raise SurefootError(f"{path.name} is of format {found!r}; expected {FORMAT!r}, a file written by surefoot excite.")
        valid = tuple(field.name for field in dataclasses.fields(cls))
        if foreign := [key for key in fields if key not in valid]:
            raise unknown(f"entry of {path.name}", foreign, valid)
        if missing := [key for key in ("joints", "time", "target", "stiffness", "damping") if key not in fields]:
            raise SurefootError(f"{path.name} holds no {', no '.join(missing)}; it is not a target file (surefoot excite --out).")
        return cls(**fields)


def _of(path: Path, table: Mapping[str, Callable[..., Any]]) -> Callable[..., Any]:
    if path.suffix.lower() not in table:
        raise SurefootError(f"'{path.name}' cannot hold targets; its name must end in {', '.join(table)}.")
    return table[path.suffix.lower()]


def _about(targets: Targets) -> dict[str, Any]:
    """What is said once, as JSON can say it."""
    plain = {key: getattr(targets, key) for key in ABOUT if key != "format"}
    return {"format": FORMAT} | {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in plain.items()}


def _fields(path: Path, about: Mapping[str, Any]) -> dict[str, Any]:
    """What is said once, as `Targets` takes it; `about` comes from a file and may be anything."""
    out = dict(about)
    if not isinstance(out.get("joints", []), list) or not isinstance(out.get("seed"), int | None):
        raise SurefootError(f"{path.name}: its joints are no list of names, or its seed is no whole number; write it again.")
    return out


# --- .npz -------------------------------------------------------------------------------------------------------------------
def _write_npz(targets: Targets, path: Path) -> None:
    arrays = {key: value for key in ("time", *SERIES) if (value := getattr(targets, key)) is not None}
    with path.open("wb") as file:
        np.savez_compressed(file, about=np.array(json.dumps(_about(targets))), **arrays)


def _read_npz(path: Path) -> dict[str, Any]:
    from surefoot.record.npz import read_arrays

    raw = read_arrays(path)
    if "about" not in raw:
        raise SurefootError(f"{path.name} is no target file: it has no 'about'. surefoot excite --out writes one.")
    return raw | _fields(path, _json(path, str(raw.pop("about"))))


def _json(path: Path, text: str) -> dict[str, Any]:
    try:
        about = json.loads(text)
    except ValueError as error:
        raise SurefootError(f"the description in {path.name} is malformed ({error}); write the file again.") from None
    if not isinstance(about, dict):
        raise SurefootError(f"the description in {path.name} is no JSON table; write the file again.")
    return about


# --- .csv -------------------------------------------------------------------------------------------------------------------
def _write_csv(targets: Targets, path: Path) -> None:
    """The description as `# key: JSON` lines, a header, one row per sample; numbers with all their digits."""
    there = [key for key in SERIES if getattr(targets, key) is not None]
    if any(sign in joint for joint in targets.joints for sign in ',"\n\r'):
        raise SurefootError("a joint name holds a comma, a quote or a line break, which a .csv header cannot; use .npz.")
    head = ["time", *(f"{key}_{joint}" for key in there for joint in targets.joints)]
    rows = np.column_stack([targets.time, *(getattr(targets, key) for key in there)])
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"# {key}: {json.dumps(value)}\n" for key, value in _about(targets).items())
        file.write(",".join(head) + "\n")
        file.writelines(",".join(map(repr, row)) + "\n" for row in rows.tolist())


def _read_csv(path: Path) -> dict[str, Any]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise SurefootError(f"{path.name} is not text in UTF-8; expected a .csv that surefoot excite wrote.") from None
    notes = [line[1:].partition(":") for line in lines if line.startswith("#")]
    about = {key.strip(): _json(path, f'{{"value": {text}}}')["value"] for key, _, text in notes}
    table = [line.split(",") for line in lines if line.strip() and not line.startswith("#")]
    fields = _fields(path, about)
    joints = fields.get("joints", [])
    if not table or table[0][0] != "time":
        raise SurefootError(f"{path.name} has no header that begins with 'time'; expected a .csv that surefoot excite wrote.")
    if cut := next((row for row in table if len(row) != len(table[0])), None):
        raise SurefootError(f"{path.name}: a row has {len(cut)} cells and the header {len(table[0])}; the file was cut short.")
    try:
        numbers = np.array([[float(cell) for cell in row] for row in table[1:]]).reshape(-1, len(table[0]))
    except ValueError as error:
        raise SurefootError(f"{path.name}: {error}; expected numbers below the header.") from None
    known = {"time", *(f"{key}_{joint}" for key in SERIES for joint in joints)}
    if foreign := [name for name in table[0] if name not in known]:
        raise unknown(f"column of {path.name}", foreign, sorted(known))
    columns = dict(zip(table[0], numbers.T, strict=True))
    fields["time"] = columns["time"]
    for key in SERIES:
        names = [f"{key}_{joint}" for joint in joints]
        if missing := [name for name in names if name not in columns]:
            if len(missing) < len(names):
                raise SurefootError(f"{path.name} lacks the column {', '.join(missing)}.")
            continue
        fields[key] = np.stack([columns[name] for name in names], axis=1)
    return fields


# --- .mcap ------------------------------------------------------------------------------------------------------------------
def _write_mcap(targets: Targets, path: Path) -> None:
    """JointState messages in CDR, stamped with their time after zero; the description as a metadata record."""
    from surefoot.record.formats.ros import JointStates, write_mcap

    states = JointStates(
        joints=targets.joints, stamp=np.round(targets.time * 1e9).astype(np.int64), position=targets.target,
        velocity=targets.target_velocity, effort=targets.feedforward,
    )  # fmt: skip
    write_mcap(path, {TOPIC: states}, metadata={FORMAT: {k: json.dumps(v) for k, v in _about(targets).items()}})


def _read_mcap(path: Path) -> dict[str, Any]:
    from surefoot.record.formats.ros import read_states

    states, metadata = read_states(path, TOPIC)
    if FORMAT not in metadata:
        raise SurefootError(f"{path.name} is no target file: it has no record '{FORMAT}'. surefoot excite --out writes one.")
    fields = _fields(path, {key: _json(path, f'{{"value": {text}}}')["value"] for key, text in metadata[FORMAT].items()})
    fields["time"] = states.stamp / 1e9
    series = {"target": states.position, "target_velocity": states.velocity, "feedforward": states.effort}
    return fields | {key: value for key, value in series.items() if value is not None}


WRITERS: dict[str, Callable[[Targets, Path], None]] = {".npz": _write_npz, ".csv": _write_csv, ".mcap": _write_mcap}
READERS: dict[str, Callable[[Path], dict[str, Any]]] = {".npz": _read_npz, ".csv": _read_csv, ".mcap": _read_mcap}
