"""LeRobot dataset folders (versions 2 and 3): `observation.state` is what was measured, `action` what was commanded."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import SurefootError, unknown
from surefoot.record.formats import parquet
from surefoot.record.formats.request import Request
from surefoot.record.formats.table import MAP, fields_of

INFO = Path("meta") / "info.json"


def read(request: Request) -> dict[str, Any]:
    """The fields of `Recording` of one episode; time is the frame's number over the rate that the dataset states."""
    folder = request.path
    request.allow((*MAP, "episode"))
    info = _info(folder)
    fps = info.get("fps")
    if isinstance(fps, bool) or not isinstance(fps, int | float) or fps <= 0:
        raise SurefootError(f"{folder.name}/{INFO.as_posix()} states fps = {fps!r}; expected samples per second.")
    files = sorted((folder / "data").glob("**/*.parquet"))
    if not files:
        raise SurefootError(f"{folder.name} holds no data/**/*.parquet; was the dataset downloaded without its data?")
    content, episode = _episode(folder, parquet.read_arrow(files), request.map.get("episode"))
    parts = {name: names for name, feature in info["features"].items() if (names := _names(feature))}
    table = parquet.table_of(folder, content, parts=parts)
    wanted = {key: value for key, value in request.map.items() if key not in ("episode", "rate")}
    chosen = {"position": "observation.state", "target": "action"} | wanted
    if "time" not in chosen:
        chosen["rate"] = fps
    if "joints" not in chosen and (names := parts.get(str(chosen["position"]))) and names == parts.get(str(chosen["target"])):
        chosen["joints"] = list(names)
    fields = fields_of(table, Request(path=folder, map=chosen, joints=request.joints, known=request.known))
    if "time" not in wanted:
        _stamps_agree(folder, content, fps)
    fields["name"] = f"{folder.name}-{episode}"
    fields["notes"]["source"] = f"LeRobot {info.get('codebase_version', 'dataset')}, episode {episode}, {fps:g} frames per second"
    if info.get("robot_type"):
        fields["notes"]["robot type"] = str(info["robot_type"])
    return fields


def _info(folder: Path) -> dict[str, Any]:
    try:
        info = json.loads((folder / INFO).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SurefootError(f"{folder.name}: {INFO.as_posix()} cannot be read ({error}); is this a LeRobot dataset?") from None
    if not isinstance(info, dict) or not isinstance(info.get("features"), dict):
        raise SurefootError(f"{folder.name}: {INFO.as_posix()} lists no features; is this a LeRobot dataset?")
    return info


def _names(feature: Any) -> tuple[str, ...] | None:
    """The names of a feature's numbers: a list, or {"motors": list}; `shoulder.pos` is the position of shoulder."""
    names = feature.get("names") if isinstance(feature, dict) else None
    if isinstance(names, dict) and len(names) == 1:
        names = next(iter(names.values()))
    shape = feature.get("shape") if isinstance(feature, dict) else None
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names) or (shape and shape != [len(names)]):
        return None
    return tuple(re.sub(r"\.pos$", "", name) for name in names)


def _episode(folder: Path, content: Any, asked: Any) -> tuple[Any, int]:
    """The frames of one episode; which one must be said when there are several."""
    if "episode_index" not in content.schema.names:
        raise SurefootError(f"{folder.name}: the data has no episode_index; is this a LeRobot dataset?")
    index = np.asarray(content.column("episode_index").to_numpy())
    there = [int(episode) for episode in np.unique(index)]
    if asked is None and len(there) != 1:
        raise SurefootError(
            f"{folder.name} holds {len(there)} episodes ({there[0]} to {there[-1]}); say which one with --episode {there[0]}. "
            "Each makes a recording of its own."
        )
    episode = there[0] if asked is None else asked
    if episode not in there:
        raise unknown(f"episode of {folder.name}", [str(episode)], [str(e) for e in there])
    rows = np.flatnonzero(index == episode)
    frames = np.asarray(content.column("frame_index").to_numpy())[rows] if "frame_index" in content.schema.names else None
    if frames is not None:
        rows, frames = rows[np.argsort(frames, kind="stable")], np.sort(frames)
        if (gaps := np.flatnonzero(np.diff(frames) != 1)).size:
            raise SurefootError(
                f"{folder.name}, episode {episode}: frame {frames[gaps[0]] + 1} is missing or repeated; download the data again."
            )
    return content.take(rows), episode


def _stamps_agree(folder: Path, content: Any, fps: float) -> None:
    """The stated rate is the one that the stamps have."""
    if "timestamp" not in content.schema.names or len(content) < 2:
        return
    stamps = np.asarray(content.column("timestamp").to_numpy(), float)
    found = 1.0 / float(np.median(np.diff(stamps))) if np.median(np.diff(stamps)) > 0 else np.inf
    if abs(found / fps - 1) > 0.02:
        raise SurefootError(
            f"{folder.name} states {fps:g} frames per second, but its stamps are {found:g} Hz. Decide by --columns FILE.toml: "
            "time = 'timestamp' takes the stamps."
        )
