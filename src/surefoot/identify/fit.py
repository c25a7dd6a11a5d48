"""Fit: what identification found, how sure it is, and where it came from. A folder of two files, read back as the same object."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile

import numpy as np

from surefoot.errors import SurefootError
from surefoot.robot.dynamics import PARAMETERS, JointDynamics
from surefoot.simulate.physics import Physics

Array = np.ndarray
FORMAT = 1


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
    saturated: Array = field(default_factory=lambda: np.zeros(0))  # share of steps at which the drive was clamped

    @property
    def total(self) -> float:
        """Root mean square over all joints [rad]."""
        return float(np.sqrt(np.nanmean(self.rmse**2)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """Joint dynamics with 95 % intervals."""

    robot: str
    source: str  # where the robot came from: a bundled name or a file
    joints: tuple[str, ...]
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

    @property
    def rmse(self) -> Array:
        """Error per joint over all fitted recordings [rad], shape (n,)."""
        return np.sqrt(np.mean([s.rmse**2 for s in self.recordings], axis=0))

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
            "joints": list(self.joints),
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
            "recordings": [_score_dict(s) for s in self.recordings],
            "held_out": [_score_dict(s) for s in self.held_out],
        }

    def _parameter(self, name: str) -> dict[str, Any]:
        return {
            "unit": PARAMETERS[name].unit,
            "value": _plain(getattr(self.dynamics, name)),
            "low": _plain(getattr(self.low, name)),
            "high": _plain(getattr(self.high, name)),
            "flag": list(self.flags[name]),
        }

    def save(self, folder: str | Path) -> Path:
        """Write fit.json and trajectories.npz."""
        folder = Path(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            arrays: dict[str, Array] = {}
            for i, score in enumerate([*self.recordings, *self.held_out]):
                tail = f"_{i}" if i else ""
                for key in ("time", "measured", "simulated", "no_model", "saturated"):
                    arrays[key + tail] = getattr(score, key)
            np.savez_compressed(folder / "trajectories.npz", joints=np.array(self.joints), **arrays)  # type: ignore[arg-type]
            (folder / "fit.json").write_text(json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n", encoding="utf-8")
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
            joints=joints,
            prescribed=tuple(data["prescribed"]),
            dynamics=kinds["value"],
            low=kinds["low"],
            high=kinds["high"],
            flags={name: tuple(p["flag"]) for name, p in data["parameters"].items()},
            findings=tuple(data["findings"]),
            correlation=tuple((a, b, c) for a, b, c in data["correlation"]),
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
        return isinstance(other, Fit) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]


def _plain(values: Array) -> list[float | None]:
    """JSON numbers; an infinite one is null."""
    return [float(v) if np.isfinite(v) else None for v in values]


def _array(values: list[float | None]) -> Array:
    return np.array([np.inf if v is None else v for v in values])


def _score_dict(score: Score) -> dict[str, Any]:
    return {
        "name": score.name,
        "hash": score.hash,
        "joints": list(score.joints),
        "rmse": _plain(score.rmse),
        "rmse_no_model": _plain(score.rmse_no_model),
    }


def _score(data: dict[str, Any], arrays: dict[str, Array], tail: str) -> Score:
    nan = lambda values: np.array([np.nan if v is None else v for v in values])  # noqa: E731
    keys = ("time", "measured", "simulated", "no_model", "saturated")
    kept = {key: arrays[key + tail] for key in keys if key + tail in arrays}
    return Score(
        name=data["name"], hash=data["hash"], joints=tuple(data["joints"]), rmse=nan(data["rmse"]),
        rmse_no_model=nan(data["rmse_no_model"]), **kept,
    )  # fmt: skip
