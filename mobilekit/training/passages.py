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
from mobilekit.training.lengths import prefix_ids, require_room, special_ids
from mobilekit.training.segments import chunks, draw_pair, single_document


@dataclass(frozen=True)
class Passage:
    """One input. ids, types: int32 [n]. pair: the answer of the pair task, None where there is none; segments: int8 [n]
    then, 0 and 1, or -1 for special tokens (types do not tell: many tokenizers give 0 to both segments)."""

    ids: NDArray[np.int32]
    types: NDArray[np.int32]
    pair: int | None = None
    segments: NDArray[np.int8] | None = None

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
    there is taken as it is. name: what messages call the text. Raises InputError when nothing is left, when `length`
    leaves no room for text, and when the disk is full.
    """

    def __init__(
        self, model: Model, rows: Sequence[TextRow], length: int, folder: Path | None = None, name: str = "the text"
    ) -> None:
        require_room(model, length)
        self._model, self._limit = model, min(length, model.tokenizer.max_length)
        self.protected, self.special = prefix_ids(model), special_ids(model.tokenizer)
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
            raise InputError(f"{name} is empty: there is nothing to learn from.")

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

    def __init__(self, model: Model, rows: Sequence[TextRow], length: int, task: str, name: str = "the text") -> None:
        if not model.config.reads_token_types:
            raise InputError(f"model {model.name} has no token types, which tell the segments of task {task} apart.")
        require_room(model, length, pair=True)
        self._model, self._task, self.protected = model, task, prefix_ids(model)
        self._limit = min(length, model.tokenizer.max_length)
        self._chunks = chunks(rows, model.tokenizer, self._limit - self.protected, True, name)
        self.special = special_ids(model.tokenizer, pair=True)
        more = self.special - special_ids(model.tokenizer)
        self.lengths, documents = [], set()
        for each in self._chunks:
            encoded = model.tokenizer.encode(model.prefix + " ".join(each.texts), None, self._limit)
            self.lengths.append(len(encoded.ids) + more)
            documents.add(each.document)
        if task == "nsp" and len(documents) < 2:
            raise single_document(name)

    def draw(self, index: int, rng: np.random.Generator) -> Passage:
        """A pair out of chunk `index`."""
        pair = draw_pair(self._chunks, index, self._task, rng)
        encoded = self._model.tokenizer.encode(self._model.prefix + pair.first, pair.second, self._limit)
        segments = np.array([-1 if sequence is None else sequence for sequence in encoded.sequences], np.int8)
        return Passage(encoded.ids, encoded.type_ids, pair.label, segments)


def passages_for(
    model: Model, rows: Sequence[TextRow], length: int, task: str = "none", name: str = "the text"
) -> Texts | SegmentPairs:
    """Inputs for a pair task, or without one, in memory. name: what messages call the text."""
    if task == "none":
        return Texts(model, rows, length, name=name)
    return SegmentPairs(model, rows, length, task, name)
