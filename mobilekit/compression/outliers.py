"""Outliers kept apart: a few weights have levels of their own, all others share a few (GOBO; Zadeh et al. 2020).

Of 4 or 8 levels some have to serve weights that are far from all others, or those lose most. A weight that is kept
apart costs about 8 bits and the news where it is; it takes its own error away, and what the others' levels bear of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.cluster import Rows, cluster_rows
from mobilekit.compression.kmeans import LIMIT, bins, nearest
from mobilekit.compression.quantize import LEAST_SCALE, rounded_scales
from mobilekit.compression.records import Clustered, Outliers, stacked

# The choice of outliers and levels for the rest take turns so many times.
_ROUNDS = 1
# How many coarser grids are tried, for outliers that the grid of the rest does not reach, and how coarse the last is.
_GRIDS, _COARSEST = 4, 8.0

_Values = NDArray[np.float32]
_Levels = NDArray[np.int8]
_Positions = NDArray[np.int32]


def cluster_apart(
    weight: _Values, bits: int, thousandths: int, groups: int = 1, importance: _Values | None = None
) -> Clustered:
    """As `cluster_rows`, with at most so many thousandths of each group's weights kept apart.

    Outliers are the weights whose error counts most, found in turns with codebook and scales of the rest (trimmed
    k-means); they are rounded to the int8 grid, which all rows of a group have coarser together where that lets
    outliers fit at less error than cutting them off. A group that would have more error with them has none. Raises what
    `cluster_rows` raises.
    """
    plain = cluster_rows(weight, bits, groups, importance)
    count = round(weight.size // groups * thousandths / 1000)
    if not count:
        return plain
    size, parts = len(weight) // groups, []
    for i in range(groups):
        part = slice(i * size, (i + 1) * size)
        rows = Rows(weight[part], None if importance is None else importance[part])
        parts.append(_apart(rows, Clustered(plain.codes[part], plain.codebook[i : i + 1], plain.scale[part]), count))
    return stacked(parts)


def _apart(rows: Rows, plain: Clustered, count: int) -> Clustered:
    """The record of a group with outliers; `plain`, which has none, where they gain nothing."""
    # The largest weights of their rows to begin with: levels and scales of all weights would have come to terms with
    # them, and what loses most then are others.
    found, positions = _chosen(rows, plain, _largest(_sizes(rows), count))
    for _ in range(_ROUNDS):
        found, positions = _chosen(rows, found, _largest(_costs(rows, found.codebook[0], found.scale), count))
    if not positions.size:
        return plain
    levels, scale = _fitting(rows, positions, found)
    codes = np.empty_like(plain.codes)
    rows.write_codes(levels, scale, codes)
    codebook = np.pad(levels, (0, 2**plain.bits - len(levels)), mode="edge")[None]
    record = Clustered(codes, codebook, scale, Outliers(positions, _rounded(*_at(rows, positions, scale))))
    most = _costs(rows, plain.codebook[0], plain.scale).sum(dtype=np.float64)
    return record if _row_errors(rows, positions, levels, scale).sum() < most else plain


def _chosen(rows: Rows, found: Clustered, positions: _Positions) -> tuple[Clustered, _Positions]:
    """A record of the weights but those at some positions, and these; `found` and none where no weight would count."""
    rest, positions = _without(rows, positions)
    if rest.importance is None or not rest.importance.any():
        return found, positions[:0]
    return cluster_rows(rest.weight, found.bits, importance=rest.importance), positions


def _costs(rows: Rows, levels: _Levels, scale: _Values) -> _Values:
    """What each weight's nearest level costs: importance * (weight - level * scale)**2, float32 [rows, columns]."""
    table = levels.astype(np.float32)[nearest(levels)]
    costs = np.empty(rows.weight.shape, np.float32)
    for part, weight, importance in rows.blocks():
        lost = (weight - table.take(bins(weight, scale[part])) * scale[part]) ** 2
        costs[part] = lost if importance is None else lost * importance
    return costs


def _sizes(rows: Rows) -> _Values:
    """The squares of weights over their mean in a row."""
    squares = rows.weight**2
    mean = squares.mean(axis=1, keepdims=True)
    return np.divide(squares, mean, out=squares, where=mean > 0)


def _largest(costs: _Values, count: int) -> _Positions:
    """Flat positions of at most so many of the largest costs, ascending; of those that cost nothing, none."""
    flat = costs.ravel()
    least = np.partition(flat, flat.size - count)[flat.size - count]
    above = np.flatnonzero(flat > least)
    equal = np.flatnonzero(flat == least)[: count - above.size] if least > 0 else np.empty(0, np.intp)
    return np.sort(np.concatenate([above, equal])).astype(np.int32)


def _without(rows: Rows, positions: _Positions) -> tuple[Rows, _Positions]:
    """The rows without the weights at some positions: those are 0 and have no importance. And the positions, less
    those in rows where nothing else would be left, whose scale has nothing to go by."""
    weight = rows.weight.copy()
    columns = weight.shape[1]
    weight.ravel()[positions] = 0
    bare: NDArray[np.bool_] = np.logical_not(weight.any(axis=1))
    positions = positions[~bare[positions // columns]]
    weight[bare] = rows.weight[bare]
    importance = np.ones_like(weight) if rows.importance is None else rows.importance.copy()
    importance.ravel()[positions] = 0
    return Rows(weight, importance), positions


def _fitting(rows: Rows, positions: _Positions, found: Clustered) -> tuple[_Levels, _Values]:
    """Codebook and scales on a grid that suits outliers and the rest together.

    found: of the rest alone. All scales grow by one factor first: how rows are to one another stays, as levels need it.
    A row with an outlier that is out of reach even then gets a scale for it where cutting it off would cost more.
    """
    rest, _ = _without(rows, positions)
    zero: NDArray[np.bool_] = np.logical_not(rest.weight.any(axis=1))
    # Nothing may depend on rows of zeros.
    scale = np.where(zero[:, None], LEAST_SCALE, found.scale)
    needed = np.zeros_like(scale)
    np.maximum.at(needed[:, 0], positions // rows.weight.shape[1], np.abs(_taken(rows.weight, positions)) / LIMIT)
    reach = min(max(1.0, float((needed / scale).max())), _COARSEST)
    levels, best, least = found.codebook[0], scale, np.inf
    for factor in np.unique(np.geomspace(1, reach, _GRIDS)):
        narrow = rounded_scales(scale * factor, several=False)
        wide = np.maximum(narrow, rounded_scales(needed, several=False))
        tried, _ = rest.codebook(narrow, found.bits)
        errors = [_row_errors(rows, positions, tried, each) for each in (narrow, wide)]
        if np.minimum(*errors).sum() < least:
            levels, least = tried, float(np.minimum(*errors).sum())
            best = np.where((errors[1] < errors[0])[:, None], wide, narrow)
    alone = np.float32(1) if (levels == 0).any() else LEAST_SCALE
    return levels, np.where(zero[:, None], alone, best).astype(np.float32)


def _row_errors(rows: Rows, positions: _Positions, levels: _Levels, scale: _Values) -> NDArray[np.float64]:
    """What each row costs with outliers at some positions, [rows]."""
    costs = _costs(rows, levels, scale)
    costs.ravel()[positions] = _outlier_costs(rows, positions, scale)
    return costs.sum(axis=1, dtype=np.float64)


def _outlier_costs(rows: Rows, positions: _Positions, scale: _Values) -> _Values:
    """What rounding to the int8 grid costs the weights at some positions."""
    own, own_scale = _at(rows, positions, scale)
    lost = (own - _rounded(own, own_scale) * own_scale) ** 2
    return lost if rows.importance is None else lost * _taken(rows.importance, positions)


def _rounded(values: _Values, scale: _Values) -> _Levels:
    return np.clip(np.rint(values / scale), -LIMIT, LIMIT).astype(np.int8)


def _at(rows: Rows, positions: _Positions, scale: _Values) -> tuple[_Values, _Values]:
    """The weights at some positions, and the scales of their rows."""
    return _taken(rows.weight, positions), scale[positions // rows.weight.shape[1], 0]


def _taken(values: _Values, positions: _Positions) -> _Values:
    """`values.ravel()[positions]`, without a copy of values that are broadcast."""
    return values[np.divmod(positions, np.int32(values.shape[1]))]
