"""k-means in one dimension, solved to the optimum among the levels of a grid of integers.

In one dimension clusters are intervals, so dynamic programming finds the best ones (Wang & Song 2011, Ckmeans.1d.dp).
Here the centroids have to be integers, -127 .. 127 for int8. Then boundaries between clusters lie on halves, and all
that a solution depends on is how much of the values lies in each half step: a histogram of 510 bins holds any number
of values without loss, and the search among 255 levels takes milliseconds however many they were.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

# The largest level of int8 that has its negative.
LIMIT = 127
# Half steps from -LIMIT to LIMIT, and one for all that is below, one for all above.
BINS = 4 * LIMIT + 2

_Sums = NDArray[np.float64]


def bins(values: NDArray[np.float32], scale: NDArray[np.float32] | float = 1.0) -> NDArray[np.intp]:
    """The half step of each value over scale: 0 below -LIMIT, 1 in [-LIMIT, -LIMIT + 1/2), BINS - 1 from LIMIT on."""
    places = values / np.float32(scale * np.float32(0.5))
    places += np.float32(2 * LIMIT + 1)
    np.clip(places, 0, BINS - 1, out=places)
    return places.astype(np.intp)


def best_levels(mass: _Sums, moment: _Sums, clusters: int) -> tuple[NDArray[np.int8], float]:
    """The integers that `clusters` centroids should be, ascending, and what they cost.

    mass, moment: the sums of the values' weights w and of w * value in each half step of -n .. n (`bins`; n = LIMIT
    when there are BINS of them). The cost is the least sum of w * (value - nearest level)**2, less that of
    w * value**2, which no level changes. As many levels as the grid has, if there are to be more clusters.
    """
    limit = (len(mass) - 2) // 4
    levels = np.arange(-limit, limit + 1, dtype=np.float64)
    gain = _gains(mass, moment, levels)
    # What it costs when all values go to one level.
    alone = levels * (levels * mass.sum() - 2 * moment.sum())
    if clusters >= len(levels):
        return levels.astype(np.int8), float(np.diagonal(gain, -1).sum() + alone[-1])
    # cost[j]: the least with level j as the highest of those chosen so far, over what it is with level j alone.
    cost = np.zeros(len(levels))
    lower_of = []
    room = np.empty_like(gain)
    for _ in range(clusters - 1):
        lower = np.add(gain, cost, out=room).argmin(axis=1)
        cost = room[np.arange(len(levels)), lower]
        lower_of.append(lower)
    cost = cost + alone
    chosen = [int(cost.argmin())]
    for lower in reversed(lower_of):
        chosen.append(int(lower[chosen[-1]]))
    return levels[chosen[::-1]].astype(np.int8), float(cost.min())


def nearest(levels: NDArray[np.int8]) -> NDArray[np.uint8]:
    """For each half step the index of the nearest of ascending levels; of two as near, the upper one."""
    lower_edges = (np.arange(BINS) - (2 * LIMIT + 1)) / 2
    middles = (levels[1:].astype(np.float64) + levels[:-1]) / 2
    return np.searchsorted(middles, lower_edges, side="right").astype(np.uint8)


def _gains(mass: _Sums, moment: _Sums, levels: _Sums) -> _Sums:
    """[upper, lower]: what it adds to the cost when values nearer to `lower` leave `upper` for it (inf: no such pair).

    Values x below the middle of two levels p < q move from q to p. Their cost then changes by the sum of
    w * ((x - p)**2 - (x - q)**2) = (q - p) * (2 * w * x - w * (p + q)), so prefix sums are all it takes.
    """
    count = len(levels)
    # The sums over x < (levels[i] + levels[j]) / 2 are at i + j: a view that has one row a level.
    twice_middle = np.arange(2 * count - 1) + 2 * levels[0]
    changes = 2 * np.cumsum(moment)[: len(twice_middle)] - twice_middle * np.cumsum(mass)[: len(twice_middle)]
    upper, lower = levels[:, None], levels[None, :]
    return np.where(lower < upper, (upper - lower) * sliding_window_view(changes, count), np.inf)
