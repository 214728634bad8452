"""Post-training quantization of weights (Zafrir et al. 2019, section 3): symmetric, linear, a scale a row or group."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.records import LEAST_NORMAL, Quantized
from mobilekit.errors import CompressionError

# The least positive float16: a smaller scale could not be written in Core ML.
LEAST_SCALE = np.float32(2.0**-24)
# The largest bfloat16 that float16 holds.
_LARGEST_BFLOAT16 = np.float32(65280)


def quantize_rows(weight: NDArray[np.float32], bits: int = 8) -> Quantized:
    """Codes and a scale for each row of a matrix.

    weight: float32 [rows, columns]. The scale is a row's largest magnitude over 2**(bits-1) - 1, rounded to float16
    **first**; codes are chosen against the rounded scale, so that nothing is lost when a target stores it so. A row of
    zeros gets scale 1. Raises CompressionError as `row_scales` does.
    """
    scale = row_scales(weight, 2 ** (bits - 1) - 1)
    return Quantized(codes_of(weight, scale, bits), scale, bits)


def row_scales(weight: NDArray[np.float32], limit: int) -> NDArray[np.float32]:
    """Each row's largest magnitude over `limit`, rounded to float16, float32 [rows, 1]; 1 for a row of zeros.

    Raises CompressionError when the weight is no matrix, is not finite, or exceeds float16.
    """
    _check(weight)
    largest = np.maximum(weight.max(axis=1, keepdims=True), -weight.min(axis=1, keepdims=True))
    with np.errstate(over="ignore"):
        scale = (largest / limit).astype(np.float16).astype(np.float32)
    _check_size(scale, largest)
    # Among float16's subnormal values rounding down may lose bits of the largest weight: the next one up does not.
    short = scale * limit < largest * np.float32(1 - 2.0**-10)
    scale = np.where(short, np.nextafter(scale.astype(np.float16), np.float16(np.inf)).astype(np.float32), scale)
    return np.where(largest == 0, np.float32(1), np.maximum(scale, LEAST_SCALE)).astype(np.float32)


def quantize_groups(weight: NDArray[np.float32], bits: int, block: int) -> Quantized:
    """Codes and a scale for every `block` columns of each row of a matrix.

    weight: float32 [rows, columns]. As `quantize_rows`, with scales that are rounded to bfloat16 and at least float16's
    least normal number. Raises CompressionError as well when `block` does not divide the columns.
    """
    _check(weight)
    rows, columns = weight.shape
    if columns % block:
        raise CompressionError(f"groups of {block} columns do not divide a matrix of {columns} columns.")
    largest = np.abs(weight.reshape(rows, columns // block, block)).max(axis=2)
    scale = np.maximum(to_bfloat16((largest / (2 ** (bits - 1) - 1)).astype(np.float32)), LEAST_NORMAL)
    _check_size(scale, largest)
    scale = np.where(largest == 0, np.float32(1), scale)
    return Quantized(codes_of(weight, scale, bits), scale, bits)


def codes_of(values: NDArray[np.float32], scale: NDArray[np.float32], bits: int) -> NDArray[np.int8]:
    """The nearest codes of values [rows, columns] for given scales [rows, groups], int8 [rows, columns]."""
    limit, groups = 2 ** (bits - 1) - 1, scale.shape[1]
    steps = values.reshape(len(values), groups, values.shape[1] // groups) / scale[:, :, None]
    return np.clip(np.rint(steps), -limit, limit).astype(np.int8).reshape(values.shape)


def rounded_scales(scale: NDArray[np.floating], several: bool) -> NDArray[np.float32]:
    """Scales as targets store them: float16, or bfloat16 and normal in float16 where a row has several.

    scale: > 0 and finite. What is out of range becomes the nearest that is in it.
    """
    if several:
        return np.clip(to_bfloat16(scale.astype(np.float32)), LEAST_NORMAL, _LARGEST_BFLOAT16)
    within = np.clip(scale, LEAST_SCALE, np.finfo(np.float16).max)
    return within.astype(np.float16).astype(np.float32)


def to_bfloat16(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The nearest values that bfloat16 holds (ties to even), as float32; values >= 0 and finite."""
    whole = np.ascontiguousarray(values).view(np.uint32)
    rounded = whole + np.uint32(0x7FFF) + ((whole >> np.uint32(16)) & np.uint32(1))
    return (rounded & np.uint32(0xFFFF0000)).view(np.float32)


def _check(weight: NDArray[np.float32]) -> None:
    if weight.ndim != 2:
        raise CompressionError(f"only matrices are quantized by rows, not a tensor of shape {list(weight.shape)}.")
    if not np.isfinite(weight).all():
        raise CompressionError("the weight has values that are not finite (NaN or infinity).")


def _check_size(scale: NDArray[np.float32], largest: NDArray[np.float32]) -> None:
    if scale.size and float(scale.max()) > np.finfo(np.float16).max:
        raise CompressionError(f"a weight of {float(largest.max()):g} is too large for a float16 scale.")
