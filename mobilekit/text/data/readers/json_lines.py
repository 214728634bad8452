"""JSON lines: one object a line. The file stays on the disk; a line is parsed when its row is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mobilekit.errors import InputError, short
from mobilekit.text.data.lines import LineIndex, require_rows
from mobilekit.text.data.readers.registry import Reader, register
from mobilekit.text.data.request import DEFAULT_COLUMNS, Request
from mobilekit.text.data.rows import TextData
from mobilekit.text.data.table import Record, table_data


class JsonLinesTable:
    """The objects of a file as a table; its columns are the keys of the first one."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._lines = LineIndex(path)
        self._numbers = np.flatnonzero(~self._lines.blank())
        require_rows(path, len(self._numbers))
        self.columns: tuple[str, ...] = tuple(self.record(0))

    def __len__(self) -> int:
        return len(self._numbers)

    def where(self, index: int) -> str:
        """FILE:LINE."""
        return f"{self.name}:{self._numbers[index] + 1}: "

    def record(self, index: int) -> Record:
        """The object of row `index`; raises InputError where the line is none."""
        line = self._lines[int(self._numbers[index])]
        try:
            record: Any = json.loads(line)
            # Halves of characters, which no tokenizer takes.
            if "\\ud" in line.lower():
                json.dumps(record, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            raise InputError(f"{self.where(index)}not JSON ({error}); each line has to be one object.") from error
        if not isinstance(record, dict):
            raise InputError(
                f"{self.where(index)}is {type(record).__name__}, not an object; write {{...}} on each line."
            )
        return record

    def scan(self, texts: Sequence[str], label: str | None) -> Iterator[object]:
        """Parse every line and check that it has what the first one has; yields the labels."""
        wanted = [*texts, *([] if label is None else [label])]
        for i in range(len(self)):
            record = self.record(i)
            for column in wanted:
                if column not in record:
                    there = ", ".join(map(short, record))
                    raise InputError(
                        f"{self.where(i)}has no '{column}', which line {self._numbers[0] + 1} has, only {there}."
                    )
            if DEFAULT_COLUMNS.pair in record and DEFAULT_COLUMNS.pair not in self.columns:
                first = self._numbers[0] + 1
                raise InputError(
                    f"{self.where(i)}has '{DEFAULT_COLUMNS.pair}', and line {first} has not; pair all or none."
                )
            for column in texts:
                if not isinstance(record[column], str):
                    got = short(repr(record[column]))
                    raise InputError(f"{self.where(i)}{column} is {got}; it has to be a text.")
            if label is not None:
                yield record[label]

    def label_names(self, column: str) -> tuple[str, ...] | None:
        """None: there is no header that could name labels."""
        return None


def _read(path: Path, request: Request) -> TextData:
    return table_data(JsonLinesTable(path), request)


register(Reader("jsonl", "one JSON object a line", (".jsonl", ".ndjson"), _read))
