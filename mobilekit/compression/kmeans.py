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


def bins(values: NDArray[np.float32]) -> NDArray[np.intp]:
    """The half step of each value: 0 below -LIMIT, then [-LIMIT, -LIMIT + 1/2), ..., BINS - 1 from LIMIT on."""
    places = values * np.float32(2)
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
    # cost[j]: the least with level j as the highest of all, over what it is if all values went to level j.
    cost = np.zeros(len(levels))
    lower_of = []
    for lowest in range(min(clusters, len(levels)) - 1):
        costs = gain[lowest + 1 :, lowest:] + cost
        lower = costs.argmin(axis=1)
        cost = costs[np.arange(len(lower)), lower]
        lower_of.append(lower + lowest)
    highest = levels[len(lower_of) :]
    cost = cost + highest * (highest * mass.sum() - 2 * moment.sum())
    chosen = [int(cost.argmin()) + len(lower_of)]
    for lowest in reversed(range(len(lower_of))):
        chosen.append(int(lower_of[lowest][chosen[-1] - lowest - 1]))
    return levels[chosen[::-1]].astype(np.int8), float(cost.min())


def nearest(levels: NDArray[np.int8]) -> NDArray[np.uint8]:
    """For each half step the index of the nearest of ascending levels; of two as near, the upper one."""
    lower_edges = (np.arange(BINS) - (2 * LIMIT + 1)) / 2
    middles = (levels[1:].astype(np.float64) + levels[:-1]) / 2
    return np.searchsorted(middles, lower_edges, side="right").astype(np.uint8)


def _gains(mass: _Sums, moment: _Sums, levels: _Sums) -> _Sums:
    """[upper, lower]: what it adds to the cost when values nearer to `lower` leave `upper` for it (inf: no such pair).

    Values below the middle m of two levels p < q move from q to p. Their cost then changes by the sum of
    w * ((x - p)**2 - (x - q)**2) = (q - p) * (2 * w * x - w * (p + q)) over x < m, so prefix sums are all it takes.
    """
    count = len(levels)
    # The sum over x < (levels[i] + levels[j]) / 2 is at i + j, which makes a view with one row a level.
    below = sliding_window_view(np.cumsum(mass)[: 2 * count - 1], count)
    moment_below = sliding_window_view(np.cumsum(moment)[: 2 * count - 1], count)
    upper, lower = levels[:, None], levels[None, :]
    gain = (upper - lower) * (2 * moment_below - below * (upper + lower))
    return np.where(lower < upper, gain, np.inf)
