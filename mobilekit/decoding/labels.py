"""Labels of a text: softmax over one choice, a sigmoid each, or plain values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mobilekit.decoding.item import Item, softmax


def decode_labels(
    logits: NDArray[np.floating], labels: Sequence[str], problem_type: str | None, threshold: float
) -> tuple[Item, ...]:
    """All labels, best first; logits [labels]. chosen: the best of one choice; each at least `threshold` where several
    may hold; every one in regression."""
    values = logits.astype(np.float64)
    if problem_type == "single_label_classification":
        values = softmax(logits)
        chosen = np.arange(len(labels)) == values.argmax()
    elif problem_type == "multi_label_classification":
        # Not 1 / (1 + exp(-x)), which overflows for a very negative logit.
        values = 0.5 * (1 + np.tanh(0.5 * values))
        chosen = values >= threshold
    else:
        chosen = np.ones(len(labels), bool)
    items = [Item(*row) for row in zip(labels, values.tolist(), strict=True)]
    items = [Item(i.label, i.score, chosen=bool(c)) for i, c in zip(items, chosen, strict=True)]
    return tuple(sorted(items, key=lambda item: -item.score))
