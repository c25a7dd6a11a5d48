"""Fit: what identification found, how sure it is, and where it came from. A folder of two files, read back as the same object."""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile

import numpy as np

from surefoot.errors import SurefootError
from surefoot.identify.finding import Finding
from surefoot.robot.dynamics import PARAMETERS, JointDynamics
from surefoot.simulate.physics import Physics

Array = np.ndarray
FORMAT = 1
SERIES = ("time", "target", "measured", "simulated", "no_model", "saturated", "valid")  # of every recording, in trajectories.npz


@dataclass(frozen=True, kw_only=True, eq=False)
class Score:
    """How well one recording is reproduced."""

    name: str
    hash: str
    joints: tuple[str, ...]
    rmse: Array  # of the reported parameters, simulated again [rad], shape (n,); nan for prescribed joints
    rmse_no_model: Array  # armature, damping, friction, bias and delay all zero [rad], shape (n,)
    time: Array = field(default_factory=lambda: np.zeros(0))  # [s], shape (T,)
    measured: Array = field(default_factory=lambda: np.zeros((0, 0)))  # [rad], shape (T, n)
    simulated: Array = field(default_factory=lambda: np.zeros((0, 0)))
    no_model: Array = field(default_factory=lambda: np.zeros((0, 0)))
    samples: Array = field(default_factory=lambda: np.zeros(0))  # that were compared, shape (n,)
    saturated: Array = field(default_factory=lambda: np.zeros(0))  # share of steps at which the drive was clamped
    target: Array = field(default_factory=lambda: np.zeros((0, 0)))  # what was commanded [rad]; empty in older fits
    valid: Array = field(default_factory=lambda: np.zeros((0, 0), bool))  # False: not compared; empty: all samples were
    stiffness: Array = field(default_factory=lambda: np.zeros(0))  # P in force [N·m/rad], shape (n,); empty in older fits
    damping: Array = field(default_factory=lambda: np.zeros(0))  # D in force [N·m·s/rad], shape (n,); empty in older fits

    @property
    def total(self) -> float:
        """Root mean square over all joints [rad]."""
        return float(np.sqrt(np.nanmean(self.rmse**2)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """Joint dynamics with 95 % intervals."""

    robot: str
    source: str  # where the robot came from: a bundled name or a file
    model_hash: str  # of its links, joints and drives
    joints: tuple[str, ...]
    kinds: tuple[str, ...]  # "hinge" or "slide", by joint
    prescribed: tuple[str, ...]  # joints that followed their measured motion
    dynamics: JointDynamics  # the answer
    low: JointDynamics  # 95 % interval
    high: JointDynamics
    flags: dict[str, tuple[str, ...]]  # per parameter and joint: "ok", "weak", "not identified", "at lower bound", "fixed", ...
    findings: tuple[str, ...]  # what the flags mean and what to do, a sentence each
    correlation: tuple[tuple[str, str, float], ...]  # the strongest pairs
    recordings: tuple[Score, ...]
    held_out: tuple[Score, ...]
    physics: Physics
    method: str
    seed: int
    seconds: float
    rollouts: int
    stop: str
    history: tuple[float, ...]  # loss by iteration or generation [rad²]
    versions: dict[str, str]
    unknowns: dict[str, Any]  # extra parameters, fixed, tied and bounds, as given
    loss: float  # time mean of the squared error over all joints [rad²]
    checks: tuple[Finding, ...] = ()  # what the check said of the fitted recordings; empty where none was asked
    labels: tuple[str, ...] = ()  # of what was searched, d names; empty in older fits
    matrix: Array = field(default_factory=lambda: np.zeros((0, 0)))  # their correlations, shape (d, d); empty in older fits

    @property
    def rmse(self) -> Array:
        """Error per joint over all compared samples of the fitted recordings [rad], shape (n,)."""
        weights = np.maximum([s.samples for s in self.recordings], 1e-9)
        return np.sqrt(np.average([s.rmse**2 for s in self.recordings], axis=0, weights=weights))

    @property
    def parameters(self) -> list[str]:
        """The parameters that this fit reports: the paper's, and the optional ones it found."""
        extra = self.unknowns.get("extra", [])
        return [name for name, p in PARAMETERS.items() if p.core or name in extra]

    # --- files -------------------------------------------------------------------------------------------------------------
    def to_dict(self) -> dict[str, Any]:
        """What fit.json holds."""
        return {
            "format": FORMAT,
            "robot": self.robot,
            "source": self.source,
            "model_hash": self.model_hash,
            "joints": list(self.joints),
            "kinds": list(self.kinds),
            "prescribed": list(self.prescribed),
            "timestep": self.physics.timestep,
            "delay_on": self.physics.delay_on,
            "bias_form": self.physics.bias_form,
            "method": self.method,
            "seed": self.seed,
            "seconds": self.seconds,
            "rollouts": self.rollouts,
            "stop": self.stop,
            "loss": self.loss,
            "history": list(self.history),
            "versions": self.versions,
            "unknowns": self.unknowns,
            "parameters": {name: self._parameter(name) for name in self.parameters},
            "stribeck_speed": self.dynamics.stribeck_speed.tolist(),
            "findings": list(self.findings),
            "correlation": [list(pair) for pair in self.correlation],
            "checks": [asdict(finding) for finding in self.checks],
            "recordings": [_score_dict(s) for s in self.recordings],
            "held_out": [_score_dict(s) for s in self.held_out],
        }

    def _parameter(self, name: str) -> dict[str, Any]:
        return {
            "unit": self.unit(name),
            "value": _plain(getattr(self.dynamics, name)),
            "low": _plain(getattr(self.low, name)),
            "high": _plain(getattr(self.high, name)),
            "flag": list(self.flags[name]),
        }

    def unit(self, name: str) -> str | list[str]:
        """The unit of a parameter: one, or one per joint where hinges and slides differ."""
        p = PARAMETERS[name]
        units = [p.slide_unit if kind == "slide" else p.unit for kind in self.kinds]
        if p.size != "joint":
            return p.unit
        return units[0] if len(set(units)) == 1 else units

    def save(self, folder: str | Path) -> Path:
        """Write fit.json and trajectories.npz."""
        folder = Path(folder)
        text = json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"
        arrays: dict[str, Any] = {"joints": np.array(self.joints), "labels": np.array(self.labels, str), "matrix": self.matrix}
        for i, score in enumerate([*self.recordings, *self.held_out]):
            arrays |= {key + (f"_{i}" if i else ""): getattr(score, key) for key in SERIES}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder) as part:  # both files, or none
                np.savez_compressed(Path(part) / "trajectories.npz", allow_pickle=False, **arrays)
                (Path(part) / "fit.json").write_text(text, encoding="utf-8")
                for name in ("trajectories.npz", "fit.json"):
                    os.replace(Path(part) / name, folder / name)
        except OSError as error:
            raise SurefootError(f"cannot write the fit to {folder}: {error}. Choose another --out.") from None
        return folder

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a fit back from its folder."""
        path = Path(folder)
        path = path / "fit.json" if path.is_dir() else path
        if not path.is_file():
            raise SurefootError(
                f"there is no fit in {folder}: {path} does not exist. Write one with surefoot identify ... --out {folder}."
            )
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data["format"] != FORMAT:
                raise SurefootError(f"{path} has format {data['format']}; this version of surefoot reads {FORMAT}.")
            return cls._of(data, path.parent / "trajectories.npz")
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OSError, EOFError, BadZipFile, zlib.error) as error:
            if isinstance(error, SurefootError):
                raise
            raise SurefootError(f"{path} is not a fit written by surefoot: {type(error).__name__} {error}.") from None

    @classmethod
    def _of(cls, data: dict[str, Any], trajectories: Path) -> Self:
        joints = tuple(data["joints"])
        kinds = {
            key: JointDynamics(
                joints=joints,
                stribeck_speed=np.array(data["stribeck_speed"]),
                **{name: _array(p[key]) for name, p in data["parameters"].items()},
            )
            for key in ("value", "low", "high")
        }
        arrays: dict[str, Array] = {}
        if trajectories.is_file():
            with trajectories.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                arrays = dict(file)
        scores = [_score(s, arrays, f"_{i}" if i else "") for i, s in enumerate([*data["recordings"], *data["held_out"]])]
        count = len(data["recordings"])
        return cls(
            robot=data["robot"],
            source=data["source"],
            model_hash=data["model_hash"],
            joints=joints,
            kinds=tuple(data["kinds"]),
            prescribed=tuple(data["prescribed"]),
            dynamics=kinds["value"],
            low=kinds["low"],
            high=kinds["high"],
            flags={name: tuple(p["flag"]) for name, p in data["parameters"].items()},
            findings=tuple(data["findings"]),
            correlation=tuple((a, b, c) for a, b, c in data["correlation"]),
            checks=tuple(Finding(**finding) for finding in data.get("checks", ())),
            labels=tuple(map(str, arrays.get("labels", ()))),
            matrix=arrays.get("matrix", np.zeros((0, 0))),
            recordings=tuple(scores[:count]),
            held_out=tuple(scores[count:]),
            physics=Physics(timestep=data["timestep"], delay_on=data["delay_on"], bias_form=data["bias_form"]),
            method=data["method"],
            seed=data["seed"],
            seconds=data["seconds"],
            rollouts=data["rollouts"],
            stop=data["stop"],
            history=tuple(data["history"]),
            versions=data["versions"],
            unknowns=data["unknowns"],
            loss=data["loss"],
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fit) or self.to_dict() != other.to_dict():
            return False
        mine, theirs = [*self.recordings, *self.held_out], [*other.recordings, *other.held_out]
        pairs = [(getattr(a, k), getattr(b, k)) for a, b in zip(mine, theirs, strict=True) for k in SERIES]
        return self.labels == other.labels and all(np.array_equal(a, b) for a, b in [*pairs, (self.matrix, other.matrix)])

    __hash__ = None  # type: ignore[assignment]


def _plain(values: Array) -> list[float | str | None]:
    """JSON numbers; infinity is "inf", and what is not there is null."""
    return [float(v) if np.isfinite(v) else None if np.isnan(v) else "inf" for v in values]


def _array(values: list[float | str | None]) -> Array:
    return np.array([np.nan if v is None else float(v) for v in values])


def _score_dict(score: Score) -> dict[str, Any]:
    return {
        "name": score.name,
        "hash": score.hash,
        "joints": list(score.joints),
        "samples": [int(count) for count in score.samples],
        "rmse": _plain(score.rmse),
        "rmse_no_model": _plain(score.rmse_no_model),
        "stiffness": _plain(score.stiffness),
        "damping": _plain(score.damping),
    }


def _score(data: dict[str, Any], arrays: dict[str, Array], tail: str) -> Score:
    kept = {key: arrays[key + tail] for key in SERIES if key + tail in arrays}
    return Score(
        name=data["name"], hash=data["hash"], joints=tuple(data["joints"]), samples=np.array(data["samples"]),
        rmse=_array(data["rmse"]), rmse_no_model=_array(data["rmse_no_model"]),
        stiffness=_array(data.get("stiffness", [])), damping=_array(data.get("damping", [])), **kept,
    )  # fmt: skip
