"""Which reader reads which file: one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from surefoot.errors import SurefootError
from surefoot.record.formats.request import Request


@dataclass(frozen=True, kw_only=True)
class Format:
    """A kind of log."""

    name: str
    module: str  # in surefoot.record.formats; its `read(Request)` gives the fields of a Recording
    endings: tuple[str, ...] = ()  # of a file's name
    marker: str = ""  # the file that makes a folder this kind of log

    @property
    def read(self) -> Callable[[Request], dict[str, Any]]:
        """The reader; its library is loaded now, not before."""
        return import_module(f"surefoot.record.formats.{self.module}").read


FORMATS = (
    Format(name="NumPy archive", module="npz", endings=(".npz",)),
    Format(name="CSV", module="csv", endings=(".csv",)),
    Format(name="PACE chirp file", module="pace", endings=(".pt",)),
    Format(name="MATLAB", module="mat", endings=(".mat",)),
    Format(name="Parquet", module="parquet", endings=(".parquet",)),
    Format(name="HDF5", module="hdf5", endings=(".h5", ".hdf5")),
    Format(name="MCAP", module="mcap", endings=(".mcap",)),
    Format(name="ROS 2 bag", module="rosbag", endings=(".db3",), marker="metadata.yaml"),
    Format(name="LeRobot dataset", module="lerobot", marker="meta/info.json"),
)
ENDINGS = tuple(ending for kind in FORMATS for ending in kind.endings)


def find_format(path: Path) -> Format:
    """The format of a file by its ending, of a folder by what is in it."""
    folders = [kind for kind in FORMATS if kind.marker]
    if not path.exists():
        raise SurefootError(f"there is no file {path}.")
    if path.is_dir():
        if found := next((kind for kind in folders if (path / kind.marker).is_file()), None):
            return found
        raise SurefootError(
            f"{path} is a folder, not a file, and no log: expected "
            f"{' or '.join(f'{kind.marker} in it ({kind.name})' for kind in folders)}."
        )
    if not path.is_file():
        raise SurefootError(f"{path} is not a file; expected one of {', '.join(ENDINGS)}.")
    if found := next((kind for kind in FORMATS if path.suffix.lower() in kind.endings), None):
        return found
    raise SurefootError(f"cannot read '{path.name}' as a recording; its name must end in {', '.join(ENDINGS)}.")
