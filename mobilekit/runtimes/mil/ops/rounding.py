"""Activations as 8-bit codes with a scale fixed beforehand (iOS 17)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import EngineError
from mobilekit.runtimes.mil.ops.table import kernel

Array = NDArray[Any]


@kernel("quantize")
def quantize(
    input: Array,
    scale: Array,
    output_dtype: Array,
    zero_point: Array | None = None,
) -> Array:
    """int8 or uint8: input / scale to the nearest whole number (ties to even) + zero_point, within the type's range."""
    kind = str(output_dtype.item())
    if kind not in ("int8", "uint8"):
        raise EngineError(f"quantize: the type {kind} is unknown to the reference runtime.")
    steps = np.rint(input / _one(scale))
    if zero_point is not None:
        steps = steps + _one(zero_point)
    limits = np.iinfo(kind)
    return np.clip(steps, limits.min, limits.max)


@kernel("dequantize")
def dequantize(input: Array, scale: Array, zero_point: Array | None = None) -> Array:
    """(input - zero_point) * scale."""
    codes = input.astype(np.float32)
    return (codes if zero_point is None else codes - _one(zero_point)) * _one(scale)


def _one(values: Array) -> np.float32:
    """The one value for all of a tensor; what has several needs an axis, which is not read here."""
    if np.size(values) != 1:
        raise EngineError("quantize and dequantize: several scales are unknown to the reference runtime.")
    return np.float32(values.item())
