"""TSV: one row a line, fields between tabs, the first line names the columns.

Quotes are ordinary characters, as in the GLUE files: a text that begins with one and never closes it loses nothing.
So no field can hold a tab or a line break, and what a program quoted (CSV with tabs) keeps its quotes.
"""

from __future__ import annotations

from pathlib import Path

from mobilekit.errors import InputError
from mobilekit.text.data.encoding import read_text
from mobilekit.text.data.readers.registry import Reader, register
from mobilekit.text.data.request import Request
from mobilekit.text.data.rows import TextData
from mobilekit.text.data.table import MemoryTable, refuse_double_columns, table_data


def _read(path: Path, request: Request) -> TextData:
    # Not splitlines(): texts hold other characters that it would break at.
    numbered = [(i, line.removesuffix("\r")) for i, line in enumerate(read_text(path).split("\n"), 1)]
    numbered = [(i, line) for i, line in numbered if line.strip()]
    columns = tuple(name.strip() for name in numbered[0][1].split("\t")) if numbered else ()
    refuse_double_columns(str(path), columns)
    rows, lines = [], []
    for number, line in numbered[1:]:
        fields = line.split("\t")
        if len(fields) != len(columns):
            raise InputError(
                f"{path}:{number}: has {len(fields)} fields, and the first line names {len(columns)} columns; a text "
                "cannot hold a tab or a line break here (CSV can)."
            )
        rows.append(fields)
        lines.append(number)
    return table_data(MemoryTable(str(path), columns, rows, lines), request)


register(Reader("tsv", "tab-separated, the first line names the columns, no quoting", (".tsv",), _read))
