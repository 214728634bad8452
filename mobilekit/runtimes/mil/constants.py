"""Compressed constants (`constexpr_*`), each decoded by its own definition in the type of its scale or levels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.bitfields import packed_size, unpack_bits
from mobilekit.errors import ArtifactError, EngineError
from mobilekit.runtimes.mil.program import Operation

PREFIX = "constexpr_"


def decode(operation: Operation) -> NDArray[np.floating]:
    """The tensor that a compressed constant stands for; raises EngineError for a kind that is not known here."""
    decoder = _DECODERS.get(operation.kind)
    if decoder is None:
        known = ", ".join(_DECODERS)
        raise EngineError(f"compressed constant {operation.name}: {operation.kind} is unknown; known: {known}.")
    return decoder(operation)


def _affine(operation: Operation) -> NDArray[np.floating]:
    """constexpr_affine_dequantize (iOS 16): scale * (quantized_data - zero_point), both along `axis` or scalar."""
    codes = operation.literal("quantized_data").value
    axis = int(operation.literal("axis").value)
    along = [1] * codes.ndim
    along[axis] = -1

    def spread(values: NDArray[Any]) -> NDArray[Any]:
        return values.reshape(along) if values.ndim else values

    return _scaled(codes, spread(operation.literal("scale").value), spread(operation.literal("zero_point").value))


def _blockwise(operation: Operation) -> NDArray[np.floating]:
    """constexpr_blockwise_shift_scale (iOS 18): scale * (data - offset), scale's axes divide data's into blocks."""
    data, scale = operation.literal("data").value, operation.literal("scale").value
    offset = operation.literal("offset").value if "offset" in operation.operands else np.zeros_like(scale, data.dtype)

    def spread(values: NDArray[Any]) -> NDArray[Any]:
        for axis, size in enumerate(data.shape):
            # A whole axis in one block broadcasts by itself.
            if values.shape[axis] > 1:
                values = values.repeat(size // values.shape[axis], axis)
        return values

    return _scaled(data, spread(scale), spread(offset))


def look_up_table(operation: Operation) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Codes [rows, columns] and levels [groups, 2**bits] of a constexpr_lut_to_dense, `rows / groups` rows to a group.

    Raises ArtifactError for a table that is not of that form.
    """
    indices, table = operation.literal("indices"), operation.literal("lut").value
    if "shape" in operation.operands:
        # iOS 16: indices in bytes, one table of 2**bits values, and the shape.
        bits = table.size.bit_length() - 1
        shape = tuple(int(n) for n in operation.literal("shape").value.reshape(-1))
        count = math.prod(shape)
        whole = 1 <= bits <= 8 and packed_size(count, bits) == indices.value.size
        if indices.value.dtype != np.uint8 or indices.bits != 8 or not whole:
            raise _strange(operation)
        codes, levels = unpack_bits(indices.value.reshape(-1), count, bits).reshape(shape), table.reshape(1, -1)
    else:
        codes, bits = indices.value, indices.bits
        levels = table.reshape(table.shape[:1] + table.shape[2:3]) if _is_by_rows(table) else table
    groups = len(levels) if levels.ndim == 2 else 0
    if codes.dtype != np.uint8 or codes.ndim != 2 or not groups or len(codes) % groups or levels.shape[1] != 2**bits:
        raise _strange(operation)
    return codes, levels


def _is_by_rows(table: NDArray[Any]) -> bool:
    return table.ndim == 4 and table.shape[1] == table.shape[3] == 1


def _strange(operation: Operation) -> ArtifactError:
    return ArtifactError(f"{operation.name}: not a matrix of codes with tables of 2**bits levels for its rows.")


def _look_up(operation: Operation) -> NDArray[np.floating]:
    """constexpr_lut_to_dense (iOS 16, iOS 18): the level that each code stands for."""
    indices, table = operation.literal("indices"), operation.literal("lut").value
    alone = table.ndim == indices.value.ndim + 2 and table.shape[-2] == table.size == 2**indices.bits
    if alone and indices.value.dtype == np.uint8:
        # iOS 18, one table for all: others than us write it for tensors of any rank.
        return table.reshape(-1)[indices.value]
    codes, levels = look_up_table(operation)
    size = len(codes) // len(levels)
    parts = [own[codes[i * size : (i + 1) * size]] for i, own in enumerate(levels)]
    return np.concatenate(parts)


def _scaled(codes: NDArray[Any], scale: NDArray[Any], zero: NDArray[Any]) -> NDArray[np.floating]:
    # The product of two float16 is exact in float32, so that this rounds once, as float16 arithmetic does.
    values = codes.astype(np.float32) - zero.astype(np.float32)
    values *= scale.astype(np.float32)
    return values.astype(scale.dtype)


_DECODERS: dict[str, Callable[[Operation], NDArray[np.floating]]] = {
    "constexpr_affine_dequantize": _affine,
    "constexpr_blockwise_shift_scale": _blockwise,
    "constexpr_lut_to_dense": _look_up,
}
