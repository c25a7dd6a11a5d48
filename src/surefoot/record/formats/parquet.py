"""Parquet files, by pyarrow: a column for each joint, or a column of lists for all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import SurefootError
from surefoot.record.extras import need
from surefoot.record.formats.request import Request
from surefoot.record.formats.table import Table, fields_of


def read(request: Request) -> dict[str, Any]:
    """The fields of `Recording` in the columns."""
    return fields_of(table_of(request.path, read_arrow([request.path])), request)


def read_arrow(paths: list[Path]) -> Any:
    """The rows of one or several files of the same columns, as an arrow table."""
    arrow, parquet = need("pyarrow", "a Parquet file"), need("pyarrow.parquet", "a Parquet file")
    pieces = []
    for path in paths:
        try:
            pieces.append(parquet.read_table(path))
        except FileNotFoundError:
            raise
        except (OSError, arrow.ArrowException) as error:
            raise SurefootError(
                f"{path.name} is damaged, was cut short, or is no Parquet file ({' '.join(str(error).split())}). Copy it again, "
                "and close the writer when you log: the description of a Parquet file stands at its end."
            ) from error
    return arrow.concat_tables(pieces)


def table_of(path: Path, content: Any, **more: Any) -> Table:
    """Columns of numbers, booleans and time stamps, and columns of lists of one length."""
    types = need("pyarrow.types", "a Parquet file")
    widths: dict[str, int] = {}
    for name, kind in zip(content.schema.names, content.schema.types, strict=True):
        if types.is_fixed_size_list(kind):
            widths[name] = kind.list_size
        elif types.is_list(kind) or types.is_large_list(kind):
            lengths = {len(row) for row in content.column(name).to_pylist() if row is not None}
            if len(lengths) == 1 and not types.is_nested(kind.value_type):
                widths[name] = lengths.pop()
        elif types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_timestamp(kind):
            widths[name] = 0

    def read_column(name: str) -> NDArray[Any]:
        column = content.column(name).combine_chunks()
        if widths[name]:
            if column.null_count:
                raise SurefootError(f"{path.name}: {column.null_count} rows of {name} are empty; remove them.")
            return np.asarray(column.flatten().to_numpy(zero_copy_only=False)).reshape(-1, widths[name])
        return np.asarray(column.to_numpy(zero_copy_only=False))

    return Table(path=path, widths=widths, read=read_column, **more)
