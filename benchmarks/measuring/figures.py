"""A system's answers against the right ones, its float model's and its teacher's, as a report has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import short
from mobilekit.evaluation.comparison import POINTS, SAME_ANSWERS, Yardstick
from mobilekit.evaluation.divergence import divergence
from mobilekit.evaluation.embeddings import neighbour_agreement, pair_correlation
from mobilekit.evaluation.intervals import Statistic, bootstrap, mcnemar, paired_bootstrap, wilson
from mobilekit.evaluation.metric import Metric
from mobilekit.evaluation.metrics import ACCURACY
from mobilekit.evaluation.retained import retained_share
from mobilekit.models.config import HeadConfig

# The last token of each bucket of lengths.
_BUCKETS = (16, 32, 64, 128, 1 << 30)
_LISTED = 50
# Characters of a row's labels: a report takes no longer text.
_LABEL = 200
# Nearest neighbours and correlations need some rows.
_LEAST_EMBEDDINGS = 3
_SEVERAL = "multi_label_classification"
Json = dict[str, Any]


@dataclass(frozen=True)
class Said:
    """What a system says. places: of the rows that it was asked, among the data's. given: answers as metrics take them;
    references: the right ones, None without labels. logits: [rows, labels] of a classifier. tokens: how many each row
    became; cut: rows that had more.
    """

    places: NDArray[np.intp]
    given: Any
    references: Any
    logits: NDArray[np.float32] | None
    tokens: NDArray[np.int64]
    cut: int

    def at(self, places: NDArray[np.intp]) -> Said:
        """The same of fewer rows, all of them among its own; itself where these are all."""
        if len(places) == len(self.places):
            return self
        kept = np.searchsorted(self.places, places)
        logits = None if self.logits is None else self.logits[kept]
        return Said(
            places, _taken(self.given, kept), _taken(self.references, kept), logits, self.tokens[kept], self.cut
        )


def figures(yard: Yardstick, said: Said, base: Said | None, teacher: Said | None, head: HeadConfig) -> Json:
    """All figures of one system; base: the float model, teacher: both on the same rows, where there are any."""
    main, held = _main(yard, said, base)
    statistic, count = main.statistic(said.given, held)
    values = yard.figures(said.given, None if base is None else base.given)
    if head.task == "sentence-embedding" and base is not None and count >= _LEAST_EMBEDDINGS:
        values["pair_spearman"] = pair_correlation(said.given, base.given)
        values["same_neighbour"] = neighbour_agreement(said.given, base.given)
    return {
        "metric": main.name,
        "value": _interval(main, statistic, count),
        "values": {name: round(value, 6) for name, value in values.items()},
        "agreement": None if base is None else _agreement(yard.agreement, said, base),
        "divergence_nats": _divergence(said, base, head),
        "from_float": _lost(yard, base, said),
        "from_teacher": _lost(yard, teacher, said),
        "retained": _retained(yard, statistic, teacher, count),
        "by_length": _by_length(statistic, said.tokens),
        "changed": _changed(said, base, head),
    }


def _main(yard: Yardstick, said: Said, base: Said | None) -> tuple[Metric, Any]:
    """The figure that decides, and what answers are held against for it."""
    if yard.metrics is not None:
        return yard.metrics.main, said.references
    return yard.agreement, said.given if base is None else base.given


def _interval(metric: Metric, statistic: Statistic, count: int) -> Json:
    value = statistic(np.arange(count))
    # Shares of equal answers: right also where all of few are.
    shares = metric in (ACCURACY, SAME_ANSWERS)
    found = wilson(round(value * count), count) if shares else bootstrap(statistic, count)
    return {"value": round(value, 6), "low": round(found.low, 6), "high": round(found.high, 6)}


def _agreement(metric: Metric, said: Said, base: Said) -> Json:
    return _interval(metric, *metric.statistic(said.given, base.given))


def _divergence(said: Said, base: Said | None, head: HeadConfig) -> float | None:
    if base is None or base.logits is None or said.logits is None:
        return None
    return round(divergence(said.logits, base.logits, head.problem_type == _SEVERAL), 9)


def _lost(yard: Yardstick, first: Said | None, second: Said) -> Json | None:
    """What `second` loses to `first`, in points of the task's metric; None without labels, or for one and the same."""
    if first is None or yard.metrics is None or first is second:
        return None
    main = yard.metrics.main
    (ours, count), (theirs, _) = (main.statistic(each.given, second.references) for each in (first, second))
    found, p_value = paired_bootstrap(ours, theirs, count), None
    if main is ACCURACY:
        right = [np.asarray(each.given) == np.asarray(second.references) for each in (first, second)]
        p_value = mcnemar(*(each if each.ndim == 1 else each.all(1) for each in right))
    return {
        "points": round(POINTS * found.value, 6) + 0.0,
        "low": round(POINTS * found.interval.low, 6) + 0.0,
        "high": round(POINTS * found.interval.high, 6) + 0.0,
        "p_value": found.p_value if p_value is None else p_value,
    }


def _retained(yard: Yardstick, statistic: Statistic, teacher: Said | None, count: int) -> Json | None:
    if teacher is None or yard.metrics is None:
        return None
    found = retained_share(statistic, yard.metrics.main.statistic(teacher.given, teacher.references)[0], count)
    if found is None:
        return None
    share, interval = found
    return {"value": round(share, 6), "low": round(interval.low, 6), "high": round(interval.high, 6)}


def _by_length(statistic: Statistic, tokens: NDArray[np.int64]) -> list[Json]:
    found, first = [], 1
    for last in _BUCKETS:
        rows = np.flatnonzero((tokens >= first) & (tokens <= last))
        if rows.size:
            highest = min(last, int(tokens.max()))
            found.append({"from": first, "to": highest, "rows": int(rows.size), "value": round(statistic(rows), 6)})
        first = last + 1
    return found


def _changed(said: Said, base: Said | None, head: HeadConfig) -> Json | None:
    """Rows whose label is another than the float model's; None where answers are no labels."""
    if base is None or base is said or head.task != "sequence-classification" or head.problem_type == "regression":
        return None
    ours, theirs = np.asarray(said.given), np.asarray(base.given)
    changed = _differ(ours, theirs)
    right = None if said.references is None else np.asarray(said.references)
    rows = np.flatnonzero(changed)
    listed = [
        {
            "row": int(said.places[i]) + 1,
            "right": None if right is None else _label(right[i], head),
            "float": _label(theirs[i], head),
            "given": _label(ours[i], head),
        }
        for i in rows[:_LISTED]
    ]
    better = 0 if right is None else int((changed & ~_differ(ours, right)).sum())
    worse = 0 if right is None else int((changed & ~_differ(theirs, right)).sum())
    return {"count": int(rows.size), "better": better, "worse": worse, "rows": listed}


def _differ(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.bool_]:
    unequal: NDArray[np.bool_] = (first != second).reshape(len(first), -1).any(1)
    return unequal


def _label(answer: Any, head: HeadConfig) -> str:
    indices = [int(answer)] if np.ndim(answer) == 0 else np.flatnonzero(answer)
    return short(", ".join(head.labels[i] for i in indices) or "-", _LABEL)


def _taken(values: Any, places: NDArray[np.intp]) -> Any:
    if values is None or isinstance(values, np.ndarray):
        return None if values is None else values[places]
    return [values[i] for i in places]
