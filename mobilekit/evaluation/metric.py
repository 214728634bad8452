"""What a metric is, and figures that were measured with some."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mobilekit.errors import InputError
from mobilekit.evaluation.intervals import Statistic


@dataclass(frozen=True)
class Metric:
    """One metric.

    prepare: predictions and references of the same examples -> the metric as a function of the examples' rows, which
    intervals and comparisons call on many drawings of them.
    """

    name: str
    about: str
    prepare: Callable[[Any, Any], Statistic]

    def __call__(self, predictions: Sequence[Any] | ArrayLike, references: Sequence[Any] | ArrayLike) -> float:
        """The metric over all examples. Raises InputError when there are none, or not as many of both."""
        statistic, count = self.statistic(predictions, references)
        return statistic(np.arange(count))

    def statistic(self, predictions: Any, references: Any) -> tuple[Statistic, int]:
        """The metric as a function of rows, and how many there are; raises InputError as a call does."""
        count = len(references)
        if len(predictions) != count or not count:
            raise InputError(f"{self.name}: {len(predictions)} predictions for {count} examples.")
        return self.prepare(predictions, references), count


@dataclass(frozen=True)
class Scores:
    """Figures of one system on one set of examples; main: the name of the one that decides."""

    main: str
    values: Mapping[str, float]
    count: int

    @property
    def value(self) -> float:
        """The figure that decides."""
        return self.values[self.main]


@dataclass(frozen=True)
class Metrics:
    """The metrics of a task, the one that decides first."""

    metrics: tuple[Metric, ...]

    @property
    def main(self) -> Metric:
        """The metric that decides."""
        return self.metrics[0]

    def scores(self, predictions: Any, references: Any) -> Scores:
        """All metrics; predictions and references are as `metrics_for` says."""
        values = {metric.name: metric(predictions, references) for metric in self.metrics}
        return Scores(self.main.name, values, len(references))
