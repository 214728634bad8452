"""Words that are near a word: by GloVe's vectors (Pennington et al. 2014), or by a model's own token table."""

from __future__ import annotations

import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import InputError, short
from mobilekit.models.model import Model
from mobilekit.reading import read_errors
from mobilekit.text.data.encoding import BOM, not_utf8, require_file
from mobilekit.training.augmentation.words import BYTES_MARK, alphabetic, whole_words, word_mark

# 512 MB of float32: some 447,000 words of 300 numbers.
_MOST_NUMBERS = 2**27
# A line of 300 numbers takes 3 KB; a file without line breaks must not be read whole.
_LONGEST_LINE = 2**20
# Words whose similarities to all others are computed at once.
_BATCH = 16
Vector = NDArray[np.float32]


class Neighbours(Protocol):
    """Where words that are near a word come from."""

    def nearest(self, word: str, count: int) -> list[str]:
        """At most `count` other words, the nearest first; none where nothing is known of the word."""
        ...

    def prepare(self, words: Sequence[str], count: int) -> None:
        """Look up all of these now: many at once are faster than one by one."""
        ...


class VectorNeighbours:
    """Neighbours by cosine similarity.

    names: the words that may be neighbours; vectors: float32 [names, size], one a name, scaled to length 1 in place;
    names whose vector is zero are left out. vector_of: a word -> its vector [size] of any length, None where it has
    none. What has been looked up is kept. Raises InputError when every vector is zero.
    """

    def __init__(self, names: Sequence[str], vectors: Vector, vector_of: Callable[[str], Vector | None]) -> None:
        # Not numpy's norm, which would square a copy of them all.
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        usable = np.isfinite(lengths) & (lengths > 0)
        if not usable.any():
            raise InputError("every word vector is zero.")
        if not usable.all():
            names = [name for name, use in zip(names, usable, strict=True) if use]
            vectors, lengths = vectors[usable], lengths[usable]
        vectors /= lengths[:, None]
        self._names, self._vectors, self._vector_of = list(names), vectors, vector_of
        self._folded = [name.casefold() for name in names]
        self._found: dict[tuple[str, int], list[str]] = {}

    def nearest(self, word: str, count: int) -> list[str]:
        """At most `count` other words, the most similar first; none where the word has no vector."""
        self.prepare([word], count)
        return list(self._found[word, count])

    def prepare(self, words: Sequence[str], count: int) -> None:
        """Look up all of these words at once."""
        new = [word for word in dict.fromkeys(words) if (word, count) not in self._found]
        for start in range(0, len(new), _BATCH):
            batch = new[start : start + _BATCH]
            vectors = {word: self._vector_of(word) for word in batch}
            known = {word: vector for word, vector in vectors.items() if vector is not None}
            self._found |= {(word, count): [] for word in batch}
            if known:
                similar = np.stack(list(known.values())) @ self._vectors.T
                for word, row in zip(known, similar, strict=True):
                    self._found[word, count] = self._best(word, row, count)

    def _best(self, word: str, similarity: Vector, count: int) -> list[str]:
        own = word.casefold()
        # As many more as ways to write the word itself are likely to be there.
        wanted = min(count + 8, len(similarity))
        best = np.argpartition(-similarity, wanted - 1)[:wanted]
        best = best[np.lexsort((best, -similarity[best]))]
        others = [int(i) for i in best if self._folded[i] != own]
        return [self._names[i] for i in others[:count]]


class GloveNeighbours(VectorNeighbours):
    """Neighbours by a GloVe text file: on each line a word and its numbers, separated by spaces.

    Of its words those of letters alone are kept, the first that fit into 512 MB; files begin with the most frequent
    ones, and the rest of the file is not read. A word that is not there as it is written is looked up in lower case.

    Raises InputError, naming file and line, when the file is missing, empty or not UTF-8, when a line has no word,
    no numbers or another count of them than the first line, or when a number is none or not finite.
    """

    def __init__(self, path: Path) -> None:
        names, vectors = _read(path)
        rows = {name: i for i, name in enumerate(names)}

        def vector_of(word: str) -> Vector | None:
            row = rows.get(word, rows.get(word.lower()))
            return None if row is None else vectors[row]

        super().__init__(names, vectors, vector_of)


class TableNeighbours(VectorNeighbours):
    """Neighbours by the rows of a model's token table, among the vocabulary's whole words.

    The vector of a word of several pieces is the mean of its pieces' rows; a word with a piece that the vocabulary
    lacks has none.
    """

    def __init__(self, model: Model) -> None:
        weight = model.module.encoder.embeddings.token.weight
        table: Vector = weight.detach().float().cpu().numpy()
        whole = whole_words(model.tokenizer, len(table))
        special = set(model.tokenizer.special_ids().values())
        # Without it, byte-level pieces are those of a text's first word.
        before = " " if word_mark(model.tokenizer) == BYTES_MARK else ""

        def vector_of(word: str) -> Vector | None:
            encoded = model.tokenizer.encode(before + word)
            pairs = zip(encoded.ids.tolist(), encoded.sequences, strict=True)
            pieces = [token_id for token_id, sequence in pairs if sequence is not None]
            if not pieces or special.intersection(pieces):
                return None
            mean: Vector = table[pieces].mean(0)
            return mean if mean.any() else None

        super().__init__([text for text in whole.texts if text], table[whole.mask], vector_of)


def _read(path: Path) -> tuple[list[str], Vector]:
    names: dict[str, None] = {}
    numbers, size = array.array("f"), 0
    for line, text in _lines(path):
        word, values = _parse(f"{path}:{line}: ", text, size)
        size = len(values)
        # A word that comes again is a rarer way to write the first, and a zero vector is near nothing.
        if alphabetic(word) and word not in names and any(values):
            if len(numbers) + size > _MOST_NUMBERS:
                break
            names[word] = None
            numbers.extend(values)
    if not names:
        raise InputError(f"{path}: has no words of letters; it has to be a text file of GloVe vectors.")
    return list(names), np.frombuffer(numbers, np.float32).reshape(len(names), size)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Number, from 1, and text of each line."""
    require_file(path)
    with read_errors(path), path.open("rb") as file:
        head = file.read(4)
        offset = len(BOM) if head.startswith(BOM) else 0
        file.seek(offset)
        number = 0
        while line := file.readline(_LONGEST_LINE):
            number += 1
            if len(line) == _LONGEST_LINE:
                raise InputError(f"{path}:{number}: has over {_LONGEST_LINE:,} bytes; it is no file of GloVe vectors.")
            try:
                yield number, line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise not_utf8(path, head, number, offset + error.start, line[error.start]) from error
            offset += len(line)


def _parse(where: str, line: str, size: int) -> tuple[str, array.array[float]]:
    """The word and the numbers of a line; size: how many the lines before have, 0 for the first line."""
    # Words hold all kinds of white space, even a plain space: only the last fields are numbers.
    fields = line.rstrip("\r\n ").split(" ")
    texts = fields[-size:] if size and _may_have_spaces(fields[:-size]) else fields[1:]
    if not fields[0] or not texts:
        raise InputError(f"{where}has no word with numbers; a line is a word and its vector, with spaces between.")
    if size and len(texts) != size:
        raise InputError(f"{where}has {len(texts)} numbers, and line 1 has {size}; is the file whole?")
    try:
        values = array.array("f", map(float, texts))
    except ValueError as error:
        bad = next(text for text in texts if not _is_number(text))
        raise InputError(f"{where}'{short(bad)}' is not a number.") from error
    if not np.isfinite(np.frombuffer(values, np.float32)).all():
        bad = next(text for text, value in zip(texts, values, strict=True) if not np.isfinite(value))
        raise InputError(f"{where}'{short(bad)}' is not a finite number of float32.")
    return " ".join(fields[: -len(texts)]), values


def _may_have_spaces(word: Sequence[str]) -> bool:
    """Whether fields are a word with spaces, not one with too many numbers behind it."""
    return len(word) > 1 and not _is_number(word[-1])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
