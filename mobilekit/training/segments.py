"""Pairs of segments of running text, and whether they belong together: next sentence and sentence order prediction."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import InputError, unknown
from mobilekit.text.data.rows import TextRow
from mobilekit.text.tokenizer import TextTokenizer
from mobilekit.training.lengths import special_ids

PAIR_TASKS = ("none", "nsp", "sop")
# Most draws find a chunk of another document at once; after so many, all are looked through.
_TRIES = 10


@dataclass(frozen=True)
class Chunk:
    """Consecutive sentences of one document that fit together. document: as in their rows, None where a row has
    none."""

    texts: tuple[str, ...]
    document: int | None


@dataclass(frozen=True)
class PairDraw:
    """Two segments. label: 0 where the second is what follows the first, else 1."""

    first: str
    second: str
    label: int


class Chunks(Sequence[Chunk]):
    """Chunks of rows that stay where they are until one is asked for. spans: int64 [chunks, 2], first row of each and
    the one after its last."""

    def __init__(self, rows: Sequence[TextRow], spans: NDArray[np.int64]) -> None:
        self._rows, self._spans = rows, spans

    def __len__(self) -> int:
        return len(self._spans)

    @overload
    def __getitem__(self, index: int) -> Chunk: ...
    @overload
    def __getitem__(self, index: slice) -> list[Chunk]: ...
    def __getitem__(self, index: int | slice) -> Chunk | list[Chunk]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        start, stop = (int(place) for place in self._spans[index])
        rows = [row for row in (self._rows[i] for i in range(start, stop)) if row.text.strip()]
        return Chunk(tuple(row.text for row in rows), rows[0].document)


def chunks(
    rows: Sequence[TextRow], tokenizer: TextTokenizer, max_length: int, pairs: bool, name: str = "the text"
) -> Chunks:
    """Pack consecutive sentences of a document, as many as fit, in their order.

    max_length: the most ids of a chunk that is encoded as a pair, special tokens included, wherever it is split; the
    tokenizer's own limit holds, too. (Chunks are the same with and without `pairs`, so that what is learnt from either
    can be compared.) A sentence that is longer is a chunk alone, to be cut when it is encoded. Rows without a document
    are chunks of their own; blank ones are left out. pairs: keep only chunks of two sentences or more. name: what
    messages call the text.

    Raises InputError when a row is a pair of texts already, and when pairs are asked for and no chunk has two
    sentences.
    """
    limit = min(max_length, tokenizer.max_length)
    packed = _packed(rows, tokenizer, limit)
    spans = np.array([(start, stop) for start, stop, count in packed if not pairs or count > 1], np.int64)
    if pairs and not len(spans):
        raise InputError(
            f"{name}: no two consecutive sentences fit into {limit} ids; pairs of segments need running text, such as "
            "a .txt file with a sentence a line and blank lines between documents, or `editorials`."
        )
    return Chunks(rows, spans.reshape(-1, 2))


def _packed(rows: Sequence[TextRow], tokenizer: TextTokenizer, limit: int) -> Iterator[tuple[int, int, int]]:
    """First row, the one after the last, and how many sentences are in between."""
    room = limit - special_ids(tokenizer, pair=True)
    start, count, used, document = 0, 0, 0, None
    for i, row in enumerate(rows):
        if row.pair is not None:
            raise InputError(f"{row.text[:40]!r} has a second text; pre-training takes plain text, one text a row.")
        if not row.text.strip():
            continue
        size = _size(tokenizer, row.text)
        if count and (row.document is None or row.document != document or used + size > room):
            yield start, i, count
            count, used = 0, 0
        start = start if count else i
        document, used, count = row.document, used + size, count + 1
    if count:
        yield start, len(rows), count


def _size(tokenizer: TextTokenizer, text: str) -> int:
    """The most ids that a sentence takes, at the start of a segment or behind a space (the same for WordPiece)."""
    return max(
        sum(sequence is not None for sequence in tokenizer.encode(each, None, sys.maxsize).sequences)
        for each in (text, f" {text}")
    )


def draw_pair(chunks: Sequence[Chunk], index: int, task: str, rng: np.random.Generator) -> PairDraw:
    """Split chunk `index` at a random sentence boundary into two segments, and spoil every second pair.

    task: `sop` (ALBERT; Lan et al. 2020, section 3.1): label 1 is the same segments in the wrong order. `nsp` (BERT;
    Devlin et al. 2019, section 3.1): label 1 is a second segment of another document, that of a random chunk of any
    other; the two may be too long together, and are cut when encoded. Sentences are joined with a space.

    Raises InputError when the chunk has one sentence, when `nsp` finds a single document, and for another task.
    """
    if task not in PAIR_TASKS[1:]:
        raise unknown("pair task", task, PAIR_TASKS[1:])
    first, second = _split(chunks[index], rng)
    spoilt = bool(rng.random() < 0.5)
    if task == "sop":
        return PairDraw(second, first, 1) if spoilt else PairDraw(first, second, 0)
    # Drawn for every pair, so that data of one document fail at the first one and not at the first spoilt one.
    _, other = _split(_of_another_document(chunks, chunks[index].document, rng), rng)
    return PairDraw(first, other if spoilt else second, int(spoilt))


def _split(chunk: Chunk, rng: np.random.Generator) -> tuple[str, str]:
    if len(chunk.texts) < 2:
        raise InputError(f"{chunk.texts[0][:40]!r} is one sentence; a pair of segments needs two.")
    boundary = int(rng.integers(1, len(chunk.texts)))
    return " ".join(chunk.texts[:boundary]), " ".join(chunk.texts[boundary:])


def _of_another_document(chunks: Sequence[Chunk], document: int | None, rng: np.random.Generator) -> Chunk:
    for _ in range(_TRIES):
        drawn = chunks[int(rng.integers(len(chunks)))]
        if drawn.document != document:
            return drawn
    others = [chunk for chunk in chunks if chunk.document != document]
    if not others:
        raise single_document("the text")
    return others[int(rng.integers(len(others)))]


def single_document(name: str) -> InputError:
    """The error of a text that nsp has no second segments for."""
    return InputError(
        f"{name} is a single document: nsp takes second segments from another one; put blank lines between "
        "documents, or take sop."
    )
