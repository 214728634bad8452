"""The words of a text that may be replaced, the pieces they become, and the words that a vocabulary has whole."""

from __future__ import annotations

import itertools
import unicodedata
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import InputError
from mobilekit.text.tokenizer import EncodedText, TextTokenizer

# Apostrophes, the invisible joiners of some scripts, and the soft hyphen: what touches them is a part of something
# ("don't", "'s", "snake_case") that another word would break.
_JOINERS = frozenset("'’ʼ_\u00ad\u200c\u200d")
_GOES_ON = "##"
PIECES_MARK, BYTES_MARK = "▁", "Ġ"


@dataclass(frozen=True)
class Word:
    """A word in a text. start, end: its characters. pieces: positions of its ids in the encoded text, none where it was
    cut off. single: whether it is one piece, which the vocabulary has as a whole word."""

    start: int
    end: int
    text: str
    pieces: tuple[int, ...]
    single: bool


@dataclass(frozen=True)
class WholeWords:
    """Which ids are whole alphabetic words: mask, bool [vocabulary], and their texts by id, "" for all others."""

    mask: NDArray[np.bool_]
    texts: tuple[str, ...]


def alphabetic(text: str) -> bool:
    """Whether a text is letters only, with the marks that combine with them; it begins with a letter."""
    return text[:1].isalpha() and all(c.isalpha() or _is_mark(c) for c in text)


def find_words(text: str) -> list[tuple[int, int]]:
    """(start, end) of the words that may be replaced: runs of letters.

    Hyphens separate words, as BERT's own splitting does. Numbers, names with digits and whatever has an apostrophe are
    none: no alphabetic word can stand for "1995", and another word for "isn't" would turn what the text says.
    """
    found: list[tuple[int, int]] = []
    for joined, run in itertools.groupby(enumerate(text), lambda each: _joined(each[1])):
        places = [i for i, _ in run]
        start, end = places[0], places[-1] + 1
        if joined and alphabetic(text[start:end]):
            found.append((start, end))
    return found


def words_of(text: str, encoded: EncodedText, prefix: str, whole: WholeWords) -> list[Word]:
    """The words of `text` with their pieces; encoded: of `prefix` and text as one first text. Those of the prefix are
    not among them."""
    spans = find_words(text)
    owners = {c: index for index, (start, end) in enumerate(spans) for c in range(start, end)}
    pieces: list[list[int]] = [[] for _ in spans]
    shift = len(prefix)
    for position, (start, end) in enumerate(encoded.offsets):
        for index in {owners[c - shift] for c in range(start, end) if c - shift in owners}:
            pieces[index].append(position)
    return [
        Word(start, end, text[start:end], tuple(own), _is_single(prefix + text, text[start:end], own, encoded, whole))
        for (start, end), own in zip(spans, pieces, strict=True)
    ]


def whole_words(tokenizer: TextTokenizer, size: int) -> WholeWords:
    """The whole alphabetic words among the first `size` ids, special tokens left out.

    Whole is what begins a word: no `##` in WordPiece, `▁` in Unigram, `Ġ` in byte-level BPE. Raises InputError when
    there are none.
    """
    mark = word_mark(tokenizer)
    texts = [""] * size
    for token_id in range(min(size, tokenizer.largest_id + 1)):
        if not tokenizer.has(token_id):
            continue
        token = tokenizer.token_of(token_id)
        if token.startswith(mark) if mark else not token.startswith(_GOES_ON):
            # Byte-level tokens have to be decoded to be read; special tokens become nothing.
            text = tokenizer.decode([token_id]).strip()
            texts[token_id] = text if alphabetic(text) else ""
    mask = np.array([bool(text) for text in texts])
    if not mask.any():
        raise InputError(f"the vocabulary of {tokenizer.vocab_size} tokens has no whole words of letters.")
    return WholeWords(mask, tuple(texts))


def word_mark(tokenizer: TextTokenizer) -> str:
    """What a token begins with where it begins a word; "" where tokens that do not are marked instead."""
    if tokenizer.type == "Unigram":
        return PIECES_MARK
    if tokenizer.type == "BPE":
        return BYTES_MARK if '"ByteLevel"' in tokenizer.serialized() else PIECES_MARK
    return ""


def _is_single(whole_text: str, word: str, pieces: list[int], encoded: EncodedText, whole: WholeWords) -> bool:
    if len(pieces) != 1:
        return False
    start, end = encoded.offsets[pieces[0]]
    # Some tokenizers give a word the space before it.
    return bool(whole.mask[encoded.ids[pieces[0]]]) and whole_text[start:end].strip() == word


def _joined(character: str) -> bool:
    return character.isalnum() or character in _JOINERS or _is_mark(character)


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"
