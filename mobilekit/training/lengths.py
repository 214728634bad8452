"""Room for text in inputs of a length, beside special tokens and a model's prefix: what is asked before any work."""

from __future__ import annotations

from collections.abc import Sequence

from mobilekit.errors import InputError, short
from mobilekit.models.model import Model
from mobilekit.text.data.rows import AnswerRow, TextData, TextRow
from mobilekit.text.tokenizer import TextTokenizer


def prefix_ids(model: Model) -> int:
    """How many ids at the beginning the model's prefix takes; 0 where there is none."""
    if not model.prefix:
        return 0
    alone, both = model.tokenizer.encode("a").ids, model.tokenizer.encode(model.prefix + "a").ids
    return len(both) - len(alone)


def special_ids(tokenizer: TextTokenizer, pair: bool = False) -> int:
    """How many special ids an input has."""
    return sum(sequence is None for sequence in tokenizer.encode("a", "a" if pair else None).sequences)


def require_room(model: Model, length: int, pair: bool = False) -> None:
    """Raise InputError when inputs of at most `length` ids have no room for an id of each text."""
    taken, limit = special_ids(model.tokenizer, pair) + prefix_ids(model), min(length, model.tokenizer.max_length)
    least = taken + (2 if pair else 1)
    if limit < least:
        beside = f"{taken} ids that are special" + (" or the model's prefix" if model.prefix else "")
        raise InputError(f"length is {limit}; {beside} leave no room for text: give --length {least} or more.")


def require_room_for(model: Model, data: Sequence[TextData | None], length: int) -> None:
    """The same for each of these data; questions, which are never cut, have to leave room for their context."""
    limit = min(length, model.tokenizer.max_length)
    for each in data:
        first = next(iter(each.rows), None) if each is not None else None
        if each is None or first is None:
            continue
        require_room(model, length, isinstance(first, AnswerRow) or (isinstance(first, TextRow) and bool(first.pair)))
        if not isinstance(first, AnswerRow):
            continue
        more = special_ids(model.tokenizer, pair=True) - special_ids(model.tokenizer)
        for row in each.rows:
            assert isinstance(row, AnswerRow)
            taken = len(model.tokenizer.encode(model.prefix + row.question, None, 2**20).ids) + more
            if taken >= limit:
                raise InputError(
                    f"{each.name}: question '{short(row.question, 40)}' takes {taken} of {limit} ids with the special "
                    f"ones (model {model.name}), which leaves no room for its context; shorten it, or give a larger "
                    "--length."
                )
