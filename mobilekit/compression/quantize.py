"""Post-training quantization of weights (Zafrir et al. 2019, section 3): symmetric, linear, a scale a row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.records import Quantized
from mobilekit.errors import CompressionError

# The least positive float16: a smaller scale could not be written in Core ML.
_LEAST_SCALE = np.float32(2.0**-24)


def quantize_rows(weight: NDArray[np.float32], bits: int = 8) -> Quantized:
    """Codes and a scale for each row of a matrix.

    weight: float32 [rows, columns]. The scale is a row's largest magnitude over 2**(bits-1) - 1, rounded to float16
    **first**; codes are chosen against the rounded scale, so that nothing is lost when a target stores it so. A row of
    zeros gets scale 1. Raises CompressionError when the weight is no matrix, is not finite, or exceeds float16.
    """
    if weight.ndim != 2:
        raise CompressionError(f"only matrices are quantized by rows, not a tensor of shape {list(weight.shape)}.")
    if not np.isfinite(weight).all():
        raise CompressionError("the weight has values that are not finite (NaN or infinity).")
    limit = 2 ** (bits - 1) - 1
    largest = np.abs(weight).max(axis=1, keepdims=True)
    with np.errstate(over="ignore"):
        scale = (largest / limit).astype(np.float16).astype(np.float32)
    if not np.isfinite(scale).all():
        raise CompressionError(f"a weight of {float(largest.max()):g} is too large for a float16 scale.")
    # Among float16's subnormal values rounding down may lose bits of the largest weight: the next one up does not.
    short = scale * limit < largest * np.float32(1 - 2.0**-10)
    scale = np.where(short, np.nextafter(scale.astype(np.float16), np.float16(np.inf)).astype(np.float32), scale)
    scale = np.where(largest == 0, np.float32(1), np.maximum(scale, _LEAST_SCALE)).astype(np.float32)
    codes = np.clip(np.rint(weight / scale), -limit, limit).astype(np.int8)
    return Quantized(codes, scale, bits)
