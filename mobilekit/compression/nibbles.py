"""Two 4-bit codes a byte, the first in the low half: how LiteRT, Core ML and XNNPACK keep int4."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def pack_nibbles(codes: NDArray[np.integer]) -> NDArray[np.uint8]:
    """Codes (-8 .. 15, any shape) in their order, as uint8 [half as many, rounded up]."""
    flat = codes.reshape(-1).astype(np.uint8) & np.uint8(0xF)
    low, high = flat[::2], flat[1::2]
    packed = low.copy()
    packed[: high.size] |= high << np.uint8(4)
    return packed


def unpack_nibbles(packed: NDArray[np.uint8], count: int) -> NDArray[np.int8]:
    """The first `count` codes of packed bytes as signed numbers, -8 .. 7; raises ValueError when there are fewer."""
    if not 0 <= 2 * packed.size - count < 2:
        raise ValueError(f"{packed.size} bytes do not hold {count} codes of 4 bits")
    codes = np.empty(2 * packed.size, np.int8)
    # Up to the sign bit, and back down with the sign.
    codes[::2] = (packed << np.uint8(4)).view(np.int8) >> np.int8(4)
    codes[1::2] = packed.view(np.int8) >> np.int8(4)
    return codes[:count]
