"""Scales of least error: how far a row is clipped, searched for instead of read off its largest weight."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.quantize import quantize_groups, quantize_rows, rounded_scales
from mobilekit.compression.records import Quantized
from mobilekit.errors import CompressionError

# Of the scale that keeps the largest weight. The fewer bits, the more it pays to clip; some rows gain by a scale above
# it, whose levels fall better. Measured on the built-in model: nearly no row would go further.
_LEAST_FACTOR = {2: 0.1, 3: 0.2, 4: 0.35, 5: 0.5, 6: 0.7, 7: 0.85, 8: 0.95}
_LARGEST_FACTOR, _FACTORS = 1.1, 48
# New scales and new codes take turns so many times; rows that gain nothing stay as they are.
_ROUNDS = 4
# Weights at a time: what is computed of them on the way stays in the processor's cache.
_CHUNK = 2**16

_TINY = float(np.finfo(np.float64).tiny)

_Values = NDArray[np.float32]
_Exact = NDArray[np.float64]


def quantize_searched(
    weight: _Values, bits: int, block: int | None = None, importance: NDArray[np.floating] | None = None
) -> Quantized:
    """Codes and scales with little error: the sum of importance * (weight - decoded)**2 of each row or group.

    weight: float32 [rows, columns]. block: columns that share a scale (None: all of a row). importance: [columns],
    >= 0 (None: all equal): with the mean squares of a linear map's inputs the error is that of its output, as far as
    inputs do not go together. Scales are rounded to what targets store first, codes chosen against those; no row or
    group is worse than with the scale of `quantize_rows` and `quantize_groups`, which raise the same errors.
    CompressionError also for an importance that is negative, not finite, or not one for each column.
    """
    plain = quantize_rows(weight, bits) if block is None else quantize_groups(weight, bits, block)
    share = _checked(importance, weight.shape[1])
    if not weight.size:
        return plain
    codes, scale = plain.codes.copy(), plain.scale.copy()
    shares = share.reshape(plain.groups, plain.block)
    step = max(1, _CHUNK // weight.shape[1])
    for start in range(0, len(weight), step):
        part = slice(start, start + step)
        grouped = weight[part].reshape(-1, plain.groups, plain.block)
        found = _search(grouped, shares, scale[part], bits, several=plain.groups > 1)
        scale[part], codes[part] = found, _codes(grouped, found, bits).reshape(codes[part].shape)
    return Quantized(codes, scale, bits)


def _checked(importance: NDArray[np.floating] | None, columns: int) -> _Exact:
    if importance is None:
        return np.ones(columns)
    if importance.shape != (columns,):
        raise CompressionError(f"importance of shape {list(importance.shape)} for {columns} columns.")
    if not np.isfinite(importance).all() or importance.min(initial=0) < 0:
        raise CompressionError("the importance has values that are negative or not finite (NaN or infinity).")
    return importance.astype(np.float64) / max(float(importance.max(initial=0)), _TINY)


def _search(grouped: _Values, shares: _Exact, largest: _Values, bits: int, several: bool) -> _Values:
    """The best scale found of each row and group, [rows, groups].

    grouped: [rows, groups, block]. shares: importance, [groups, block]. largest: scales that keep the largest weights.
    """
    light = shares.astype(np.float32)
    best, most = largest, np.zeros(largest.shape, np.float32)
    for factor in np.geomspace(_LEAST_FACTOR[bits], _LARGEST_FACTOR, _FACTORS, dtype=np.float32):
        # What codes explain of a row with the scale that suits them best: nothing else is needed to compare them.
        product, square = _fit(grouped, light, _codes(grouped, largest * factor, bits))
        fitted = np.divide(product, square, out=np.zeros_like(product), where=square > 0)
        better = fitted * product > most
        best, most = np.where(better, fitted, best), np.where(better, fitted * product, most)
    best = rounded_scales(best, several)
    for _ in range(_ROUNDS):
        product, square = _fit(grouped, light, _codes(grouped, best, bits))
        fitted = np.divide(product, square, out=best.copy(), where=square > 0)
        best = _better(grouped, shares, best, rounded_scales(fitted, several), bits)
    return _better(grouped, shares, largest, best, bits)


def _codes(grouped: _Values, scale: _Values, bits: int) -> NDArray[np.float32]:
    limit = np.float32(2 ** (bits - 1) - 1)
    return np.clip(np.rint(grouped / scale[:, :, None]), -limit, limit)


def _fit(grouped: _Values, shares: _Values, codes: _Values) -> tuple[_Values, _Values]:
    """Products of codes with weights and with themselves: their quotient is the scale of least squares."""
    shared = codes * shares
    return np.einsum("rgb,rgb->rg", shared, grouped), np.einsum("rgb,rgb->rg", shared, codes)


def _better(grouped: _Values, shares: _Exact, one: _Values, other: _Values, bits: int) -> _Values:
    """`other` where its error is less, else `one`."""
    errors = []
    for scale in (one, other):
        lost = grouped.astype(np.float64) - _codes(grouped, scale, bits).astype(np.float64) * scale[:, :, None]
        errors.append(np.einsum("rgb,gb->rg", lost**2, shares))
    return np.where(errors[1] < errors[0], other, one)
