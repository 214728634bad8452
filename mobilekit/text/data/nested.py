"""Rows whose labels are inside the text: tags of words, and answers in a context."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mobilekit.errors import InputError, short
from mobilekit.text.data.labels import index_of, own_index, spelling
from mobilekit.text.data.rows import AnswerRow

# What every data set of questions calls its columns; `answers` holds {"text": [...], "answer_start": [...]}.
ANSWER_COLUMNS = ("question", "context", "answers")


def tag_index(
    tags: Mapping[str, int], given: tuple[str, ...] | None, where: Callable[[int], str]
) -> tuple[tuple[str, ...], dict[str, int]]:
    """Names of tags and the index of each: those given, else all that there are (sorted; numbers as they stand).

    tags: each with the first row that has it, which `where` gives the place of. Raises InputError for a tag that is
    not among the given ones.
    """
    if given:
        return given, index_of(dict(tags), given, where)
    return own_index(dict(tags), where)


def check_words(words: object, tags: object, where: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Words and their tags as texts; raises InputError when they are no lists of the same length, or empty."""
    if not isinstance(words, list | tuple) or not isinstance(tags, list | tuple):
        raise InputError(
            f"{where}words and tags have to be lists; a file that cannot hold lists can be CoNLL (one word a line)."
        )
    if len(words) != len(tags) or not words:
        raise InputError(f"{where}has {len(words)} words and {len(tags)} tags; each word needs one.")
    spelled = tuple(map(spelling, tags))
    if not all(isinstance(word, str) for word in words) or not all(spelled):
        raise InputError(f"{where}each word has to be a text, and each tag a name or a number.")
    return tuple(words), spelled


def answer_row(record: Mapping[str, Any], where: str) -> AnswerRow:
    """The row of a record with ANSWER_COLUMNS (and `id`, where there is one)."""
    question, context = (_text(record.get(name), name, where) for name in ANSWER_COLUMNS[:2])
    answers = record.get("answers") or {}
    texts, starts = (answers.get(key, []) if isinstance(answers, Mapping) else None for key in ("text", "answer_start"))
    if not isinstance(texts, list | tuple) or not isinstance(starts, list | tuple) or len(texts) != len(starts):
        raise InputError(f'{where}answers have to be {{"text": [...], "answer_start": [...]}}, both of one length.')
    name = str(record.get("id", ""))
    pairs = check_answers(
        context, list(zip(starts, texts, strict=True)), f"{where}question '{name}': " if name else where
    )
    return AnswerRow(question, context, pairs, name)


def check_answers(context: str, answers: Sequence[tuple[object, object]], where: str) -> tuple[tuple[int, str], ...]:
    """The answers, each once as (first character, text); raises InputError for one that is not there in the context."""
    for start, text in answers:
        if not isinstance(start, int) or isinstance(start, bool) or not isinstance(text, str) or not text:
            raise InputError(f"{where}an answer needs a text and the number of its first character (answer_start).")
        if start < 0 or context[start : start + len(text)] != text:
            there = context[max(start, 0) : max(start, 0) + len(text)]
            raise InputError(
                f"{where}the answer '{short(text)}' is not at character {start} of its context, where "
                f"'{short(there)}' stands; correct answer_start (it counts characters, not bytes)."
            )
    return tuple(dict.fromkeys((int(str(start)), str(text)) for start, text in answers))


def _text(value: object, column: str, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{where}{column} is {short(repr(value))}; it has to be a text.")
    return value
