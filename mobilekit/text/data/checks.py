"""What data need to be good for training, beyond being readable."""

from __future__ import annotations

from mobilekit.errors import InputError, short
from mobilekit.text.data.rows import AnswerRow, TextData, TextRow, TokensRow


def require_trainable(data: TextData) -> None:
    """Raise InputError when nothing could be learnt from the labels: none, or the same one everywhere.

    Looks at rows until it has found two that differ.
    """
    if not data.task:
        raise InputError(f"{data.name}: is plain text and has no labels; training needs them.")
    targets = (target for row in data.rows for target in _targets(row))
    first = next(targets, None)
    if first is None:
        what = "no question has an answer" if data.task == "question-answering" else "has no labels"
        raise InputError(f"{data.name}: {what}; training needs some.")
    if data.task == "question-answering" or any(target != first for target in targets):
        return
    same = short(_called(data, first))
    raise InputError(f"{data.name}: all rows have the {same}; training needs at least two different ones.")


def _called(data: TextData, target: object) -> str:
    if isinstance(target, tuple):
        return f"labels {', '.join(data.labels[i] for i in target) or 'none'}"
    return f"label '{data.labels[target]}'" if isinstance(target, int) else f"value {target}"


def _targets(row: TextRow | TokensRow | AnswerRow) -> tuple[object, ...]:
    if isinstance(row, TokensRow):
        return row.tags
    if isinstance(row, AnswerRow):
        return row.answers
    return () if row.label is None else (row.label,)
