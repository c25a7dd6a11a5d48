"""What is recorded so far, on disk: rows are added while the robot moves, and whatever was added can be read back."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from surefoot.errors import SurefootError
from surefoot.record.recording import Recording
from surefoot.record.validation import SHORTEST, Array

FORMAT = "surefoot-journal-1"
EVERY = 32  # rows between two visits to the disk: 80 ms at 400 Hz


class Journal:
    """An open file: one line of JSON that says what follows, then rows of little-endian float64."""

    def __init__(self, path: Path, about: dict[str, Any], columns: list[str]) -> None:
        """`about` holds every field of the recording but its series; each of `columns` is a series of n numbers a row."""
        self.path, self.width = path, 1 + len(columns) * len(about["joints"])
        self._waiting = 0
        head = {"format": FORMAT, "columns": columns, "about": about}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = path.open("wb")
            self._file.write(json.dumps(head).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise SurefootError(f"cannot write {path}: {error.strerror or error}.") from None

    def add(self, time: float, *series: ArrayLike) -> None:
        """One row: a stamp [s] and the series, in the order of the columns."""
        row = np.concatenate([[time], *(np.asarray(x, float) for x in series)])
        if row.shape != (self.width,):
            raise SurefootError(f"{self.path.name} takes rows of {self.width} numbers; this one has {row.size}.")
        self._file.write(row.astype("<f8").tobytes())
        self._waiting += 1
        if self._waiting >= EVERY:
            self._file.flush()
            self._waiting = 0

    def close(self) -> None:
        """Everything on disk."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def recover(path: Path) -> Recording:
    """The recording in a journal, up to its last whole row."""
    try:
        line, _, rest = path.read_bytes().partition(b"\n")
    except OSError as error:
        raise SurefootError(f"cannot read {path}: {error.strerror or error}.") from None
    try:
        head = json.loads(line)
        columns, about = head["columns"], head["about"]
        if head["format"] != FORMAT:
            raise KeyError("format")
        n = len(about["joints"])
        about["notes"] = dict(about.get("notes", {})) | {"recovered": "from a journal: the recording was cut short"}
    except (ValueError, KeyError, TypeError):
        raise SurefootError(f"{path.name} is not a journal that surefoot record began.") from None
    width = 1 + len(columns) * n
    rows = np.frombuffer(rest[: len(rest) // (8 * width) * 8 * width], dtype="<f8").reshape(-1, width)
    return from_rows(rows, columns, about)


def from_rows(rows: Array, columns: list[str], about: dict[str, Any]) -> Recording:
    """A recording from rows of a stamp and n numbers per column."""
    if len(rows) < SHORTEST:
        raise SurefootError(f"only {len(rows)} samples were recorded; at least {SHORTEST} make a recording.")
    series = rows[:, 1:].reshape(len(rows), len(columns), len(about["joints"]))
    return Recording(time=rows[:, 0], **{name: series[:, k] for k, name in enumerate(columns)}, **about)
