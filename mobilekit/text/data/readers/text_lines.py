"""Plain text, one text (usually a sentence) a line; blank lines stand between documents.

The file is mapped, not read: a corpus of any size takes some 20 bytes of memory a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import overload

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import InputError
from mobilekit.text.data.lines import LineIndex, require_rows
from mobilekit.text.data.readers.registry import Reader, register
from mobilekit.text.data.request import Request
from mobilekit.text.data.rows import Row, TextData, TextRow


class LineRows(Sequence[Row]):
    """The lines of a file that are not blank; a row's `document` counts the blocks between blank lines, from 0.

    A row's id is DOCUMENT_LINE, both from 1, the line counted within its document.
    """

    def __init__(self, lines: LineIndex) -> None:
        blank = lines.blank()
        self._lines = lines
        self._numbers = np.flatnonzero(~blank)
        begins = np.concatenate([[True], blank[:-1]])[self._numbers]
        self._documents: NDArray[np.int32] = (np.cumsum(begins, dtype=np.int32) - 1).astype(np.int32)
        self._first = np.flatnonzero(begins)

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> TextRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> TextRow | list[Row]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        document = int(self._documents[place])
        line = place - int(self._first[document]) + 1
        text = self._lines[int(self._numbers[place])].strip()
        return TextRow(text, id=f"{document + 1}_{line}", document=document)


def _read(path: Path, request: Request) -> TextData:
    if not request.plain_too and (request.task or request.labels or request.problem_type is not None):
        raise InputError(
            f"{path}: .txt is plain text and has no labels; give them in a column (.csv, .tsv, .jsonl, .parquet), or "
            "tags in CoNLL, for which name the task token-classification."
        )
    rows = LineRows(LineIndex(path))
    require_rows(path, len(rows))
    return TextData(str(path), "", (), None, rows)


register(Reader("text", "plain text, one a line, blank lines between documents", (".txt",), _read, columns=False))
