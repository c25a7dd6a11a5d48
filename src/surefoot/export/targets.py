"""export: a fit into the files of one simulator."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from surefoot.errors import SurefootError
from surefoot.export import mjcf, modules, tables, urdf, usd
from surefoot.export.values import Values, command_delay, values_of
from surefoot.identify.answer import model_hash
from surefoot.identify.fit import Fit
from surefoot.record.recording import Recording
from surefoot.robot.load import bundled_names
from surefoot.robot.spec import Robot

TARGETS = {
    "mjcf": ".xml",
    "urdf": ".urdf",
    "usd": ".usda",
    "isaaclab": ".py",
    "mjlab": ".py",
    "legged_gym": ".py",
    "genesis": ".py",
    "json": ".json",
    "yaml": ".yaml",
    "ros2": ".yaml",
}
"""Targets, and the suffix of what each writes."""
MODELS = ("mjcf", "urdf", "usd")  # written over the user's own model
ANY_DELAY = ("json", "yaml", "ros2", "urdf")  # only say the number


@dataclass(frozen=True, kw_only=True)
class Export:
    """What was written."""

    target: str
    values: Values
    files: tuple[Path, ...]  # the first is the one to load
    notes: tuple[str, ...]


def export(
    fit: Fit, robot: Robot | str | Path, *, to: str, out: str | Path, model: str | Path | None = None,
    recording: Recording | None = None, date: str = "",
) -> Export:  # fmt: skip
    """Write a fit for a simulator; a model file of the user's stays as it is but for what was identified.

    `robot` is the fitted robot, or what `Robot.load` takes: a bundled name, a robot.toml, an MJCF, a URDF. `model` is the file
    to write into: by default the one that the robot was loaded from. Gains are the recording's, or without one the robot's.
    """
    if to not in TARGETS:
        raise SurefootError(f"there is no export to {to!r}; valid: {', '.join(TARGETS)}.")
    robot = robot if isinstance(robot, Robot) else Robot.load(robot)
    if to not in ANY_DELAY:
        command_delay(fit, to)
    values = values_of(fit, robot, recording, date=date)
    path = Path(out)
    if path.is_dir():
        path = path / f"{robot.name}_{to}{TARGETS[to]}"
    source, more = _source(robot, to, model)
    if isinstance(source, Path) and path.exists() and path.resolve() == source.resolve():
        raise SurefootError(f"--out {path} is the model itself; write to another file beside it.")
    try:
        files, notes = write(values, to, source, path)
    except OSError as error:
        raise SurefootError(f"cannot write {path}: {error.strerror or error}. Choose another --out.") from None
    if fit.model_hash != model_hash(robot):
        more.append(
            f"{robot.name} is not as it was when it was fitted (its links, joints or limits): the values may not hold for it."
        )
    return Export(target=to, values=values, files=tuple(files), notes=(*more, *values.lost, *notes))


def write(values: Values, to: str, source: Path | str, out: Path) -> tuple[list[Path], list[str]]:
    """Write values for a target; the files, the one to load first, and what the user must know."""
    if to == "mjcf":
        return mjcf.write(values, source, out)
    if to == "urdf":
        return urdf.write(values, source, out)
    if to == "usd":
        return usd.write(values, source, out)
    if to in ("json", "yaml", "ros2"):
        return tables.write(values, to, out)
    return modules.write(values, to, out)


def _source(robot: Robot, to: str, model: str | Path | None) -> tuple[Path | str, list[str]]:
    """The model to write into: the given one, the robot's own, or, where a URDF is to become an MJCF, the robot in the air."""
    if to not in MODELS:
        return "", []
    path = Path(model) if model is not None else model_file(robot)
    if path is None or not path.is_file():
        raise SurefootError(f"there is no model file {path or robot.source}; pass the file to write into: --model FILE.")
    kind = _kind(path)
    if kind == to:
        return path, []
    if to == "mjcf" and kind == "urdf" and model is None:
        note = (
            "the robot is a URDF: the MJCF is surefoot's own in-air model of it, without shapes, its base fixed. For a walking "
        )
        return robot.model, [note + "model pass your own MJCF: --model robot.xml."]
    raise SurefootError(
        f"{path.name} is {kind.upper()}; an export to {to} is written into the robot's own {to.upper()}: --model FILE."
    )


def _kind(path: Path) -> str:
    if path.suffix in (".usd", ".usda", ".usdc", ".usdz"):
        return "usd"
    try:
        return "urdf" if b"<robot" in path.read_bytes() else "mjcf"
    except OSError as error:
        raise SurefootError(f"cannot read {path}: {error.strerror}.") from None


def model_file(robot: Robot) -> Path | None:
    """The MJCF or URDF that a robot was loaded from."""
    if robot.source in bundled_names():
        folder: Any = resources.files("surefoot").joinpath("robots")
        data = tomllib.loads(folder.joinpath(f"{robot.source}.toml").read_text(encoding="utf-8"))
        return Path(str(folder.joinpath(data["robot"]["model"])))
    path = Path(robot.source)
    if path.suffix == ".toml" and path.is_file():
        return path.parent / tomllib.loads(path.read_text(encoding="utf-8"))["robot"]["model"]
    return path if path.is_file() else None


def find_recording(fit: Fit, folder: Path) -> Recording | None:
    """A recording of the fit's, if it still lies in the fit's folder or beside it."""
    wanted = {score.hash for score in fit.recordings}
    home = folder if folder.is_dir() else folder.parent
    for path in sorted([*home.glob("*.npz"), *home.parent.glob("*.npz")]):
        if path.name == "trajectories.npz" or path.stat().st_size > 200e6:
            continue
        try:
            recording = Recording.load(path)
        except SurefootError:
            continue
        if recording.hash in wanted:
            return recording
    return None
