"""What of an embedding space is kept by another: for embedding models there is no label to be right about."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mobilekit.evaluation.metrics import SPEARMAN

PAIRS = 2000
# Similarities of so many rows with all others at a time.
_BLOCK = 512
Embeddings = NDArray[np.floating]


def pair_correlation(given: Embeddings, base: Embeddings, pairs: int = PAIRS, seed: int = 0) -> float:
    """Spearman's correlation of the cosines of pairs of rows, in one space and in the other.

    given, base: [rows, width], three rows at least. The pairs are drawn, the same for the same seed and rows.
    """
    rng, count = np.random.default_rng(seed), len(base)
    first = rng.integers(0, count, pairs)
    # Never a row with itself.
    second = (first + rng.integers(1, count, pairs)) % count
    cosines = [(rows[first] * rows[second]).sum(1) for rows in (_unit(given), _unit(base))]
    return SPEARMAN(cosines[0], cosines[1])


def neighbour_agreement(given: Embeddings, base: Embeddings) -> float:
    """Share of rows whose nearest other row, by cosine, is the same one in both spaces. given, base: [rows, width]."""
    return float((_nearest(_unit(given)) == _nearest(_unit(base))).mean())


def _nearest(rows: NDArray[np.float64]) -> NDArray[np.intp]:
    found = []
    for start in range(0, len(rows), _BLOCK):
        cosines = rows[start : start + _BLOCK] @ rows.T
        cosines[np.arange(len(cosines)), np.arange(start, start + len(cosines))] = -np.inf
        found.append(cosines.argmax(1))
    return np.concatenate(found)


def _unit(rows: Embeddings) -> NDArray[np.float64]:
    wide = np.asarray(rows, np.float64)
    return wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-12)
