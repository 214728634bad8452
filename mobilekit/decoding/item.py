"""What an answer is made of, and the sums that all heads need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Item:
    """One part of an answer.

    label: of a text, an entity, a span, or the word found. score: probability, or the plain value for regression.
    text, start, end: where it stands in the text, as characters start..end; None where it is about the whole. chosen:
    whether it belongs to the answer (a label above its threshold, the best of one choice).
    """

    label: str
    score: float
    text: str | None = None
    start: int | None = None
    end: int | None = None
    chosen: bool = True


def softmax(logits: NDArray[np.floating]) -> NDArray[np.float64]:
    """Probabilities over the last axis."""
    exponents = np.exp(logits.astype(np.float64) - logits.max(axis=-1, keepdims=True))
    shares: NDArray[np.float64] = exponents / exponents.sum(axis=-1, keepdims=True)
    return shares
