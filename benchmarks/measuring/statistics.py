"""What many timings come to. The apps take the same figures in the same way, so that reports can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mobilekit.evaluation.intervals import paired_bootstrap

# Runs slower or faster than that share at either end are left out of the mean.
_CUT = 0.1
# A spread above this says that other work ran beside: timings on an idle machine stay within some hundredths.
NOISY = 0.35


@dataclass(frozen=True)
class Summary:
    """Milliseconds of runs of the same work.

    middle80_mean: mean of those between the 10th and the 90th percentile. spread: (90th - 10th percentile) / median.
    Percentiles are interpolated linearly.
    """

    median: float
    p90: float
    middle80_mean: float
    spread: float
    runs: int

    @property
    def noisy(self) -> bool:
        """Whether other work on the machine is in it."""
        return self.spread > NOISY


@dataclass(frozen=True)
class Ratio:
    """How many times slower one is than another: the median over rounds, and its 95 % interval."""

    median: float
    low: float
    high: float

    @property
    def ranked(self) -> bool:
        """Whether the rounds agree on which is faster."""
        return not self.low <= 1 <= self.high


def summary(milliseconds: ArrayLike) -> Summary:
    """Figures of runs, one at least."""
    values = np.asarray(milliseconds, np.float64)
    low, middle, high = np.quantile(values, [_CUT, 0.5, 1 - _CUT])
    inner = values[(values >= low) & (values <= high)]
    mean = float(inner.mean()) if inner.size else float(middle)
    return Summary(float(middle), float(high), mean, float((high - low) / middle), values.size)


def ratio(slower: Sequence[Sequence[float]], faster: Sequence[Sequence[float]]) -> Ratio:
    """Of two, measured in the same rounds: [rounds][runs] milliseconds of each; the ratio is taken within a round."""
    logs = np.log([np.median(first) / np.median(second) for first, second in zip(slower, faster, strict=True)])
    found = paired_bootstrap(lambda rows: float(np.median(logs[rows])), lambda rows: 0.0, len(logs))
    return Ratio(*(float(np.exp(value)) for value in (found.value, found.interval.low, found.interval.high)))
