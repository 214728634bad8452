"""Plain text out of any data: what a model is pre-trained on."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import overload

from mobilekit.errors import InputError
from mobilekit.text.data.builtin import builtin_data, builtin_names
from mobilekit.text.data.load import has_columns, load_data
from mobilekit.text.data.request import DEFAULT_COLUMNS, Columns
from mobilekit.text.data.rows import Row, TextRow

# Of built-in data with labels: train and dev text, never test.
_UNLABELLED = "unlabelled"
# More documents than any corpus has.
_APART = 2**40


class Texts(Sequence[TextRow]):
    """Rows of several corpora one after the other; each row is made when it is asked for. Documents stay apart."""

    def __init__(self, parts: Sequence[Sequence[Row]]) -> None:
        self._parts = parts
        self._ends = list(itertools.accumulate(len(part) for part in parts))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> TextRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[TextRow]: ...
    def __getitem__(self, index: int | slice) -> TextRow | list[TextRow]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        part = bisect.bisect_right(self._ends, place)
        row = self._parts[part][place - (self._ends[part - 1] if part else 0)]
        assert isinstance(row, TextRow)
        return row if row.document is None else replace(row, document=row.document + part * _APART)


def plain_texts(specs: Sequence[str], column: str | None = None) -> Texts:
    """All texts of `specs` (see `load_data`; `NAME:SPLIT` is a split of built-in data), labels left out.

    column: the one that holds them in tables, None: "text". Raises InputError as `load_data` does, for rows of two
    texts, and for a column where nothing is a table.
    """
    columns = DEFAULT_COLUMNS if column is None else Columns(text=column)
    parts: list[Sequence[Row]] = []
    for spec in specs:
        name = _name(spec)
        split = spec[len(name) + 1 :] or _own_split(name)
        rows = load_data(name, "", columns, split=split or None).rows
        first = next(iter(rows), None)
        if isinstance(first, TextRow) and first.pair is not None:
            raise InputError(
                f"{spec}: each row has a second text, '{columns.pair}', and plain text is one text a row; make rows of "
                "both, or leave that column out."
            )
        parts.append(rows)
    if column is not None and not any(has_columns(_name(spec)) for spec in specs):
        raise InputError(f"corpus column '{column}': none of the texts is a table with columns; leave it out.")
    return Texts(parts)


def split_texts(spec: str | None, learnt: Sequence[str], split: str, column: str | None = None) -> Sequence[TextRow]:
    """Texts to choose by or to judge by: of `spec`, else the dev or test split of the first of `learnt` that has one
    which is not learnt from, else none. column: as of `plain_texts`, where `spec` is a table."""
    if spec is not None:
        return plain_texts([spec], column if has_columns(_name(spec)) else None)
    known = {part for each in learnt for part in _parts(each)}
    for each in learnt:
        name = _name(each)
        if name in builtin_names() and split in builtin_data()[name].splits and (name, split) not in known:
            return plain_texts([f"{name}:{split}"])
    return []


def _name(spec: str) -> str:
    name = spec.rpartition(":")[0]
    return name if name in builtin_names() else spec


def _parts(spec: str) -> list[tuple[str, str]]:
    """The splits of built-in data that a spec is made of."""
    name = _name(spec)
    split = spec[len(name) + 1 :] or _own_split(name) or "train"
    return [(name, part) for part in (("train", "dev") if split == _UNLABELLED else (split,))]


def _own_split(name: str) -> str:
    own = name in builtin_names() and _UNLABELLED in builtin_data()[name].splits
    return _UNLABELLED if own else ""
