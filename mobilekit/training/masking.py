"""Which words of a text a model has to guess: n-grams of whole words, masked, replaced or left.

BERT (Devlin et al. 2019, section 3.1): 15 % of a text are targets; of these 80 % become the mask token, 10 % a random
token, 10 % stay. ALBERT (Lan et al. 2020, section 4.1): targets are n-grams of words, p(n) = (1/n) / sum_{k=1..N} 1/k.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import InputError
from mobilekit.text.tokenizer import TextTokenizer
from mobilekit.training.features import IGNORED

# WordPiece marks what joins the word before; SentencePiece and byte-level BPE mark what begins one.
_JOINS = "##"
_BEGINS = ("▁", "Ġ")


@dataclass(frozen=True)
class Masking:
    """share: of a text's tokens, how many are targets. longest: most words of an n-gram. masked, random: shares of the
    targets that become the mask token, or a random one; the others stay as they are."""

    share: float = 0.15
    longest: int = 3
    masked: float = 0.8
    random: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise InputError(f"share is {self.share}; it is the share of tokens to guess, above 0 up to 1.")
        if self.longest < 1:
            raise InputError(f"longest is {self.longest}; an n-gram has at least 1 word.")
        if not (self.masked >= 0 and self.random >= 0 and self.masked + self.random <= 1):
            raise InputError(
                f"masked is {self.masked} and random is {self.random}; they are shares of the targets, at least 0 and "
                "together at most 1."
            )


DEFAULT_MASKING = Masking()


@dataclass(frozen=True)
class Masked:
    """A text to guess words of. ids: int32 [n], as the model gets them. target: int64 [n], the true id where one is
    asked for, IGNORED elsewhere."""

    ids: NDArray[np.int32]
    target: NDArray[np.int64]


@dataclass(frozen=True)
class _Words:
    """starts, ends: first position of each word and the one after its last. room: how many words an n-gram that begins
    there may have. int64 [words]."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    room: NDArray[np.int64]


class Masker:
    """Masks texts of one tokenizer. It reads the whole vocabulary once: make one and keep it.

    vocab_size: ids that the model has an embedding for; random tokens are among them. What is drawn is a function of
    the ids and of the state of `rng` alone.

    Raises InputError when the tokenizer has no mask token, when the model has no embedding for it, and when there are
    no tokens but special ones.
    """

    def __init__(self, tokenizer: TextTokenizer, vocab_size: int, masking: Masking = DEFAULT_MASKING) -> None:
        mask_id = tokenizer.mask_id
        if mask_id is None:
            raise InputError("the tokenizer has no mask token ([MASK] or <mask>); take a model that has one.")
        if mask_id >= vocab_size:
            raise InputError(
                f"the mask token's id is {mask_id}; the model has embeddings for ids below {vocab_size} only."
            )
        tokens = [tokenizer.token_of(i) if tokenizer.has(i) else None for i in range(tokenizer.largest_id + 1)]
        self.masking = masking
        self._mask_id = mask_id
        self._special = np.zeros(len(tokens), np.bool_)
        self._special[list(tokenizer.special_ids().values())] = True
        self._begins = _word_starts(tokens)
        ordinary = np.array([token is not None for token in tokens], np.bool_) & ~self._special
        self._ordinary = np.flatnonzero(ordinary[:vocab_size]).astype(np.int32)
        if not len(self._ordinary):
            raise InputError("the tokenizer has special tokens only; there are no words to guess.")
        chances = 1 / np.arange(1, masking.longest + 1)
        # Without the last one, which may fall short of 1 by a rounding.
        self._below: list[float] = (np.cumsum(chances) / chances.sum())[:-1].tolist()

    def budget(self, ids: NDArray[np.int32]) -> int:
        """How many targets `mask` aims at, known without drawing: the share of all tokens but special ones, at least
        1; 0 where all are special."""
        maskable = int(len(ids) - self._special[ids].sum())
        return max(1, round(self.masking.share * maskable)) if maskable else 0

    def words(self, ids: NDArray[np.int32]) -> list[tuple[int, int]]:
        """Each word as (first position, the one after its last); special tokens belong to none.

        A `##` piece joins the word before it. Where words begin with a mark (`▁`, `Ġ`), pieces without one join the
        word before. What follows a special token begins a word in any case.
        """
        found = self._words(ids)
        return list(zip(found.starts.tolist(), found.ends.tolist(), strict=True))

    def draw(self, ids: NDArray[np.int32], rng: np.random.Generator) -> list[tuple[int, int]]:
        """The n-grams to guess, each as (first position, the one after its last), in the order drawn.

        First n is drawn, then one of all places where n words are still free and the budget allows their tokens; with
        n first, words already taken do not make long n-grams rarer. Where no such place is left, n is lowered, as
        ALBERT's reference does; so words that the rest of the budget does not hold are left out, and a text may have
        somewhat fewer targets than its budget. One that has words always has a target: where each alone is longer than
        the budget, a word is drawn and taken whole. Half of it would be a riddle that whole words are there to avoid,
        and none a text to no purpose.
        """
        found, left = self._words(ids), self.budget(ids)
        room = found.room.copy()
        grams: list[tuple[int, int]] = []
        while left > 0:
            place = self._place(found, room, left, rng)
            if place is None:
                break
            first, count = place
            gram = int(found.starts[first]), int(found.ends[first + count - 1])
            grams.append(gram)
            left -= gram[1] - gram[0]
            self._take(room, first, count)
        if not grams and len(room):
            word = int(rng.integers(len(room)))
            grams.append((int(found.starts[word]), int(found.ends[word])))
        return grams

    def mask(self, ids: NDArray[np.int32], rng: np.random.Generator) -> Masked:
        """A text with its targets drawn. ids: int32 [n], of the tokenizer, special tokens included; left as it is.

        Whether a target is masked, replaced or kept is drawn token by token, as BERT's and ALBERT's references do; a
        random token may be the true one. Special tokens are never asked for and never put in.
        """
        grams = self.draw(ids, rng)
        chosen = np.concatenate([np.arange(0), *(np.arange(start, end) for start, end in grams)])
        true = ids[chosen]
        kind = rng.random(len(chosen))
        replaced = self._ordinary[rng.integers(len(self._ordinary), size=len(chosen))]
        # Where not replaced, the true ones.
        shown = np.where(kind < self.masking.masked + self.masking.random, replaced, true)
        shown[kind < self.masking.masked] = self._mask_id
        out, target = ids.astype(np.int32), np.full(len(ids), IGNORED, np.int64)
        out[chosen], target[chosen] = shown, true
        return Masked(out, target)

    def _words(self, ids: NDArray[np.int32]) -> _Words:
        special = self._special[ids]
        after_special = np.concatenate([[True], special])[:-1]
        begins = ~special & (self._begins[ids] | after_special)
        starts = np.flatnonzero(begins)
        stops = np.append(np.flatnonzero(begins | special), len(ids))
        ends = stops[np.searchsorted(stops, starts, side="right")]
        segments = np.cumsum(special)[starts]
        ahead = np.searchsorted(segments, segments, side="right") - np.arange(len(starts))
        return _Words(starts, ends, np.minimum(ahead, self.masking.longest))

    def _place(
        self, found: _Words, room: NDArray[np.int64], left: int, rng: np.random.Generator
    ) -> tuple[int, int] | None:
        """First word and number of words of the next n-gram, or None where not one word fits any more."""
        drawn = 1 + bisect.bisect_right(self._below, rng.random())
        for count in range(min(drawn, len(room)), 0, -1):
            tokens = found.ends[count - 1 :] - found.starts[: len(room) - count + 1]
            places = np.flatnonzero((room[: len(tokens)] >= count) & (tokens <= left))
            if len(places):
                return int(places[rng.integers(len(places))]), count
        return None

    def _take(self, room: NDArray[np.int64], first: int, count: int) -> None:
        """Note that words are taken: those before have room up to them only."""
        room[first : first + count] = 0
        start = max(0, first - self.masking.longest + 1)
        room[start:first] = np.minimum(room[start:first], np.arange(first - start, 0, -1))


def _word_starts(tokens: Sequence[str | None]) -> NDArray[np.bool_]:
    """Whether each token of a vocabulary begins a word in the middle of a text, [ids].

    The way of marking is the one that most tokens have: `##` and `Ġ` may well be tokens of other vocabularies. Where
    there is none, each token is a word.
    """
    begun = {
        sign: np.array([token is not None and token.startswith(sign) for token in tokens], np.bool_)
        for sign in (_JOINS, *_BEGINS)
    }
    sign = max(begun, key=lambda each: int(begun[each].sum()))
    if not begun[sign].any() or sign == _JOINS:
        return ~begun[sign]
    return begun[sign]
