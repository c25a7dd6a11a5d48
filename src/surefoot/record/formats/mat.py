"""MATLAB: .mat files up to version 7 by SciPy, version 7.3 (which is HDF5) by h5py; structs as `log.q`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import SurefootError
from surefoot.record.formats.request import Request
from surefoot.record.formats.table import Table, fields_of


def read(request: Request) -> dict[str, Any]:
    """The fields of `Recording` in the variables and in the fields of scalar structs."""
    from surefoot.record.formats.hdf5 import is_hdf5, read_arrays

    path = request.path
    arrays = read_arrays(path, matlab=True) if is_hdf5(path) else _version_5(path)
    return fields_of(Table.of_arrays(path, arrays), request)


def _version_5(path: Path) -> dict[str, NDArray[Any]]:
    from scipy.io import loadmat

    try:
        content = loadmat(path, squeeze_me=False, chars_as_strings=True, struct_as_record=True)
    except PermissionError:
        raise
    except Exception as error:  # a damaged file can raise anything
        raise SurefootError(
            f"{path.name} is damaged, was cut short, or is no .mat file ({type(error).__name__}: {error}). Save it again in "
            "MATLAB: save('log.mat', 't', 'q', 'q_des')."
        ) from error
    out: dict[str, NDArray[Any]] = {}
    for name, value in content.items():
        if not name.startswith("__"):
            _collect(out, name, np.asarray(value))
    return out


def _collect(out: dict[str, NDArray[Any]], name: str, value: NDArray[Any]) -> None:
    """Arrays under their names, the fields of a struct under `struct.field`, cells of text as text."""
    if value.dtype.names and value.size == 1:
        for field in value.dtype.names:
            _collect(out, f"{name}.{field}", np.asarray(value.reshape(-1)[0][field]))
    elif value.dtype.kind == "O" and all(np.asarray(cell).dtype.kind == "U" for cell in value.reshape(-1)):
        out[name] = np.array(["".join(np.asarray(cell).reshape(-1)) for cell in value.reshape(-1)])
    elif value.dtype.kind in "biufU":
        out[name] = value
