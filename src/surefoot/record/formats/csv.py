"""Plain CSV logs: one header line, one row per sample."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.record.formats.request import Request
from surefoot.record.formats.table import Table, fields_of

FALSE_TRUE = {"false": 0.0, "true": 1.0}


def read(request: Request) -> dict[str, Any]:
    """The fields of `Recording` in the file."""
    header, column = columns(request.path)
    return fields_of(Table(path=request.path, widths=dict.fromkeys(header, 0), read=column), request)


def columns(path: Path) -> tuple[list[str], Callable[[str], np.ndarray]]:
    """The names in the header, and a function that reads the column of a name as numbers."""
    header, rows, lines = _table(path)
    where = {name: k for k, name in enumerate(header)}
    return header, lambda name: _column(path, rows, lines, where[name], name)


def _table(path: Path) -> tuple[list[str], list[list[str]], list[int]]:
    """Header, rows of text, and the line number of each row."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SurefootError(f"{path.name} is not text in UTF-8 (byte {error.start}); save it as a UTF-8 CSV.") from error
    if "\0" in text:
        raise SurefootError(f"{path.name} contains null bytes: it is no CSV, or was cut short while written.")
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(",;\t", key=first.count)
    try:
        reader = csv.reader(text.splitlines(), delimiter=delimiter)
        table = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise SurefootError(f"{path.name} is not a CSV ({error}).") from error
    if not table:
        raise SurefootError(f"{path.name} is empty; expected a header line and one row per sample.")
    header = [name.strip() for name in table[0][1]]
    header[0] = header[0].lstrip("# ")
    if all(_is_number(name) for name in header if name):
        raise SurefootError(f"{path.name} has no header: its first line is numbers. Add a line with the column names.")
    if twice := sorted({name for name in header if name and header.count(name) > 1}):
        raise SurefootError(f"{path.name} has two columns named {', '.join(map(repr, twice))}; rename one.")
    body = [(line, row) for line, row in table[1:] if not row[0].lstrip().startswith("#")]
    for line, row in body:
        if len(row) != len(header):
            cut = " The file was probably cut short: remove this line." if line == body[-1][0] else ""
            raise SurefootError(f"line {line} of {path.name} has {len(row)} cells; the header has {len(header)}.{cut}")
    return header, [row for _, row in body], [line for line, _ in body]


def _column(path: Path, rows: list[list[str]], lines: list[int], k: int, name: str) -> np.ndarray:
    """One column as numbers; an empty cell is NaN, which the Recording then names."""
    cells = [row[k].strip() for row in rows]
    for kind in (np.int64, np.float64):  # whole numbers first: nanoseconds since 1970 do not fit a float
        try:
            return np.array(cells, dtype=kind)
        except (ValueError, OverflowError):
            pass
    out = np.empty(len(cells))
    for i, cell in enumerate(cells):
        if cell == "" or cell.lower() in FALSE_TRUE:
            out[i] = FALSE_TRUE.get(cell.lower(), np.nan)
        elif _is_number(cell):
            out[i] = float(cell)
        else:
            comma = " Use a decimal point." if re.fullmatch(r"-?\d+,\d+", cell) else ""
            raise SurefootError(f"line {lines[i]} of {path.name}, column {name}: {cell!r} is not a number.{comma}")
    return out


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
