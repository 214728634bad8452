"""Metrics against values computed by hand and against the libraries' own functions."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest

from mobilekit.errors import InputError, MissingExtraError
from mobilekit.evaluation import metrics as m
from mobilekit.evaluation.intervals import bootstrap
from mobilekit.evaluation.metric import Metric
from mobilekit.evaluation.metrics import metrics_for

# Of 3 zeros 2 are found, of 5 ones 4: true positives 4, false positives 1, false negatives 1, true negatives 2.
REFERENCES = [0, 0, 0, 1, 1, 1, 1, 1]
PREDICTIONS = [0, 0, 1, 1, 1, 1, 1, 0]
TRUE = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-ORG", "I-ORG"], ["O"]]
# The person is right, the place is called an organisation, the organisation is cut short, one is made up.
FOUND = [["B-PER", "I-PER", "O", "B-ORG"], ["O", "B-ORG", "O"], ["B-LOC"]]


def test_single_label_by_hand() -> None:
    metrics = metrics_for("sequence-classification", "single_label_classification", 2)
    scores = metrics.scores(PREDICTIONS, REFERENCES)
    f1_of_ones, f1_of_zeros = 2 * 4 / (2 * 4 + 1 + 1), 2 * 2 / (2 * 2 + 1 + 1)
    phi = (4 * 2 - 1 * 1) / math.sqrt((4 + 1) * (4 + 1) * (2 + 1) * (2 + 1))
    assert (scores.main, scores.value, scores.count) == ("accuracy", 6 / 8, 8)
    assert scores.values == pytest.approx(
        {"accuracy": 0.75, "macro_f1": (f1_of_ones + f1_of_zeros) / 2, "matthews": phi, "f1": f1_of_ones}
    )
    assert "f1" not in metrics_for("sequence-classification", None, 3).scores([0, 1, 2], [0, 1, 1]).values
    assert metrics_for("sequence-classification", None, 3).scores([0, 1, 2], [0, 1, 1]).values[
        "macro_f1"
    ] == pytest.approx((1 + 2 / 3 + 0) / 3)


def test_a_constant_answer_has_no_correlation() -> None:
    assert m.MATTHEWS([1] * 8, REFERENCES) == 0 and m.PEARSON([2.0, 2.0], [1.0, 3.0]) == 0
    assert m.SPEARMAN([1.0, 2.0], [3.0, 3.0]) == 0 and m.BINARY_F1([0] * 8, REFERENCES) == 0


def test_correlations_by_hand() -> None:
    scores = metrics_for("sequence-classification", "regression").scores([1, 2, 3, 5], [1.0, 3.0, 2.0, 4.0])
    # Deviations (-1.75, -0.75, 0.25, 2.25) and (-1.5, 0.5, -0.5, 1.5); ranks differ by 0, 1, 1, 0.
    assert scores.main == "pearson"
    assert scores.values["pearson"] == pytest.approx((2.625 - 0.375 - 0.125 + 3.375) / math.sqrt(8.75 * 5))
    assert scores.values["spearman"] == pytest.approx(1 - 6 * 2 / (4 * 15))
    with pytest.raises(InputError, match="prediction 1 is not a finite number"):
        m.PEARSON([1.0, float("nan")], [1.0, 2.0])


def test_several_labels_by_hand() -> None:
    right, given = [[1, 0, 1], [0, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 1, 1], [0, 0, 0]]
    scores = metrics_for("sequence-classification", "multi_label_classification").scores(given, right)
    # 2 right, 1 too many, 1 missed; by label F1 is 1, 1, 0.
    assert scores.values == pytest.approx({"micro_f1": 4 / 6, "macro_f1": 2 / 3, "all_labels": 1 / 3})
    assert scores.main == "micro_f1"
    with pytest.raises(InputError, match=r"expected 0 or 1 for each example and label, got \(1,\), \(1,\)"):
        m.MICRO_F1([1], [1])


def test_entities_by_hand_and_as_seqeval() -> None:
    from seqeval.metrics import accuracy_score, f1_score, precision_score, recall_score

    scores = metrics_for("token-classification").scores(FOUND, TRUE)
    # One of four found is right, one of three true is found; five of eight words have the right tag.
    assert scores.values == pytest.approx(
        {"entity_f1": 2 / 7, "entity_precision": 1 / 4, "entity_recall": 1 / 3, "accuracy": 5 / 8}
    )
    assert scores.main == "entity_f1"
    generator = np.random.default_rng(0)
    tags = np.array(["O", "O", "B-A", "I-A", "B-B", "I-B"])
    true, given = ([tags[generator.integers(0, 6, n)].tolist() for n in range(1, 60)] for _ in range(2))
    theirs = f1_score(true, given), precision_score(true, given), recall_score(true, given), accuracy_score(true, given)
    assert tuple(metrics_for("token-classification").scores(given, true).values.values()) == pytest.approx(theirs)
    with pytest.raises(InputError, match="2 predicted for a sentence of 1 words"):
        m.ENTITY_F1([["O", "O"]], [["O"]])
    assert m.ENTITY_F1([["O"]], [["O"]]) == 0


@pytest.mark.parametrize(
    ("prediction", "answers", "exact", "f1"),
    [
        ("The Eiffel-Tower!", ["eiffeltower"], 1, 1),
        ("a big  dog", ["big dog", "x"], 1, 1),
        ("the dog the dog", ["dog"], 0, 2 / 3),
        ("in the year 1889", ["1889", "March 1889"], 0, 1 / 2),
        ("cat", ["dog"], 0, 0),
        ("", [], 1, 1),
        ("cat", [], 0, 0),
        ("", ["dog"], 0, 0),
        ("the", ["a", "dog"], 0, 0),
        ("the", ["a"], 1, 1),
        ("theatre", ["atre"], 0, 0),
    ],
)
def test_answers_by_the_definition_of_squad(prediction: str, answers: list[str], exact: float, f1: float) -> None:
    scores = metrics_for("question-answering").scores([prediction], [answers])
    assert scores.main == "f1" and scores.values == pytest.approx({"f1": f1, "exact_match": exact})


def test_metrics_over_drawn_rows_are_those_of_the_rows() -> None:
    cases: list[tuple[Metric, Any, Any]] = [
        (m.ACCURACY, PREDICTIONS, REFERENCES),
        (m.BINARY_F1, PREDICTIONS, REFERENCES),
        (m.MATTHEWS, PREDICTIONS, REFERENCES),
        (m.PEARSON, [1.0, 2.0, 2.5], [1.0, 3.0, 2.0]),
        (m.ENTITY_F1, FOUND, TRUE),
        (m.ANSWER_F1, ["a b", "c", ""], [["b"], ["d"], []]),
    ]
    for metric, given, right in cases:
        statistic, count = metric.statistic(given, right)
        rows = np.array([0, 0, 2, 1])
        assert statistic(rows) == pytest.approx(metric([given[i] for i in rows], [right[i] for i in rows])), metric.name
        interval = bootstrap(statistic, count, samples=50)
        assert interval.low <= metric(given, right) <= interval.high


def test_macro_f1_counts_the_same_labels_in_every_drawing() -> None:
    statistic, _ = m.MACRO_F1.statistic([0, 1, 2], [0, 1, 2])
    assert statistic(np.array([0, 1, 1])) == pytest.approx(2 / 3)


def test_wrong_questions_are_refused() -> None:
    with pytest.raises(InputError, match="accuracy: 1 predictions for 2 examples"):
        m.ACCURACY([1], [1, 0])
    with pytest.raises(InputError, match="accuracy: 0 predictions for 0 examples"):
        m.ACCURACY([], [])
    with pytest.raises(InputError, match="f1: there are more than two labels"):
        m.BINARY_F1([0, 1, 2], [0, 1, 1])
    with pytest.raises(InputError, match="task with metrics 'fill-mask' is unknown"):
        metrics_for("fill-mask")
    with pytest.raises(InputError, match="problem type 'regresion' is unknown; did you mean 'regression'"):
        metrics_for("sequence-classification", "regresion")


@pytest.mark.parametrize(
    ("module", "metric", "package"),
    [
        ("sklearn", m.MACRO_F1, "scikit-learn"),
        ("scipy", m.PEARSON, "scipy"),
        ("seqeval.metrics", m.ENTITY_F1, "seqeval"),
    ],
)
def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch, module: str, metric: Metric, package: str) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == module.split(".")[0]]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        MissingExtraError, match=rf"{package}, which is not installed: pip install 'mobilekit\[train\]'"
    ):
        metric([1], [1])
