"""Rows to judge a finished model by: labelled where the data are, plain text else; a spread sample, a digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from mobilekit.text.data.builtin import builtin_names
from mobilekit.text.data.hub import PREFIX
from mobilekit.text.data.load import load_data
from mobilekit.text.data.request import DEFAULT_COLUMNS, Columns
from mobilekit.text.data.rows import AnswerRow, Row, TextData, TextRow, TokensRow

_SPLIT = "test"


def judging_data(
    spec: str,
    task: str,
    labels: tuple[str, ...] = (),
    problem_type: str | None = None,
    columns: Columns = DEFAULT_COLUMNS,
) -> TextData:
    """Rows of `spec` (as for `load_data`) for a model of `task` and `labels`, in whose order their labels are.

    Built-in data and the hub's give their test split, or the one that NAME:SPLIT says. task: "" for a model whose
    answers have no labels: then those of the data are left out. Data without labels are plain text (`TextData.task` is
    ""). Raises what `load_data` raises, for data of another task and for labels that are not the model's too.
    """
    name, split = spec, None
    head, _, tail = spec.rpartition(":")
    if spec in builtin_names() or (head in builtin_names() and tail):
        name, split = (spec, _SPLIT) if spec in builtin_names() else (head, tail)
    elif spec.startswith(PREFIX) and ":" not in spec.removeprefix(PREFIX):
        split = _SPLIT
    kind = problem_type if task == "sequence-classification" else None
    named = task in ("sequence-classification", "token-classification") and kind != "regression"
    read = load_data(name, task, columns, split, labels if named else None, kind, plain_too=True)
    return read if split is None or name.startswith(PREFIX) else replace(read, name=f"{name}:{split}")


def plain_rows(rows: Iterable[Row]) -> list[TextRow]:
    """Every text as a row of its own, without labels: both of a pair."""
    texts = ((row.text,) if row.pair is None else (row.text, row.pair) for row in rows if isinstance(row, TextRow))
    return [TextRow(text) for both in texts for text in both]


def sample_rows(rows: Sequence[Row], limit: int | None, seed: int = 0) -> list[Row]:
    """At most `limit` rows (None: all), in their order: drawn so that each label has its share of them.

    The same seed draws the same rows. Values (regression) are spread over their range, sentences over the sets of tags
    that are in them, questions over those with and without an answer.
    """
    return [rows[place] for place in sample_places(rows, limit, seed)]


def sample_places(rows: Sequence[Row], limit: int | None, seed: int = 0) -> list[int]:
    """Where the rows of `sample_rows` are."""
    if limit is None or limit >= len(rows):
        return list(range(len(rows)))
    mixed = np.random.default_rng(seed).permutation(len(rows))
    kinds = [_kind(rows[int(i)]) for i in mixed]
    # Equal kinds next to each other, each still mixed: steps of one width then take from each its share.
    order = sorted(range(len(mixed)), key=lambda place: kinds[place])
    return sorted(int(mixed[order[(2 * i + 1) * len(rows) // (2 * limit)]]) for i in range(limit))


def rows_sha256(rows: Iterable[Row]) -> str:
    """sha256 over one line of JSON a row: its fields by name, sorted, but for ids and documents' numbers."""
    digest = hashlib.sha256()
    for row in rows:
        values = {name: value for name, value in vars(row).items() if name not in ("id", "document")}
        digest.update((json.dumps(values, sort_keys=True, ensure_ascii=False) + "\n").encode())
    return digest.hexdigest()


def _kind(row: Row) -> tuple[Hashable, ...]:
    if isinstance(row, AnswerRow):
        return (bool(row.answers),)
    if isinstance(row, TokensRow):
        return tuple(sorted(set(row.tags)))
    return row.label if isinstance(row.label, tuple) else (0 if row.label is None else row.label,)
