"""Clustering of weights (weight sharing; Han et al. 2016, section 3): a codebook of 2**bits levels, a scale a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.kmeans import BINS, LIMIT, best_levels, bins, nearest
from mobilekit.compression.quantize import LEAST_SCALE, row_scales
from mobilekit.compression.records import Clustered
from mobilekit.errors import CompressionError, short

# Weights at a time: what is computed of them on the way stays in the processor's cache.
_BLOCK = 2**16
# By bits: how far a row's scale may shrink against its largest weight over 127. The fewer levels, the more it pays to
# clip; from 7 bits on it never does. Measured on the built-in model: nearly no row would go further.
_LEAST_FACTOR = {1: 0.1, 2: 0.12, 3: 0.3, 4: 0.65, 5: 0.8, 6: 0.9}
_LARGEST_FACTOR, _FACTORS = 1.4, 64
# Alternation goes on while new scales gain this share of the error, and for so many rounds at most.
_LEAST_GAIN, _ROUNDS = 2e-3, 4

_Values = NDArray[np.float32]
_Levels = NDArray[np.int8]


def cluster_rows(weight: _Values, bits: int, groups: int = 1, importance: _Values | None = None) -> Clustered:
    """Codes, codebooks and row scales with little error: the sum of importance * (weight - decoded)**2.

    weight: float32 [rows, columns]. bits: 1 to 8. groups: how many runs of rows have a codebook of their own.
    importance: float32 like weight, >= 0 (squared gradients, say); None: all equal.

    For given scales the codebook is the best there is (`kmeans`): each row is divided by its scale, and its values then
    weigh the square of it, so that what is least is the error of the weights themselves. A row's scale is its largest
    magnitude over 127 first; then each row tries others, then scales of least squares and best codebooks take turns.
    The error only ever falls. Scales are float16 all the time. A row of zeros gets scale 1, or the least there is when
    its codebook has no zero. Raises CompressionError when `row_scales` does, for bits and groups that cannot be, and
    for an importance that is negative, not finite, or zero in all of a group.
    """
    _check(weight, bits, groups, importance)
    scale = row_scales(weight, LIMIT)
    zero = scale[:, 0] == 1
    zero[zero] = np.logical_not(weight[zero].any(axis=1))
    # Nothing may depend on rows of zeros: with scale 1 they would weigh more than all others.
    scale[zero] = LEAST_SCALE
    codes = np.empty(weight.shape, np.uint8)
    codebooks = []
    size = len(weight) // groups
    for start in range(0, len(weight), size):
        part = slice(start, start + size)
        rows = Rows(weight[part], None if importance is None else importance[part])
        levels, scale[part] = _solve(rows, scale[part], bits)
        if (levels == 0).any():
            scale[part][zero[part]] = 1
        rows.write_codes(levels, scale[part], codes[part])
        codebooks.append(np.pad(levels, (0, 2**bits - len(levels)), mode="edge"))
    return Clustered(codes, np.stack(codebooks), scale)


def _check(weight: _Values, bits: int, groups: int, importance: _Values | None) -> None:
    if weight.ndim != 2 or not weight.size:
        raise CompressionError(f"only matrices are clustered, not a tensor of shape {list(weight.shape)}.")
    if not 1 <= bits <= 8:
        raise CompressionError(f"weights are clustered to 1 to 8 bits, not {short(bits)}.")
    if groups < 1 or len(weight) % groups:
        raise CompressionError(f"{short(groups)} groups do not divide {len(weight)} rows; choose a divisor.")
    if importance is None:
        return
    if importance.shape != weight.shape:
        raise CompressionError(f"importance of shape {list(importance.shape)} for weights of {list(weight.shape)}.")
    largest = importance.max(axis=1)
    if not np.isfinite(largest).all() or importance.min() < 0:
        raise CompressionError("the importance has values that are negative or not finite (NaN or infinity).")
    if not largest.reshape(groups, -1).any(axis=1).all():
        raise CompressionError("the importance is zero in all of a group; choose fewer groups, or other text.")


def _solve(rows: Rows, scale: _Values, bits: int) -> tuple[_Levels, _Values]:
    """A codebook, ascending, and scales; scale: those to begin with."""
    energy = rows.energy()
    levels, cost = rows.codebook(scale, bits)
    if bits in _LEAST_FACTOR:
        factors = np.geomspace(_LEAST_FACTOR[bits], _LARGEST_FACTOR, _FACTORS - 1, dtype=np.float32)
        tried = rows.search_scales(levels, scale, np.insert(factors, 0, 1))
        tried_levels, tried_cost = rows.codebook(tried, bits)
        if tried_cost < cost:
            levels, scale, cost = tried_levels, tried, tried_cost
    for _ in range(_ROUNDS):
        scale, gain = rows.fit_scales(levels, scale)
        if gain < _LEAST_GAIN * (energy + cost):
            break
        levels, cost = rows.codebook(scale, bits)
    return levels, scale


@dataclass(frozen=True)
class Rows:
    """The rows that share a codebook, and the importance of their weights."""

    weight: _Values
    importance: _Values | None

    def blocks(self, width: int = 0) -> Iterator[tuple[slice, _Values, _Values | None]]:
        """A few rows at a time: which, their weights, their importance. width: what a row takes beside its weights."""
        step = max(1, _BLOCK // max(self.weight.shape[1], width))
        for start in range(0, len(self.weight), step):
            part = slice(start, start + step)
            yield part, self.weight[part], None if self.importance is None else self.importance[part]

    def energy(self) -> float:
        """The sum of importance * weight**2."""
        total = 0.0
        for _, weight, importance in self.blocks():
            shared = weight if importance is None else weight * importance.astype(np.float64)
            total += float(np.vdot(weight, shared))
        return total

    def codebook(self, scale: _Values, bits: int) -> tuple[_Levels, float]:
        """The best levels for these scales, and their error less `energy`."""
        mass, moment = np.zeros(BINS), np.zeros(BINS)
        for part, weight, importance in self.blocks():
            own = scale[part].astype(np.float64)
            place = bins(weight, scale[part]).ravel()
            # In the row's own unit: a weight's value is weight / scale, and its error counts scale**2 times.
            masses, moments = np.broadcast_to(own**2, weight.shape), weight * scale[part]
            if importance is not None:
                masses, moments = masses * importance, moments * importance.astype(np.float64)
            mass += np.bincount(place, masses.ravel(), BINS)
            moment += np.bincount(place, moments.ravel(), BINS)
        return best_levels(mass, moment, 2**bits)

    def search_scales(self, levels: _Levels, scale: _Values, factors: _Values) -> _Values:
        """For each row the best of its scale times any of the factors, the first of them where none is better.

        Errors come from a histogram of each row, one bin a level of the grid, in one matrix product.
        """
        grid = np.arange(-LIMIT, LIMIT + 1, dtype=np.float32)
        decoded = levels.astype(np.float32)[nearest(levels)[bins(grid[:, None], factors)]] * factors
        errors = (grid[:, None] - decoded) ** 2
        found = np.empty_like(scale)
        for part, weight, importance in self.blocks(width=len(grid)):
            # Two half steps, one to each side, are nearest to a level.
            place = bins(weight, scale[part]) >> 1
            place += np.arange(len(weight))[:, None] * len(grid)
            share = None if importance is None else importance.ravel()
            counts = np.bincount(place.ravel(), share, len(weight) * len(grid)).reshape(len(weight), len(grid))
            if importance is not None:
                counts = counts / np.maximum(counts.max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
            found[part, 0] = factors[(counts.astype(np.float32) @ errors).argmin(axis=1)]
        return _half(scale * found, scale)

    def fit_scales(self, levels: _Levels, scale: _Values) -> tuple[_Values, float]:
        """For each row the scale of least squares, given the codes that its present scale leads to; what they gain."""
        table = levels.astype(np.float32)[nearest(levels)]
        product, square = np.empty(scale.shape), np.empty(scale.shape)
        for part, weight, importance in self.blocks():
            chosen = table.take(bins(weight, scale[part]))
            shared = chosen if importance is None else chosen * importance.astype(np.float64)
            product[part, 0] = np.einsum("rc,rc->r", shared, weight)
            square[part, 0] = np.einsum("rc,rc->r", shared, chosen)
        fitted = _half(np.divide(product, square, out=np.zeros_like(product), where=square > 0), scale)
        gains = (fitted - scale) * (2 * product - square * (fitted + scale))
        return fitted, float(gains.sum())

    def write_codes(self, levels: _Levels, scale: _Values, codes: NDArray[np.uint8]) -> None:
        """Fill `codes` with the index of each weight's nearest level."""
        table = nearest(levels)
        for part, weight, _ in self.blocks():
            codes[part] = table.take(bins(weight, scale[part]))


def _half(scale: NDArray[np.floating], otherwise: _Values) -> _Values:
    """Scales rounded to float16; the others where that gives none."""
    with np.errstate(over="ignore"):
        rounded = scale.astype(np.float16).astype(np.float32)
    return np.where((rounded > 0) & np.isfinite(rounded), rounded, otherwise)
