"""Entities out of labels of tokens: words first, then words of one entity together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mobilekit.decoding.item import Item, softmax
from mobilekit.text.tokenizer import EncodedText

_OUTSIDE = "O"
# Inside of an entity; the first of one; its last; one on its own (BIO, BIOES and BILOU write them so).
_PREFIXES = ("B", "I", "E", "L", "S", "U")
_BEGINS, _ENDS = ("B", "S", "U"), ("E", "L", "S", "U")


@dataclass(frozen=True)
class _Word:
    """A word: its label, the score of that, and its place in the text."""

    prefix: str
    kind: str
    score: float
    start: int
    end: int


def decode_entities(
    logits: NDArray[np.floating], labels: Sequence[str], encoded: EncodedText, text: str, shift: int
) -> tuple[Item, ...]:
    """Entities in the order of the text; logits [tokens, labels].

    A word has the label of its first token, so that no entity ends inside a word. Labels with prefixes (B-, I-, ...)
    and plain ones beside "O" are merged over neighbouring words; a label set without "O" (parts of speech) labels each
    word for itself. An entity's score is the mean of its words'. shift: characters put before the text.
    """
    words = _words(logits, labels, encoded, text, shift)
    if _OUTSIDE not in labels and not _prefixed(labels):
        return tuple(Item(w.kind, w.score, text[w.start : w.end], w.start, w.end) for w in words)
    entities: list[list[_Word]] = []
    before: _Word | None = None
    for word in words:
        if word.kind != _OUTSIDE:
            if before is not None and _joins(before, word):
                entities[-1].append(word)
            else:
                entities.append([word])
        before = word
    return tuple(_entity(found, text) for found in entities)


def _words(
    logits: NDArray[np.floating], labels: Sequence[str], encoded: EncodedText, text: str, shift: int
) -> list[_Word]:
    shares, prefixed = softmax(logits), _prefixed(labels)
    words: list[_Word] = []
    last: int | None = None
    for i, (word, (start, end)) in enumerate(zip(encoded.words, encoded.offsets, strict=True)):
        # Neither special tokens, nor a prompt that was put before the text, nor white space, a word to some tokenizers.
        inside = word is not None and encoded.sequences[i] == 0 and start >= shift
        if not inside or (word != last and not text[start - shift : end - shift].strip()):
            continue
        if word == last:
            words[-1] = _Word(words[-1].prefix, words[-1].kind, words[-1].score, words[-1].start, end - shift)
            continue
        best = int(shares[i].argmax())
        prefix, kind = _split(labels[best]) if prefixed else ("", labels[best])
        words.append(_Word(prefix, kind, float(shares[i, best]), start - shift, end - shift))
        last = word
    return words


def _prefixed(labels: Sequence[str]) -> bool:
    return any(_split(label)[0] for label in labels)


def _split(label: str) -> tuple[str, str]:
    """`B-PER` -> B, PER; what has no such prefix -> "", itself."""
    prefix, separator, kind = label.partition("-")
    return (prefix, kind) if separator and prefix in _PREFIXES else ("", label)


def _joins(before: _Word, word: _Word) -> bool:
    """Whether a word goes on with the entity of the word before it."""
    return before.kind == word.kind and word.prefix not in _BEGINS and before.prefix not in _ENDS


def _entity(words: list[_Word], text: str) -> Item:
    start, end = words[0].start, words[-1].end
    return Item(words[0].kind, float(np.mean([w.score for w in words])), text[start:end], start, end)
