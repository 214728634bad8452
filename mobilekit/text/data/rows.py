"""What data is: rows of text with their labels, whatever file or hub they came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class TextRow:
    """A text or a pair with its label.

    label: index into `TextData.labels` (one of many), a value (regression), indices (several labels), or None where
    the data is plain text. id: as the source names it, "" if it does not. document: in text that goes on from row to
    row, the number of its document: neighbours with the same number are consecutive sentences. None where rows have
    nothing to do with each other.
    """

    text: str
    pair: str | None = None
    label: int | float | tuple[int, ...] | None = None
    id: str = ""
    document: int | None = None


@dataclass(frozen=True)
class TokensRow:
    """A sentence in words, each with the index of its tag in `TextData.labels`."""

    words: tuple[str, ...]
    tags: tuple[int, ...]


@dataclass(frozen=True)
class AnswerRow:
    """A question, a context, and the answers in it as (first character, text); none where it holds no answer."""

    question: str
    context: str
    answers: tuple[tuple[int, str], ...]
    id: str = ""


Row = TextRow | TokensRow | AnswerRow


def text_of(row: Row) -> str:
    """The first, or only, text of a row."""
    if isinstance(row, TokensRow):
        return " ".join(row.words)
    return row.text if isinstance(row, TextRow) else row.context


@dataclass(frozen=True)
class TextData:
    """Rows of one kind.

    task: a name of `mobilekit.models.tasks.TASKS` that the labels are for, "" for plain text. labels: names of classes
    or tags in the order of their indices; ("value",) for regression. problem_type: of sequence classification.
    """

    name: str
    task: str
    labels: tuple[str, ...]
    problem_type: str | None
    rows: Sequence[Row]
