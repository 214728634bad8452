"""Plain text out of any data: what a model is pre-trained on."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import overload

from mobilekit.text.data.builtin import builtin_data, builtin_names
from mobilekit.text.data.load import load_data
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


def plain_texts(specs: Sequence[str]) -> Texts:
    """All texts of `specs` (see `load_data`; `NAME:SPLIT` is a split of built-in data), labels left out.

    Raises InputError as `load_data` does.
    """
    parts = []
    for spec in specs:
        name = _name(spec)
        split = spec[len(name) + 1 :] or _own_split(name)
        parts.append(load_data(name, "", split=split or None).rows)
    return Texts(parts)


def split_texts(spec: str | None, learnt: Sequence[str], split: str) -> Sequence[TextRow]:
    """Texts to choose by or to judge by: of `spec`, else the dev or test split of the first of `learnt` that has one
    which is not learnt from, else none."""
    if spec is not None:
        return plain_texts([spec])
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
