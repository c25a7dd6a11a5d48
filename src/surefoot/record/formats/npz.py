"""NumPy archives that others wrote: arrays of all joints, or one for each."""

from __future__ import annotations

from typing import Any

from surefoot.record.formats.request import Request
from surefoot.record.formats.table import Table, fields_of
from surefoot.record.npz import is_canonical, read_arrays, read_npz


def read(request: Request) -> dict[str, Any]:
    """The fields of `Recording`: in the canonical form, or by a map or conventional names."""
    arrays = read_arrays(request.path)
    if is_canonical(arrays) and not set(request.map) - {"rate"}:
        return read_npz(request.path, arrays)
    return fields_of(Table.of_arrays(request.path, arrays), request)
