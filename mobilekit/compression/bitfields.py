"""Unsigned codes of 1 to 8 bits one after the other, each from the lowest bit on: how Core ML keeps look-up indices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Eight codes fill whole bytes; so many of these at a time.
_EIGHT, _CHUNK = 8, 2**14


def pack_bits(codes: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """Codes (below 2**bits, any shape) in their order, as uint8; the last byte is filled up with zeros."""
    if bits == 8:
        return codes.reshape(-1)
    flat = codes.reshape(-1)
    eights = np.append(flat, np.zeros(-flat.size % _EIGHT, np.uint8)).reshape(-1, _EIGHT)
    packed = np.empty((len(eights), bits), np.uint8)
    for start in range(0, len(eights), _CHUNK):
        some = eights[start : start + _CHUNK].astype("<u8") << _shifts(bits)
        words = np.bitwise_or.reduce(some, axis=1)
        packed[start : start + _CHUNK] = words.view(np.uint8).reshape(-1, _EIGHT)[:, :bits]
    return packed.reshape(-1)[: packed_size(flat.size, bits)]


def unpack_bits(packed: NDArray[np.uint8], count: int, bits: int) -> NDArray[np.uint8]:
    """The first `count` codes of packed bytes; raises ValueError where the bytes are not as many as they take."""
    if count < 0 or packed.size != packed_size(count, bits):
        raise ValueError(f"{packed.size} bytes do not hold {count} codes of {bits} bits")
    if bits == 8:
        return packed
    rows = np.append(packed, np.zeros(-packed.size % bits, np.uint8)).reshape(-1, bits)
    codes = np.empty((len(rows), _EIGHT), np.uint8)
    for start in range(0, len(rows), _CHUNK):
        some = rows[start : start + _CHUNK]
        words = np.zeros((len(some), _EIGHT), np.uint8)
        words[:, :bits] = some
        codes[start : start + _CHUNK] = words.view("<u8") >> _shifts(bits) & np.uint64(2**bits - 1)
    return codes.reshape(-1)[:count]


def packed_size(count: int, bits: int) -> int:
    """Bytes that so many codes take."""
    return (count * bits + 7) // 8


def _shifts(bits: int) -> NDArray[np.uint64]:
    return np.arange(_EIGHT, dtype=np.uint64) * np.uint64(bits)
