"""The words that fit behind a mask token."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mobilekit.decoding.item import Item, softmax
from mobilekit.text.tokenizer import TextTokenizer

_GOES_ON = "##"


def decode_words(
    logits: NDArray[np.floating], tokenizer: TextTokenizer, text: str, place: tuple[int, int], count: int
) -> tuple[Item, ...]:
    """The `count` best tokens, best first; logits [vocabulary]. place: characters of `text` that the mask takes; each
    item's text is the whole text with the word put there."""
    shares = softmax(logits)
    start, end = place
    items: list[Item] = []
    for index in np.argsort(-shares, kind="stable"):
        if len(items) == count:
            break
        if not tokenizer.has(int(index)):
            # Tables are often longer than the vocabulary, to a round number of rows.
            continue
        word = tokenizer.decode([int(index)]).strip() or tokenizer.token_of(int(index))
        before, inside = text[:start], word
        if word.startswith(_GOES_ON) and len(word) > len(_GOES_ON):
            # A piece that goes on with the word before it.
            before, inside = before.rstrip(), word.removeprefix(_GOES_ON)
        items.append(Item(word, float(shares[index]), before + inside + text[end:], start, end, not items))
    return tuple(items)
