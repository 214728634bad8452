"""The texts that come as they come: of the data, or some of our own."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from benchmarks.measuring.service import Ids
from mobilekit.errors import InputError
from mobilekit.text.calibration import TEXTS
from mobilekit.text.data.judging import sample_rows
from mobilekit.text.data.rows import AnswerRow, TextData, TextRow, text_of
from mobilekit.text.tokenizer import TextTokenizer

# Short and long ones enough for a mean, few enough that a round of them stays short.
COUNT = 24
_QUESTION = "What is it about?"
_ASKING, _FILLING = "question-answering", "fill-mask"


@dataclass(frozen=True)
class Texts:
    """Texts with their pairs. name: where they come from."""

    name: str
    items: tuple[tuple[str, str | None], ...]

    def to_dict(self) -> dict[str, Any]:
        """As a report has them: no text."""
        lines = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in self.items)
        return {"name": self.name, "sha256": hashlib.sha256(lines.encode()).hexdigest(), "count": len(self.items)}


def texts_for(task: str, data: TextData | None, mask: str | None) -> Texts:
    """Texts that a task reads: a spread sample of the data, else built-in ones. mask: the mask token of fill-mask."""
    if data is None:
        found: list[tuple[str, str | None]] = [(text, None) for text in TEXTS[:COUNT]]
        name = "built-in"
    else:
        rows = sample_rows(data.rows, COUNT)
        found = [
            (row.question, row.context) if isinstance(row, AnswerRow) else (text_of(row), _pair(row)) for row in rows
        ]
        name = data.name
    if task == _ASKING:
        found = [(text, pair) if pair is not None else (_QUESTION, text) for text, pair in found]
    elif task != "sequence-classification":
        found = [(text, None) for text, _ in found]
    if task == _FILLING:
        # One, and in front: a mask further back may be cut off, and each takes a run of its own.
        found = [(f"{mask} {text.replace(mask or '', '')}", None) for text, _ in found]
    return Texts(name, tuple(found))


def reading(task: str, mask: str | None) -> tuple[str, str | None]:
    """What has to be the same where artifacts read the same texts: pairs, or the mask token."""
    return ("" if task not in (_ASKING, _FILLING) else task), (mask if task == _FILLING else None)


def rows_of(texts: Texts, tokenizer: TextTokenizer, prefix: str, longest: int, task: str) -> list[tuple[Ids, Ids]]:
    """The texts as tokens and token types, int32 [n] each, cut to the longest length. Raises InputError for none."""
    cut = "only_second" if task == _ASKING else "longest_first"
    encoded = [tokenizer.encode(prefix + text, pair, longest, cut) for text, pair in texts.items]
    if not encoded:
        raise InputError(f"{texts.name}: has no texts to measure with.")
    return [(each.ids, each.type_ids) for each in encoded]


def _pair(row: object) -> str | None:
    return row.pair if isinstance(row, TextRow) else None
