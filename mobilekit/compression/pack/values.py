"""Bytes as values of 8 or 6 bits, and back. First bits are lowest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def to_values(data: NDArray[np.uint8], width: int) -> NDArray[np.uint8]:
    """Values of `width` bits (8 or 6); where the last one is cut off its missing bits are 0."""
    if width == 8:
        return data
    three = np.append(data, np.zeros(-data.size % 3, np.uint8)).reshape(-1, 3)
    first, second, third = three[:, 0], three[:, 1], three[:, 2]
    values = np.stack([first, first >> 6 | second << 2, second >> 4 | third << 4, third >> 2], axis=1) & 63
    return values.astype(np.uint8).ravel()[: -(-8 * data.size // 6)]


def from_values(values: NDArray[np.uint8], width: int, size: int) -> NDArray[np.uint8]:
    """The `size` bytes that have these values."""
    if width == 8:
        return values
    four = np.append(values, np.zeros(-values.size % 4, np.uint8)).reshape(-1, 4)
    first, second, third, last = (four[:, k] for k in range(4))
    data = np.stack([first | second << 6, second >> 2 | third << 4, third >> 4 | last << 2], axis=1)
    return data.ravel()[:size]
