"""Plain text out of any data: what a model is pre-trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mobilekit.text.data.builtin import builtin_data, builtin_names
from mobilekit.text.data.load import load_data
from mobilekit.text.data.rows import Row, TextRow

# Of built-in data with labels: train and dev text, never test.
_UNLABELLED = "unlabelled"


def plain_texts(specs: Sequence[str]) -> list[TextRow]:
    """All texts of `specs` (see `load_data`; `NAME:SPLIT` is a split of built-in data), labels left out.

    Each one's documents stay apart from the others'. Raises InputError as `load_data` does.
    """
    texts: list[TextRow] = []
    for spec in specs:
        name, _, split = spec.rpartition(":")
        if name not in builtin_names():
            name, split = spec, _own_split(spec)
        _append(texts, load_data(name, "", split=split or None).rows)
    return texts


def split_texts(spec: str | None, learnt: Sequence[str], split: str) -> list[TextRow]:
    """Texts to choose by or to judge by: of `spec`, else the dev or test split of the first of `learnt` that has one
    which is not learnt from, else none."""
    if spec is not None:
        return plain_texts([spec])
    for name in learnt:
        if name in builtin_names() and split in builtin_data()[name].splits and _own_split(name) != _UNLABELLED:
            return plain_texts([f"{name}:{split}"])
    return []


def _own_split(name: str) -> str:
    own = name in builtin_names() and _UNLABELLED in builtin_data()[name].splits
    return _UNLABELLED if own else ""


def _append(texts: list[TextRow], rows: Sequence[Row]) -> None:
    shift = 1 + max((row.document for row in texts if row.document is not None), default=-1)
    for row in rows:
        if isinstance(row, TextRow):
            texts.append(row if row.document is None else replace(row, document=row.document + shift))
