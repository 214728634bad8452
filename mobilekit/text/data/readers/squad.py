"""SQuAD JSON, versions 1.1 (Rajpurkar et al. 2016) and 2.0 (2018: questions without an answer)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from mobilekit.errors import InputError, short
from mobilekit.text.data.encoding import read_text
from mobilekit.text.data.lines import require_rows
from mobilekit.text.data.nested import check_answers
from mobilekit.text.data.readers.registry import Reader, register
from mobilekit.text.data.request import Request
from mobilekit.text.data.rows import AnswerRow, TextData

_TASK = "question-answering"


def _read(path: Path, request: Request) -> TextData:
    if request.task not in (None, _TASK) or request.labels or request.problem_type is not None:
        raise InputError(
            f"{path}: .json is SQuAD, for {_TASK} and without labels; rows of another task can be JSON lines (.jsonl)."
        )
    try:
        content = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error}); one object a line is .jsonl.") from error
    rows = list(_rows(path, content))
    require_rows(path, len(rows))
    return TextData(str(path), _TASK, (), None, rows)


def _rows(path: Path, content: object) -> Iterator[AnswerRow]:
    for i, article in enumerate(_list(content, "data", f"{path}: ")):
        for j, paragraph in enumerate(_list(article, "paragraphs", f"{path}: data[{i}]: ")):
            place = f"{path}: data[{i}].paragraphs[{j}]: "
            context = _text(paragraph, "context", place)
            for question in _list(paragraph, "qas", place):
                yield _row(question, context, f"{place}qas: ", path)


def _row(question: object, context: str, place: str, path: Path) -> AnswerRow:
    name = _text(question, "id", place)
    where = f"{path}: question '{short(name)}': "
    # Version 2.0 keeps what looks like an answer elsewhere, in plausible_answers.
    answers = _list(question, "answers", where)
    spans = [(_get(answer, "answer_start"), _get(answer, "text")) for answer in answers]
    return AnswerRow(_text(question, "question", where), context, check_answers(context, spans, where), name)


def _get(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, Mapping) else None


def _list(value: object, key: str, place: str) -> list[object]:
    found = _get(value, key)
    if not isinstance(found, list):
        raise InputError(f'{place}has no list "{key}"; expected SQuAD\'s data, paragraphs, qas and answers.')
    return found


def _text(value: object, key: str, place: str) -> str:
    found = _get(value, key)
    if not isinstance(found, str):
        raise InputError(f'{place}has no text "{key}"; expected SQuAD\'s id, question and context.')
    return found


register(Reader("squad", "SQuAD, versions 1.1 and 2.0", (".json",), _read, _TASK, columns=False))
