"""CSV (RFC 4180): the first line names the columns; fields may be quoted, and hold commas, quotes and line breaks."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Iterator
from pathlib import Path

from mobilekit.errors import InputError
from mobilekit.text.data.encoding import read_text
from mobilekit.text.data.readers.registry import Reader, register
from mobilekit.text.data.request import Request
from mobilekit.text.data.rows import TextData
from mobilekit.text.data.table import MemoryTable, refuse_double_columns, table_data


def _read(path: Path, request: Request) -> TextData:
    records = _records(path, read_text(path))
    header, _ = next(records, ([], 0))
    columns = tuple(name.strip() for name in header)
    refuse_double_columns(str(path), columns)
    rows, lines = [], []
    for fields, line in records:
        if len(fields) != len(columns):
            raise InputError(
                f"{path}:{line}: has {len(fields)} fields, and the first line names {len(columns)} columns; put texts "
                "with commas, quotes or line breaks in double quotes."
            )
        rows.append(fields)
        lines.append(line)
    return table_data(MemoryTable(str(path), columns, rows, lines), request)


def _records(path: Path, text: str) -> Iterator[tuple[list[str], int]]:
    """Fields of each record that is not blank, and the line that it begins in."""
    line = 1
    with _long_fields():
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        try:
            for fields in reader:
                if fields:
                    yield fields, line
                line = reader.line_num + 1
        except csv.Error as error:
            # A quote that is never closed swallows the rest: its beginning is what has to be mended.
            raise InputError(
                f"{path}:{line}: not CSV: {error}; inside a quoted field write each quote twice."
            ) from error


@contextlib.contextmanager
def _long_fields() -> Iterator[None]:
    """The csv module refuses fields of more than 131,072 characters; whole articles are longer."""
    limit = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


register(Reader("csv", "comma-separated, the first line names the columns", (".csv",), _read))
