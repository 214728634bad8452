"""Systems against each other on the same rows: each one's figures, what one loses to another, and the gate's rule."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.evaluation.intervals import Difference, Statistic, mean_of, paired_bootstrap
from mobilekit.evaluation.metric import Metric, Metrics
from mobilekit.evaluation.metrics import ACCURACY, PEARSON, TAG_ACCURACY, metrics_for

POINTS = 100
LEAST_COSINE = "least_cosine"
# Answers that are all the same are a fault where so many different ones of the other system hardly come by chance to
# none (one-sided); values and embeddings where they spread less than this share of the other's.
_CHANCE = 0.025
_LEAST_SPREAD = 1e-3
# What float32 may make of equal rows, of the largest value.
_RESOLUTION = 1e-6


@dataclass(frozen=True)
class Drop:
    """What the second of two systems loses on the same rows, in points (hundredths of the metric): the figure and its
    paired 95 % interval. Below 0 it gains."""

    points: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{shown(self.points)} points lost, {self.range} in 95 %"

    @property
    def range(self) -> str:
        """The interval in words."""
        return f"{shown(self.low)} to {shown(self.high)}"

    def passes(self, most: float) -> bool:
        """Whether it is no more than `most` points."""
        return self.points <= most

    def may_exceed(self, most: float) -> bool:
        """Whether on other rows of the kind it may be more: `most` lies inside the interval, or below it."""
        return self.high > most


@dataclass(frozen=True)
class Yardstick:
    """What systems are measured with on the same rows.

    metrics, references: of the task, where rows have labels; else None: then answers are held against those of another
    system, by `agreement`.
    """

    agreement: Metric
    metrics: Metrics | None = None
    references: Any = None

    @property
    def name(self) -> str:
        """Of the figure that decides."""
        return self.agreement.name if self.metrics is None else self.metrics.main.name

    def figures(self, given: Any, base: Any) -> dict[str, float]:
        """All figures of a system's answers. base: the answers that agreement is with; None: of no other system."""
        found = {} if self.metrics is None else dict(self.metrics.scores(given, self.references).values)
        if base is None:
            return found
        found[self.agreement.name] = self.agreement(given, base)
        if self.agreement is COSINE:
            found[LEAST_COSINE] = float(_cosines(given, base).min())
        return found

    def drop(self, first: Any, second: Any) -> Drop:
        """What `second` loses to `first`; without labels, what its agreement with it lacks of 100 %."""
        if self.metrics is None:
            agreement, count = self.agreement.statistic(second, first)
            return _in_points(paired_bootstrap(lambda rows: 1.0, agreement, count))
        main = self.metrics.main
        (ours, count), (theirs, _) = (main.statistic(each, self.references) for each in (first, second))
        return _in_points(paired_bootstrap(ours, theirs, count))


def shown(points: float) -> str:
    """Points as a message has them, and never as -0.00."""
    return f"{round(points, 2) + 0.0:.2f}"


def yardstick(task: str, problem_type: str | None, labels: int, references: Any = None) -> Yardstick:
    """The measure for a task's answers (as `metrics_for` takes them; embeddings [n, width]; ids of words).

    references: the right answers, None where rows have no labels. Agreement is the share of equal answers, the
    correlation of values, the mean cosine of embeddings.
    """
    agreement = {"sentence-embedding": COSINE, "token-classification": SAME_TAGS}.get(task, SAME_ANSWERS)
    if task == "sequence-classification" and problem_type == "regression":
        agreement = CORRELATION
    if references is None:
        return Yardstick(agreement)
    return Yardstick(agreement, metrics_for(task, problem_type, labels), references)


def is_constant(given: Any, base: Any) -> bool:
    """Whether a system says the same of all rows, and another one, `base`, clearly does not."""
    if isinstance(base, np.ndarray) and base.dtype.kind == "f":
        # A single row, or equal ones, differ by what float32 rounds at most, whoever answers.
        differ = _spread(base) > _RESOLUTION * float(np.abs(base).max())
        return differ and _spread(given) <= _LEAST_SPREAD * _spread(base)
    ours, theirs = _answers(given), _answers(base)
    others = sum(answer != ours[0] for answer in theirs)
    if len(set(ours)) > 1 or len(set(theirs)) == 1:
        return False
    return (1 - others / len(theirs)) ** len(theirs) <= _CHANCE


def _answers(given: Any) -> list[Hashable]:
    if isinstance(given, np.ndarray):
        return [tuple(row) if given.ndim > 1 else row for row in given.tolist()]
    return list(chain.from_iterable(given)) if given and not isinstance(given[0], str) else list(given)


def _spread(values: NDArray[np.floating]) -> float:
    rows = values.reshape(len(values), -1).astype(np.float64)
    return float(np.sqrt(((rows - rows.mean(0)) ** 2).sum(1).mean()))


def _in_points(found: Difference) -> Drop:
    # Hundredths of a share are no binary fractions: 0.5 points have to be 0.5 points.
    return Drop(*(round(POINTS * value, 6) for value in (found.value, found.interval.low, found.interval.high)))


def _cosines(given: Any, base: Any) -> NDArray[np.float64]:
    first, second = np.asarray(given, np.float64), np.asarray(base, np.float64)
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return np.asarray((first * second).sum(1) / np.maximum(lengths, 1e-12), np.float64)


def _mean_cosine(given: Any, base: Any) -> Statistic:
    return mean_of(_cosines(given, base))


SAME_ANSWERS = Metric("agreement", "share of equal answers", ACCURACY.prepare)
SAME_TAGS = Metric("agreement", "share of words with the same tag", TAG_ACCURACY.prepare)
CORRELATION = Metric("correlation", "linear correlation of the values", PEARSON.prepare)
COSINE = Metric("cosine", "mean cosine of the embeddings", _mean_cosine)
