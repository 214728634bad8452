"""The metrics of each task, from scikit-learn, scipy and seqeval; all between -1 and 1, higher is better."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import InputError, MissingExtraError, unknown
from mobilekit.evaluation.answers import exact_matches, token_f1s
from mobilekit.evaluation.intervals import Statistic, mean_of
from mobilekit.evaluation.metric import Metric, Metrics

_EXTRA = "train"


def metrics_for(task: str, problem_type: str | None = None, labels: int | None = None) -> Metrics:
    """The metrics of a task, and of the problem type where it is sequence classification.

    What they take, for predictions and references alike, one for each example: the index of a label (single label;
    with two `labels` F1 of the second one is among the metrics), a value (regression), 0 or 1 for each label (several
    labels: [examples, labels]), the tags of a sentence by name (token classification). Question answering: a text as
    prediction, the right answers' texts as reference, none where there is no answer. Raises InputError for a task
    without metrics.
    """
    if task == "token-classification":
        return Metrics((ENTITY_F1, ENTITY_PRECISION, ENTITY_RECALL, TAG_ACCURACY))
    if task == "question-answering":
        return Metrics((ANSWER_F1, EXACT_MATCH))
    if task != "sequence-classification":
        raise unknown(
            "task with metrics", task, ("sequence-classification", "token-classification", "question-answering")
        )
    if problem_type == "regression":
        return Metrics((PEARSON, SPEARMAN))
    if problem_type == "multi_label_classification":
        return Metrics((MICRO_F1, LABELS_MACRO_F1, ALL_LABELS))
    if problem_type not in (None, "single_label_classification"):
        known = ("single_label_classification", "multi_label_classification", "regression")
        raise unknown("problem type", problem_type, known)
    single = (ACCURACY, MACRO_F1, MATTHEWS)
    return Metrics((*single, BINARY_F1) if labels == 2 else single)


def _sklearn() -> Any:
    try:
        import sklearn.metrics
    except ImportError as error:
        raise MissingExtraError("scikit-learn", _EXTRA, "measuring a task's metric") from error
    return sklearn.metrics


def _accuracy(predictions: Any, references: Any) -> Statistic:
    right = np.asarray(predictions) == np.asarray(references)
    return mean_of(right if right.ndim == 1 else right.all(1))


def _macro_f1(predictions: Any, references: Any) -> Statistic:
    given, right, score = np.asarray(predictions), np.asarray(references), _sklearn().f1_score
    # The same labels in every drawing of examples, also where it misses one.
    labels = np.union1d(given, right)
    return lambda rows: float(score(right[rows], given[rows], labels=labels, average="macro", zero_division=0.0))


def _binary_f1(predictions: Any, references: Any) -> Statistic:
    given, right, score = np.asarray(predictions), np.asarray(references), _sklearn().f1_score
    if not set(np.union1d(given, right).tolist()) <= {0, 1}:
        raise InputError("f1: there are more than two labels; take macro_f1.")
    return lambda rows: float(score(right[rows], given[rows], pos_label=1, average="binary", zero_division=0.0))


def _matthews(predictions: Any, references: Any) -> Statistic:
    given, right, score = np.asarray(predictions), np.asarray(references), _sklearn().matthews_corrcoef

    def statistic(rows: NDArray[np.intp]) -> float:
        # Undefined where one side is constant; asked all the same, scikit-learn warns of what nobody can mend.
        if np.ptp(given[rows]) == 0 or np.ptp(right[rows]) == 0:
            return 0.0
        return float(score(right[rows], given[rows]))

    return statistic


def _correlation(name: str) -> Callable[[Any, Any], Statistic]:
    def prepare(predictions: Any, references: Any) -> Statistic:
        try:
            import scipy.stats
        except ImportError as error:
            raise MissingExtraError("scipy", _EXTRA, "measuring a correlation") from error
        given, right = np.asarray(predictions, np.float64), np.asarray(references, np.float64)
        correlation = getattr(scipy.stats, name)
        if not np.isfinite(given).all():
            raise InputError(f"prediction {int(np.argmin(np.isfinite(given)))} is not a finite number.")

        def statistic(rows: NDArray[np.intp]) -> float:
            # Undefined where one side is constant: a model that always says the same has learnt nothing.
            if np.ptp(given[rows]) == 0 or np.ptp(right[rows]) == 0:
                return 0.0
            return float(correlation(given[rows], right[rows]).statistic)

        return statistic

    return prepare


def _label_f1(average: str) -> Callable[[Any, Any], Statistic]:
    def prepare(predictions: Any, references: Any) -> Statistic:
        given, right, score = np.asarray(predictions), np.asarray(references), _sklearn().f1_score
        if given.ndim != 2 or given.shape != right.shape:
            raise InputError(
                f"{average}_f1: expected 0 or 1 for each example and label, got {given.shape}, {right.shape}."
            )
        return lambda rows: float(score(right[rows], given[rows], average=average, zero_division=0.0))

    return prepare


def _entities(value: Callable[[int, int, int], float]) -> Callable[[Any, Any], Statistic]:
    """value: of the counts of right, predicted and true entities."""

    def prepare(predictions: Any, references: Any) -> Statistic:
        try:
            from seqeval.metrics.sequence_labeling import get_entities
        except ImportError as error:
            raise MissingExtraError("seqeval", _EXTRA, "measuring entities") from error
        counts = []
        for given, right in zip(predictions, references, strict=True):
            _check_tags(given, right)
            found, true = set(get_entities(list(given))), set(get_entities(list(right)))
            counts.append((len(found & true), len(found), len(true)))
        table = np.array(counts)
        return lambda rows: value(*map(int, table[rows].sum(0)))

    return prepare


def _tag_accuracy(predictions: Any, references: Any) -> Statistic:
    counts = []
    for given, right in zip(predictions, references, strict=True):
        _check_tags(given, right)
        counts.append((sum(a == b for a, b in zip(given, right, strict=True)), len(right)))
    table = np.array(counts)

    def statistic(rows: NDArray[np.intp]) -> float:
        right, total = table[rows].sum(0)
        return float(_share(right, total))

    return statistic


def _check_tags(given: Sequence[str], right: Sequence[str]) -> None:
    if len(given) != len(right):
        raise InputError(f"tags: {len(given)} predicted for a sentence of {len(right)} words.")


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


ACCURACY = Metric("accuracy", "share of examples with the right label", _accuracy)
MACRO_F1 = Metric("macro_f1", "mean over the labels of each one's F1", _macro_f1)
BINARY_F1 = Metric("f1", "F1 of the second label", _binary_f1)
MATTHEWS = Metric("matthews", "Matthews correlation (phi), 0 is chance", _matthews)
PEARSON = Metric("pearson", "linear correlation; 0 where a side is constant", _correlation("pearsonr"))
SPEARMAN = Metric("spearman", "correlation of ranks; 0 where a side is constant", _correlation("spearmanr"))
MICRO_F1 = Metric("micro_f1", "F1 over all decisions about labels", _label_f1("micro"))
LABELS_MACRO_F1 = Metric("macro_f1", "mean over the labels of each one's F1", _label_f1("macro"))
ALL_LABELS = Metric("all_labels", "share of examples with exactly the right labels", _accuracy)
ENTITY_F1 = Metric(
    "entity_f1",
    "F1 of entities, right in kind and extent (CoNLL)",
    _entities(lambda hit, found, true: _share(2 * hit, found + true)),
)
ENTITY_PRECISION = Metric(
    "entity_precision",
    "share of the predicted entities that are right",
    _entities(lambda hit, found, true: _share(hit, found)),
)
ENTITY_RECALL = Metric(
    "entity_recall", "share of the true entities that are found", _entities(lambda hit, found, true: _share(hit, true))
)
TAG_ACCURACY = Metric("accuracy", "share of words with the right tag", _tag_accuracy)
EXACT_MATCH = Metric(
    "exact_match", "share of questions answered word for word", lambda a, b: mean_of(exact_matches(a, b))
)
ANSWER_F1 = Metric("f1", "overlap of words with the best right answer, mean", lambda a, b: mean_of(token_f1s(a, b)))
