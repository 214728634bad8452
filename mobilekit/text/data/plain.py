"""Plain text out of any data: what a model is pre-trained on."""

from __future__ import annotations

from collections.abc import Sequence

from mobilekit.text.data.builtin import builtin_data, builtin_names
from mobilekit.text.data.load import load_data
from mobilekit.text.data.rows import TextRow

# Of built-in data with labels: train and dev text, never test.
_UNLABELLED = "unlabelled"


def plain_texts(specs: Sequence[str]) -> list[TextRow]:
    """All texts of `specs` (see `load_data`), labels left out; each one's documents stay apart from the others'.

    Raises InputError as `load_data` does.
    """
    texts: list[TextRow] = []
    for spec in specs:
        split = _UNLABELLED if spec in builtin_names() and _UNLABELLED in builtin_data()[spec].splits else None
        _append(texts, load_data(spec, "", split=split).rows)
    return texts


def held_out_texts(spec: str | None, learnt: Sequence[str]) -> list[TextRow]:
    """Texts to measure on: of `spec`, else the dev split of the first of `learnt` that keeps it out of what is learnt
    from, else none."""
    if spec is not None:
        return plain_texts([spec])
    for name in learnt:
        if name in builtin_names() and _UNLABELLED not in builtin_data()[name].splits:
            texts: list[TextRow] = []
            _append(texts, load_data(name, "", split="dev").rows)
            return texts
    return []


def _append(texts: list[TextRow], rows: Sequence[object]) -> None:
    from dataclasses import replace

    shift = 1 + max((row.document for row in texts if row.document is not None), default=-1)
    for row in rows:
        if isinstance(row, TextRow):
            texts.append(row if row.document is None else replace(row, document=row.document + shift))
