"""How sure a figure is that was measured on some examples, and whether two systems differ on the same ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mobilekit.errors import InputError

# Rows of the examples that are counted, each as often as it appears -> a figure.
Statistic = Callable[[NDArray[np.intp]], float]
LEVEL = 0.95
SAMPLES = 1000


@dataclass(frozen=True)
class Interval:
    """Where the figure lies with probability `level`."""

    low: float
    high: float
    level: float = LEVEL

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Difference:
    """First system less second on the same examples; p_value: of there being none, two-sided."""

    value: float
    interval: Interval
    p_value: float


def wilson(successes: int, total: int, level: float = LEVEL) -> Interval:
    """Interval of a share, such as accuracy (Wilson 1927): right also near 0 and 1, and where `total` is small.

    Raises InputError when the counts make no share, or `level` is not between 0 and 1.
    """
    if not 0 <= successes <= total or total < 1:
        raise InputError(f"interval: {successes} of {total} is not a share.")
    return _around(successes / total, total, level)


def wilson_of_groups(shares: ArrayLike, draws: int, level: float = LEVEL) -> Interval:
    """Interval of a share that was measured by several draws from each of some groups (sentences of one document).

    shares: [groups], of each group's `draws` the share that succeeded. Draws of one group may resemble each other:
    Wilson's interval is taken for as many independent ones as have the same variance (the effective sample size; Kish
    1965), at least one a group and at most all. Raises InputError as `wilson` does.
    """
    array = np.asarray(shares, np.float64)
    if array.ndim != 1 or not array.size or draws < 1 or array.min() < 0 or array.max() > 1:
        raise InputError(f"interval: {draws} draws from each of {array.size} groups make no shares.")
    share, groups = float(array.mean()), array.size
    variance = float(array.var(ddof=1)) / groups if groups > 1 else 0.0
    independent = share * (1 - share) / variance if variance else groups
    return _around(share, min(max(independent, groups), groups * draws), level)


def _around(share: float, total: float, level: float) -> Interval:
    z = NormalDist().inv_cdf(0.5 + _checked(level) / 2)
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(share * (1 - share) / total + (z / (2 * total)) ** 2)
    # At 0 and at 1 rounding would leave the share itself outside.
    return Interval(max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half)), level)


def bootstrap(
    statistic: Statistic, count: int, samples: int = SAMPLES, level: float = LEVEL, seed: int = 0
) -> Interval:
    """Percentile bootstrap interval (Efron 1979) of a figure over `count` examples, for any metric.

    Examples are drawn with replacement `samples` times; the same seed gives the same interval. Draws of which there is
    no figure (nan) are left out. Raises InputError when there are no examples.
    """
    values = np.array([statistic(rows) for rows in _draws(count, samples, seed)])
    return _percentiles(values[~np.isnan(values)], level)


def paired_bootstrap(
    first: Statistic, second: Statistic, count: int, samples: int = SAMPLES, level: float = LEVEL, seed: int = 0
) -> Difference:
    """How two systems differ on the same `count` examples (Koehn 2004): each draw of examples measures both.

    p_value: twice the share of draws in which the difference has the other sign or is none, between 2 / (samples + 1)
    and 1. Raises InputError when there are no examples.
    """
    drawn = np.array([first(rows) - second(rows) for rows in _draws(count, samples, seed)])
    everything = np.arange(count)
    tail = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    p_value = min(1.0, 2 * (tail + 1) / (samples + 1))
    return Difference(first(everything) - second(everything), _percentiles(drawn, level), p_value)


def mean_of(values: ArrayLike) -> Statistic:
    """The mean of a value an example (right or wrong, an F1) as a statistic."""
    array = np.asarray(values, np.float64)
    return lambda rows: float(array[rows].mean())


def mcnemar(first_right: Sequence[bool] | NDArray[np.bool_], second_right: Sequence[bool] | NDArray[np.bool_]) -> float:
    """Exact two-sided p-value of two classifiers being equally often right (McNemar 1947).

    first_right, second_right: [examples], of the same ones. Only those that one got right and the other wrong count:
    with no difference they fall either way like a coin. Raises InputError when the lengths differ.
    """
    first, second = np.asarray(first_right, bool), np.asarray(second_right, bool)
    if first.shape != second.shape or first.ndim != 1:
        raise InputError(f"comparison: {first.size} and {second.size} examples; both systems need the same ones.")
    only_first, only_second = int((first & ~second).sum()), int((~first & second).sum())
    return _coin(min(only_first, only_second), only_first + only_second)


def _coin(fewer: int, tosses: int) -> float:
    """Two-sided probability of at most `fewer` heads, or as few tails, in tosses of a fair coin."""
    if 2 * fewer >= tosses:
        return 1.0
    # In logarithms: with thousands of tosses the binomial coefficients leave a float's range.
    logs = [math.lgamma(tosses + 1) - math.lgamma(k + 1) - math.lgamma(tosses - k + 1) for k in range(fewer + 1)]
    return min(1.0, 2 * sum(math.exp(value - tosses * math.log(2)) for value in logs))


def _draws(count: int, samples: int, seed: int) -> Iterator[NDArray[np.intp]]:
    if count < 1 or samples < 1:
        raise InputError(f"interval: {count} examples and {samples} samples; both have to be at least 1.")
    generator = np.random.default_rng(seed)
    for _ in range(samples):
        yield generator.integers(0, count, count)


def _percentiles(values: NDArray[np.float64], level: float) -> Interval:
    tail = (1 - _checked(level)) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return Interval(float(low), float(high), level)


def _checked(level: float) -> float:
    if not 0 < level < 1:
        raise InputError(f"interval: level {level} is not between 0 and 1.")
    return level
