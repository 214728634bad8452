"""The span of a text that answers a question (Devlin et al. 2019, section 4.2 and 4.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mobilekit.decoding.item import Item, softmax
from mobilekit.text.tokenizer import EncodedText

# Longer spans are no answers.
_LONGEST = 30
NO_ANSWER = "no answer"


def decode_spans(logits: NDArray[np.floating], encoded: EncodedText, context: str, count: int) -> tuple[Item, ...]:
    """The best spans of the second text, best first; logits [tokens, 2], start and end.

    A span begins and ends inside the context, ends no earlier than it begins, has at most 30 tokens, and is widened
    to whole words. Scores are
    the product of start's and end's probability over the context's tokens and the first token, which stands for "no
    answer". Spans that overlap a better one are left out.
    """
    inside = np.array([s == 1 and a < b for s, (a, b) in zip(encoded.sequences, encoded.offsets, strict=True)])
    allowed = inside.copy()
    allowed[0] = True
    starts, ends = (softmax(np.where(allowed, logits[:, i], -np.inf)) for i in (0, 1))
    items = [Item(NO_ANSWER, float(starts[0] * ends[0]), "")]
    scores = np.outer(starts * inside, ends * inside)
    scores = np.triu(scores) - np.triu(scores, _LONGEST)
    for _ in range(count):
        first, last = divmod(int(scores.argmax()), scores.shape[1])
        score = float(scores[first, last])
        if not score:
            break
        first, last = _whole_words(first, last, encoded)
        start, end = encoded.offsets[first][0], encoded.offsets[last][1]
        items.append(Item("answer", score, context[start:end], start, end))
        # A span overlaps this one unless it ends before its first token or begins behind its last.
        scores[: last + 1, first:] = 0
    best = sorted(items, key=lambda item: -item.score)
    return tuple(Item(i.label, i.score, i.text, i.start, i.end, chosen=not n) for n, i in enumerate(best))


def _whole_words(first: int, last: int, encoded: EncodedText) -> tuple[int, int]:
    """The same span without a word cut in two."""
    words, sequences = encoded.words, encoded.sequences
    while sequences[first - 1] == 1 and words[first - 1] == words[first]:
        first -= 1
    while last + 1 < len(words) and sequences[last + 1] == 1 and words[last + 1] == words[last]:
        last += 1
    return first, last
