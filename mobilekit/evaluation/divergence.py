"""How far one classifier's probabilities are from another's, also where both give the same answer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_LEAST = 1e-12


def divergence(given: NDArray[np.floating], base: NDArray[np.floating], several: bool = False) -> float:
    """Mean Kullback-Leibler divergence of `given` from `base` over rows, in nats; 0 where both say the same.

    given, base: logits [rows, labels]. several: whether each label is a question of its own (sigmoid, and the sum over
    labels), else one of them holds (softmax).
    """
    new, old = np.asarray(given, np.float64), np.asarray(base, np.float64)
    if several:
        new, old = (np.stack([values, np.zeros_like(values)], -1) for values in (new, old))
    else:
        new, old = new[:, None], old[:, None]
    logs, base_logs = _log_softmax(new), _log_softmax(old)
    found = float((np.exp(base_logs) * (base_logs - logs)).sum((1, 2)).mean())
    # Rounding may leave less than nothing of equal distributions.
    return 0.0 if abs(found) < _LEAST else max(found, 0.0)


def _log_softmax(values: NDArray[np.float64]) -> NDArray[np.float64]:
    less = values - values.max(-1, keepdims=True)
    normal: NDArray[np.float64] = less - np.log(np.exp(less).sum(-1, keepdims=True))
    return normal
