"""New rows by words that fit: TinyBERT's data augmentation (Jiao et al. 2020, section 3.3 and algorithm 1)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mobilekit.errors import InputError
from mobilekit.models.model import Model
from mobilekit.text.data.rows import TextRow
from mobilekit.text.tokenizer import EncodedText
from mobilekit.training.augmentation.neighbours import Neighbours
from mobilekit.training.augmentation.words import Word, whole_words, words_of
from mobilekit.training.features import Features, collate

# Rows whose candidates are held at a time, and between two reports.
_CHUNK = 512
# Inputs that go through the encoder at once, and logits that are held at once (64 MB).
_BATCH, _LOGITS = 64, 2**24
# A text's words that may be replaced, each with what may replace it.
Choices = list[tuple[Word, list[str]]]


@dataclass(frozen=True)
class Augmentation:
    """How text is augmented; the defaults are the paper's.

    copies: new sentences from each one, N_a. probability: of each word to be replaced, p_t. candidates: words that may
    replace it, K. at_once: share of a sentence's single-piece words that are masked in one pass, spread over it; 0 is
    one word at a time, as in the paper: more need fewer passes, and each sees less of its sentence.
    """

    copies: int = 20
    probability: float = 0.4
    candidates: int = 15
    at_once: float = 0.15

    def __post_init__(self) -> None:
        for name in ("copies", "candidates"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; it has to be at least 1.")
        for name in ("probability", "at_once"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} is {getattr(self, name)}; it is a share, 0 to 1.")


def augment(
    rows: Sequence[TextRow],
    words: Model,
    neighbours: Neighbours,
    augmentation: Augmentation,
    length: int,
    seed: int,
    report: Callable[[str], None],
    half: bool = False,
) -> list[TextRow]:
    """New rows made of `rows`, which are not among them; the same for the same arguments.

    Each word is kept, or with `augmentation.probability` replaced by one of its candidates, all equally likely. The
    candidates are the words that `words`, a fill-mask model, finds most likely at a word's place when it is masked,
    where the word is a single piece; else its `neighbours`. Both texts of a pair are augmented, each on its own. What
    stands between words stays; so do words that no alphabetic word can replace (`find_words`), and those behind the
    first `length` ids. A new word has the old one's capital.

    Label is kept; id gets a suffix `+N`; document is None. Of a row's copies those are left out that are equal to it
    or to one another, so there may be fewer than `augmentation.copies`. seed: from 0. report: gets a line every 512
    rows. half: whether `words` computes in bf16.

    Raises InputError when `words` is no fill-mask model or its tokenizer has no mask token or no whole words.
    """
    mask_id = require_mask(words)
    made: list[TextRow] = []
    done, total = 0, sum(len(_texts(row)) for row in rows)
    was_training = words.module.training
    words.module.eval()
    try:
        finder = _Finder(words, mask_id, neighbours, augmentation, length, half)
        for start in range(0, len(rows), _CHUNK):
            chunk = rows[start : start + _CHUNK]
            found = finder.choices(list(dict.fromkeys(text for row in chunk for text in _texts(row))))
            for index, row in enumerate(chunk, start):
                # A generator a row: what a row becomes depends on no other row.
                made += _copies(row, found, augmentation, np.random.default_rng([seed, index]))
            done += sum(len(_texts(row)) for row in chunk)
            report(f"augmenting: {done:,} of {total:,} sentences")
    finally:
        words.module.train(was_training)
    return made


def require_mask(words: Model) -> int:
    """The id of the mask token; raises InputError for a model that does not say what words fit."""
    if words.head.task != "fill-mask":
        raise InputError(f"{words.name}: its head is of {words.head.task}; augmentation needs a fill-mask model.")
    if words.tokenizer.mask_id is None:
        raise InputError(f"{words.name}: its tokenizer has no mask token, which augmentation needs.")
    return words.tokenizer.mask_id


def _texts(row: TextRow) -> tuple[str, ...]:
    return (row.text,) if row.pair is None else (row.text, row.pair)


def _copies(
    row: TextRow, found: Mapping[str, Choices], augmentation: Augmentation, rng: np.random.Generator
) -> Iterator[TextRow]:
    sides = [list(_replaced(text, found[text], augmentation, rng)) for text in _texts(row)]
    seen = {_texts(row)}
    for texts in zip(*sides, strict=True):
        if texts not in seen:
            seen.add(texts)
            pair = texts[1] if len(texts) == 2 else None
            yield replace(row, text=texts[0], pair=pair, id=f"{row.id}+{len(seen) - 1}", document=None)


def _replaced(text: str, choices: Choices, augmentation: Augmentation, rng: np.random.Generator) -> Iterator[str]:
    shape = (augmentation.copies, len(choices))
    replaces = rng.random(shape) < augmentation.probability
    picks = (rng.random(shape) * [len(candidates) for _, candidates in choices]).astype(np.int64)
    for replace_each, pick_each in zip(replaces, picks, strict=True):
        parts, end = [], 0
        for (word, candidates), replaces_it, pick in zip(choices, replace_each, pick_each, strict=True):
            if replaces_it:
                parts += [text[end : word.start], candidates[pick]]
                end = word.end
        yield "".join([*parts, text[end:]])


@dataclass(frozen=True)
class _Masked:
    """One input with some words masked. places: positions of the masks in it; slots: (text, word) that each is of."""

    features: Features
    places: tuple[int, ...]
    slots: tuple[tuple[int, int], ...]


class _Finder:
    """Finds what may replace each word of a text."""

    def __init__(
        self, words: Model, mask_id: int, neighbours: Neighbours, augmentation: Augmentation, length: int, half: bool
    ) -> None:
        self._model, self._mask_id, self._half = words, mask_id, half
        self._neighbours, self._augmentation = neighbours, augmentation
        self._length = min(length, words.tokenizer.max_length)
        self._whole = whole_words(words.tokenizer, words.config.vocab_size)
        self._ids = np.flatnonzero(self._whole.mask)
        self._device = next(words.module.parameters()).device

    def choices(self, texts: Sequence[str]) -> dict[str, Choices]:
        """Words and their candidates by text; words without candidates are left out."""
        count = self._augmentation.candidates
        encoded = [self._model.tokenizer.encode(self._model.prefix + text, None, self._length) for text in texts]
        words = [
            words_of(text, each, self._model.prefix, self._whole) for text, each in zip(texts, encoded, strict=True)
        ]
        likely = self._likely(encoded, words)
        several = [word.text for own in words for word in own if word.pieces and not word.single]
        self._neighbours.prepare(list(dict.fromkeys(several)), count)
        found: dict[str, Choices] = {}
        for i, text in enumerate(texts):
            found[text] = []
            for j, word in enumerate(words[i]):
                names = likely.get((i, j), [])
                if word.pieces and not word.single:
                    names = self._neighbours.nearest(word.text, count)
                if fitting := _fitting(names, word.text, count):
                    found[text].append((word, fitting))
        return found

    def _likely(
        self, encoded: Sequence[EncodedText], words: Sequence[Sequence[Word]]
    ) -> dict[tuple[int, int], list[str]]:
        """Candidates of each single-piece word by (text, word), the most likely first, some more than are wanted."""
        inputs = [masked for i, each in enumerate(encoded) for masked in self._masked(i, each, words[i])]
        # Inputs of about one length together have little padding.
        inputs.sort(key=lambda masked: -len(masked.features.ids))
        likely: dict[tuple[int, int], list[str]] = {}
        for start in range(0, len(inputs), _BATCH):
            batch = inputs[start : start + _BATCH]
            slots = itertools.chain.from_iterable(masked.slots for masked in batch)
            for (i, j), best in zip(slots, self._best(batch), strict=True):
                # Its own piece may be written otherwise than the word ("cafe" for "café").
                own = encoded[i].ids[words[i][j].pieces[0]]
                likely[i, j] = [self._whole.texts[k] for k in best if k != own]
        return likely

    def _masked(self, index: int, encoded: EncodedText, words: Sequence[Word]) -> Iterator[_Masked]:
        singles = [j for j, word in enumerate(words) if word.single]
        at_once = max(1, int(len(singles) * self._augmentation.at_once + 1e-9))
        passes = -(-len(singles) // at_once)
        for first in range(passes):
            own = singles[first::passes]
            ids = encoded.ids.copy()
            places = tuple(words[j].pieces[0] for j in own)
            ids[list(places)] = self._mask_id
            features = Features(ids, encoded.type_ids, np.array(0))
            yield _Masked(features, places, tuple((index, j) for j in own))

    @torch.no_grad()
    def _best(self, batch: Sequence[_Masked]) -> list[list[int]]:
        """The most likely whole words' ids at each mask, in the order of `batch` and its places."""
        inputs = collate([masked.features for masked in batch], self._model.config)
        inputs.pop("target")
        inputs = {name: values.to(self._device) for name, values in inputs.items()}
        rows = [row for row, masked in enumerate(batch) for _ in masked.places]
        places = [place for masked in batch for place in masked.places]
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._half):
            wanted = self._model.module.encoder(**inputs).last[rows, places]
            # All rows at once would be gigabytes of logits where the vocabulary is large.
            parts = wanted.split(max(1, _LOGITS // self._model.config.vocab_size))
            return [ids for part in parts for ids in self._ranked(part).tolist()]

    def _ranked(self, states: Tensor) -> NDArray[np.int64]:
        logits = self._model.module.head(states, torch.ones(states.shape[:1], device=self._device))
        # Spare ones: the word itself and other ways to write the same word are left out later.
        count = min(2 * self._augmentation.candidates + 8, len(self._ids))
        best = logits[:, torch.from_numpy(self._ids).to(self._device)].topk(count).indices
        return self._ids[best.cpu().numpy()]


def _fitting(names: Sequence[str], word: str, count: int) -> list[str]:
    """The first `count` names that are not the word, each once, with capitals as the word has them."""
    fitting: dict[str, None] = {}
    for name in names:
        if name.casefold() != word.casefold() and len(fitting) < count:
            fitting[_like(name, word)] = None
    return list(fitting)


def _like(name: str, word: str) -> str:
    if word.isupper() and len(word) > 1:
        return name.upper()
    return name[0].upper() + name[1:] if word[0].isupper() else name
