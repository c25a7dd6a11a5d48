"""The canonical file: a NumPy .npz of plain arrays and text, readable anywhere, never a pickle.

Keys: `format`, `joints`, `time`, `target`, `position`, `stiffness`, `damping`; where they exist `target_velocity`,
`feedforward`, `velocity`, `torque`, `enabled`, `valid`, `prescribed`; and `command_hold`, `name`, `notes` (JSON text).
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.record.atomic import replacing
from surefoot.record.recording import CHANNELS, FLAGS

if TYPE_CHECKING:
    from surefoot.record.recording import Recording

FORMAT = "surefoot-recording-1"
ARRAYS = ("time", *CHANNELS, *FLAGS, "stiffness", "damping")
TEXTS = ("format", "joints", "prescribed", "command_hold", "name", "notes")


def write_npz(recording: Recording, path: Path) -> Path:
    """Write the canonical file; an interrupted save leaves no half file."""
    if path.suffix != ".npz":
        raise SurefootError(f"cannot save a recording as '{path.name}'; its file name must end in .npz.")
    content: dict[str, Any] = {
        "format": np.array(FORMAT),
        "joints": np.array(recording.joints, dtype=np.str_),
        "prescribed": np.array(recording.prescribed, dtype=np.str_),
        "command_hold": np.array(recording.command_hold),
        "name": np.array(json.dumps(recording.name)),
        "notes": np.array(json.dumps(recording.notes)),
    }
    content |= {key: value for key in ARRAYS if (value := getattr(recording, key)) is not None}
    with replacing(path) as draft, draft.open("wb") as file:
        np.savez_compressed(file, **content)
    return path


def is_canonical(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether an archive is meant to be a recording: by its format, or by the names that only a recording has."""
    return bool({"format", "target", "position", "about"} & arrays.keys())


def read_npz(path: Path, arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The fields of `Recording` that the arrays of the file hold."""
    raw = dict(arrays)
    if "about" in raw:
        raise SurefootError(f"{path.name} holds targets, not a recording; surefoot record plays them and records what follows.")
    if foreign := [key for key in raw if key not in ARRAYS + TEXTS]:
        raise SurefootError(
            f"{path.name} holds {', '.join(map(repr, foreign))}, which a recording does not have; valid: "
            f"{', '.join(ARRAYS + TEXTS)}. Rename or remove these arrays: ignoring them could hide a misspelt channel."
        )
    if (found := str(raw.pop("format", FORMAT))) != FORMAT:
        raise SurefootError(f"{path.name} is of format {found!r}; this version of surefoot reads {FORMAT!r}.")
    fields: dict[str, Any] = {key: raw[key] for key in ARRAYS if key in raw}
    try:
        for key in ("joints", "prescribed"):
            if key in raw:
                fields[key] = tuple(str(name) for name in np.atleast_1d(raw[key]))
        if "command_hold" in raw:
            fields["command_hold"] = bool(raw["command_hold"])
        for key in ("name", "notes"):
            if key in raw:
                fields[key] = json.loads(str(raw[key]))
        if not isinstance(fields.get("notes", {}), dict) or not isinstance(fields.get("name", ""), str):
            raise TypeError("name is one JSON text and notes one JSON table")
    except (TypeError, ValueError) as error:
        raise SurefootError(f"the texts in {path.name} are malformed ({error}); write it again with Recording.save.") from error
    return fields


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Every array in the archive; whatever is wrong with the bytes becomes one sentence."""
    if not zipfile.is_zipfile(path):
        raise SurefootError(f"{path.name} is not a complete .npz file: it was cut short, or is something else. Copy it again.")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}
    except Exception as error:  # zip, zlib, npy header, text and memory errors: a damaged file can raise any of them
        if "allow_pickle" in str(error):
            raise SurefootError(
                f"{path.name} holds pickled Python objects, which can run code and are refused. Save plain arrays."
            ) from error
        raise SurefootError(f"{path.name} is damaged ({type(error).__name__}: {error}). Copy or record it again.") from error
