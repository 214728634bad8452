"""Plain text as inputs of a masked-language model: sentences as they come, chunks of a document, pairs of segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import InputError
from mobilekit.models.model import Model
from mobilekit.text.data.rows import TextRow
from mobilekit.training.features import Features
from mobilekit.training.segments import chunks, draw_pair


@dataclass(frozen=True)
class Passage:
    """One input. ids, types: int32 [n]. pair: the answer of the pair task, None where there is none."""

    ids: NDArray[np.int32]
    types: NDArray[np.int32]
    pair: int | None = None

    @property
    def features(self) -> Features:
        """As an input without a target."""
        return Features(self.ids, self.types, np.zeros((), np.int64))


class Passages(Protocol):
    """Inputs by index. lengths: ids of each, or about as many where they are drawn anew each time. protected: how many
    of the first ids are never masked: the model's prefix, which says nothing."""

    @property
    def lengths(self) -> Sequence[int]:
        """See above."""
        ...

    @property
    def protected(self) -> int:
        """See above."""
        ...

    def draw(self, index: int, rng: np.random.Generator) -> Passage:
        """An input; the same for the same state of `rng`."""
        ...


class Texts:
    """Consecutive sentences of a document together, as many as fit in `length` ids; texts that stand alone, alone.

    Raises InputError when nothing is left.
    """

    def __init__(self, model: Model, rows: Sequence[TextRow], length: int) -> None:
        limit = min(length, model.tokenizer.max_length)
        self.protected = prefix_ids(model)
        texts = [" ".join(each.texts) for each in chunks(rows, model.tokenizer, limit - self.protected, False)]
        encoded = [model.tokenizer.encode(model.prefix + text, None, limit) for text in texts]
        special = len(model.tokenizer.encode("").ids)
        # A text of nothing but special tokens teaches nothing.
        self.passages = [Passage(e.ids, e.type_ids) for e in encoded if len(e.ids) > special + self.protected]
        self.lengths = [len(each.ids) for each in self.passages]
        if not self.passages:
            raise InputError("the text is empty: there is nothing to learn from.")

    def draw(self, index: int, rng: np.random.Generator) -> Passage:
        """The passage, always the same."""
        return self.passages[index]


class SegmentPairs:
    """Two segments for the pair task `task` (nsp, sop), drawn anew each time."""

    def __init__(self, model: Model, rows: Sequence[TextRow], length: int, task: str) -> None:
        if not model.config.reads_token_types and task != "none":
            raise InputError(f"model {model.name} has no token types, which tell the segments of task {task} apart.")
        self._model, self._task, self.protected = model, task, prefix_ids(model)
        self._limit = min(length, model.tokenizer.max_length)
        self._chunks = chunks(rows, model.tokenizer, self._limit - self.protected, True)
        self.lengths = [
            len(model.tokenizer.encode(model.prefix + " ".join(each.texts), None, self._limit).ids) + 1
            for each in self._chunks
        ]

    def draw(self, index: int, rng: np.random.Generator) -> Passage:
        """A pair out of chunk `index`."""
        pair = draw_pair(self._chunks, index, self._task, rng)
        encoded = self._model.tokenizer.encode(self._model.prefix + pair.first, pair.second, self._limit)
        return Passage(encoded.ids, encoded.type_ids, pair.label)


def passages_for(model: Model, rows: Sequence[TextRow], length: int, task: str = "none") -> Texts | SegmentPairs:
    """Inputs for a pair task, or without one."""
    return Texts(model, rows, length) if task == "none" else SegmentPairs(model, rows, length, task)


def prefix_ids(model: Model) -> int:
    """How many ids at the beginning the model's prefix takes; 0 where there is none."""
    if not model.prefix:
        return 0
    alone, both = model.tokenizer.encode("a").ids, model.tokenizer.encode(model.prefix + "a").ids
    return len(both) - len(alone)
