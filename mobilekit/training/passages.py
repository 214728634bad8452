"""Plain text as inputs of a masked-language model: sentences as they come, chunks of a document, pairs of segments."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, overload

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import InputError
from mobilekit.models.model import Model
from mobilekit.staging import scratch
from mobilekit.text.data.rows import TextRow
from mobilekit.text.tokenizer import EncodedText
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
    of the first ids are never masked: the model's prefix, which says nothing. special: special ids of each."""

    @property
    def lengths(self) -> Sequence[int]:
        """See above."""
        ...

    @property
    def protected(self) -> int:
        """See above."""
        ...

    @property
    def special(self) -> int:
        """See above."""
        ...

    def draw(self, index: int, rng: np.random.Generator) -> Passage:
        """An input; the same for the same state of `rng`."""
        ...


class Texts:
    """Consecutive sentences of a document together, as many as fit in `length` ids; texts that stand alone, alone.

    folder: where ids are kept, in a file that is mapped, for a corpus of any size; None: in memory. A file that is
    there is taken as it is. Raises InputError when nothing is left, or when the disk is full.
    """

    def __init__(self, model: Model, rows: Sequence[TextRow], length: int, folder: Path | None = None) -> None:
        self._model, self._limit = model, min(length, model.tokenizer.max_length)
        self.protected, self.special = prefix_ids(model), len(model.tokenizer.encode("").ids)
        if folder is None:
            encoded = [(each.ids, each.type_ids) for each in self._encoded(rows)]
            self.lengths = [len(ids) for ids, _ in encoded]
            empty = np.zeros(0, np.int32)
            self._ids: NDArray[np.int32] = np.concatenate([empty, *(ids for ids, _ in encoded)])
            self._types: NDArray[np.int32] = np.concatenate([empty, *(types for _, types in encoded)])
        else:
            self._map(rows, folder)
        self._starts = np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)
        if not self.lengths:
            raise InputError("the text is empty: there is nothing to learn from.")

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> Passage:
        place = slice(int(self._starts[index]), int(self._starts[index + 1]))
        return Passage(np.array(self._ids[place]), np.array(self._types[place]))

    def __iter__(self) -> Iterator[Passage]:
        return (self[i] for i in range(len(self)))

    def draw(self, index: int, rng: np.random.Generator) -> Passage:
        """The passage, always the same."""
        return self[index]

    def _encoded(self, rows: Sequence[TextRow]) -> Iterator[EncodedText]:
        tokenizer = self._model.tokenizer
        for chunk in chunks(rows, tokenizer, self._limit - self.protected, False):
            encoded = tokenizer.encode(self._model.prefix + " ".join(chunk.texts), None, self._limit)
            # A text of nothing but special tokens teaches nothing.
            if len(encoded.ids) > self.special + self.protected:
                yield encoded

    def _map(self, rows: Sequence[TextRow], folder: Path) -> None:
        from accelerate import PartialState

        names = [folder / f"text-{part}.i32" for part in ("ids", "types", "lengths")]
        with PartialState().local_main_process_first():
            if not names[-1].is_file():
                self._write(rows, names)
        self.lengths = np.fromfile(names[2], np.int32).tolist()
        if self.lengths:
            self._ids, self._types = (np.memmap(name, np.int32, "r") for name in names[:2])

    def _write(self, rows: Sequence[TextRow], names: Sequence[Path]) -> None:
        with scratch(names[0].parent, "text") as folder:
            beside = [folder / name.name for name in names]
            with contextlib.ExitStack() as stack:
                ids, types, lengths = (stack.enter_context(name.open("wb")) for name in beside)
                for each in self._encoded(rows):
                    # Not `tofile`, which says nothing of a full disk.
                    ids.write(each.ids.tobytes())
                    types.write(each.type_ids.tobytes())
                    lengths.write(np.array([len(each.ids)], np.int32).tobytes())
            # The lengths last: where they are, the others are.
            for own, name in zip(beside, names, strict=True):
                own.replace(name)


class PassageFeatures(Sequence[Features]):
    """Texts as inputs without a target, each made when it is asked for."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, index: int) -> Features: ...
    @overload
    def __getitem__(self, index: slice) -> list[Features]: ...
    def __getitem__(self, index: int | slice) -> Features | list[Features]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self._texts[range(len(self))[index]].features


class SegmentPairs:
    """Two segments for the pair task `task` (nsp, sop), drawn anew each time."""

    def __init__(self, model: Model, rows: Sequence[TextRow], length: int, task: str) -> None:
        if not model.config.reads_token_types:
            raise InputError(f"model {model.name} has no token types, which tell the segments of task {task} apart.")
        self._model, self._task, self.protected = model, task, prefix_ids(model)
        self._limit = min(length, model.tokenizer.max_length)
        self._chunks = chunks(rows, model.tokenizer, self._limit - self.protected, True)
        self.special = sum(sequence is None for sequence in model.tokenizer.encode("a", "a").sequences)
        more = self.special - len(model.tokenizer.encode("").ids)
        self.lengths = [
            len(model.tokenizer.encode(model.prefix + " ".join(each.texts), None, self._limit).ids) + more
            for each in self._chunks
        ]

    def draw(self, index: int, rng: np.random.Generator) -> Passage:
        """A pair out of chunk `index`."""
        pair = draw_pair(self._chunks, index, self._task, rng)
        encoded = self._model.tokenizer.encode(self._model.prefix + pair.first, pair.second, self._limit)
        return Passage(encoded.ids, encoded.type_ids, pair.label)


def passages_for(model: Model, rows: Sequence[TextRow], length: int, task: str = "none") -> Texts | SegmentPairs:
    """Inputs for a pair task, or without one, in memory."""
    return Texts(model, rows, length) if task == "none" else SegmentPairs(model, rows, length, task)


def prefix_ids(model: Model) -> int:
    """How many ids at the beginning the model's prefix takes; 0 where there is none."""
    if not model.prefix:
        return 0
    alone, both = model.tokenizer.encode("a").ids, model.tokenizer.encode(model.prefix + "a").ids
    return len(both) - len(alone)
