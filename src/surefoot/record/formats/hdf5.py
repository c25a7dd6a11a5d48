"""HDF5 files, by h5py: every dataset under its path, `group/q`; attributes may hold joint names and gains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import SurefootError
from surefoot.record.extras import need
from surefoot.record.formats.request import Request
from surefoot.record.formats.table import Table, fields_of
from surefoot.record.formats.words import ONCE_OF

SIGNATURE = b"\x89HDF\r\n\x1a\n"


def read(request: Request) -> dict[str, Any]:
    """The fields of `Recording` in the datasets."""
    return fields_of(Table.of_arrays(request.path, read_arrays(request.path)), request)


def is_hdf5(path: Path) -> bool:
    """Whether the file has HDF5's signature at its start, or behind the 512 bytes that MATLAB puts before it."""
    with path.open("rb") as file:
        head = file.read(512 + len(SIGNATURE))
    return head.startswith(SIGNATURE) or head[512:] == SIGNATURE


def read_arrays(path: Path, *, matlab: bool = False) -> dict[str, NDArray[Any]]:
    """Every dataset of numbers or text; of MATLAB's, transposed back, with `.` between struct and field."""
    h5py = need("h5py", f"'{path.name}'")
    out: dict[str, NDArray[Any]] = {}

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            value = _array(item, h5py, path, matlab)
            if value is not None and not name.startswith("#"):
                out[name.replace("/", ".") if matlab else name] = value
        for key, value in {} if matlab else item.attrs.items():
            array = np.asarray(value)
            if key.lower() in ONCE_OF:
                out.setdefault(f"{name}/{key}".lstrip("/"), array.astype(np.str_) if array.dtype.kind == "O" else array)

    try:
        with h5py.File(path, "r") as file:
            visit("", file)
            file.visititems(visit)
    except SurefootError:
        raise
    except Exception as error:  # h5py raises OSError, KeyError and RuntimeError for damaged files
        raise SurefootError(
            f"{path.name} is damaged, was cut short, or is no HDF5 file ({' '.join(str(error).split())}). Copy it again, and "
            "close the file in the program that logs."
        ) from error
    return out


def _array(item: Any, h5py: Any, path: Path, matlab: bool) -> NDArray[Any] | None:
    if item.dtype.kind == "O":
        if h5py.check_string_dtype(item.dtype):
            return np.array(item.asstr()[()], dtype=np.str_)
        if matlab and h5py.check_ref_dtype(item.dtype):  # a cell array: references to texts in UTF-16
            cells = [np.asarray(item.file[reference][()]) for reference in item[()].reshape(-1) if reference]
            if cells and all(cell.dtype == np.uint16 for cell in cells):
                return np.array(["".join(map(chr, cell.reshape(-1).tolist())) for cell in cells])
        return None
    if item.dtype.kind not in "biufSU":
        return None
    value = np.asarray(item[()])
    return value.T if matlab else value
