"""Compressed constants (`constexpr_*`), each decoded by its own definition in the type of its scale."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import EngineError
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


def _scaled(codes: NDArray[Any], scale: NDArray[Any], zero: NDArray[Any]) -> NDArray[np.floating]:
    # The product of two float16 is exact in float32, so that this rounds once, as float16 arithmetic does.
    values = codes.astype(np.float32) - zero.astype(np.float32)
    values *= scale.astype(np.float32)
    return values.astype(scale.dtype)


_DECODERS: dict[str, Callable[[Operation], NDArray[np.floating]]] = {
    "constexpr_affine_dequantize": _affine,
    "constexpr_blockwise_shift_scale": _blockwise,
}
