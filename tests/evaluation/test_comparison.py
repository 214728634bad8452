"""What one system loses to another on the same rows: figures by hand, and answers that are all the same."""

from __future__ import annotations

import numpy as np
import pytest

from mobilekit.evaluation.comparison import Drop, is_constant, shown, yardstick

SINGLE = ("sequence-classification", "single_label_classification", 2)
RIGHT = np.array([0, 1] * 20)


def changed(count: int) -> np.ndarray:
    """The right answers, the first `count` of them wrong."""
    return np.where(np.arange(len(RIGHT)) < count, 1 - RIGHT, RIGHT)


def test_a_drop_of_accuracy_by_hand() -> None:
    yard = yardstick(*SINGLE, references=RIGHT)
    first, second = changed(2), changed(8)
    assert yard.name == "accuracy"
    # 38 of 40 right against 32 of 40.
    assert yard.figures(first, first)["accuracy"] == 0.95 and yard.figures(second, first)["accuracy"] == 0.8
    assert yard.figures(second, first)["agreement"] == 34 / 40
    drop = yard.drop(first, second)
    assert drop.points == 15 and 0 < drop.low < 10 and 20 < drop.high < 30
    assert yard.drop(second, first) == Drop(-15, -drop.high, -drop.low)
    assert yard.drop(second, second) == Drop(0, 0, 0)


def test_the_interval_is_of_rows_that_are_paired() -> None:
    # Both wrong on the same ten rows: whatever is drawn, there is no difference.
    assert yardstick(*SINGLE, references=RIGHT).drop(changed(10), changed(10)).high == 0


def test_the_rule_of_the_gate() -> None:
    drop = Drop(0.5, -0.2, 1.1)
    assert drop.passes(0.5) and not drop.passes(0.49)
    assert drop.may_exceed(1.0) and not drop.may_exceed(1.1)
    assert str(drop) == "0.50 points lost, -0.20 to 1.10 in 95 %" and shown(-0.001) == "0.00"


def test_without_labels_what_lacks_of_agreement_is_lost() -> None:
    yard = yardstick(*SINGLE)
    assert yard.name == "agreement" and yard.figures(changed(4), RIGHT) == {"agreement": 0.9}
    drop = yard.drop(RIGHT, changed(4))
    assert drop.points == 10 and 0 < drop.low < drop.points < drop.high
    assert yard.figures(RIGHT, None) == {}


@pytest.mark.parametrize(
    ("task", "kind", "first", "second", "agreement"),
    [
        ("sequence-classification", "multi_label_classification", [[1, 0], [1, 1]], [[1, 0], [0, 1]], 0.5),
        ("token-classification", None, [["O", "B"], ["O", "O"]], [["O", "B"], ["O", "B"]], 0.75),
        ("question-answering", None, ["a b", "", "c"], ["a b", "", "d"], 2 / 3),
        ("fill-mask", None, [7, 8, 9, 9], [7, 8, 9, 1], 0.75),
        ("sequence-classification", "regression", [0.0, 1.0, 2.0], [5.0, 7.0, 9.0], 1.0),
        ("sentence-embedding", None, [[1.0, 0.0], [0.0, 2.0]], [[3.0, 0.0], [1.0, 1.0]], (1 + 0.5**0.5) / 2),
    ],
)
def test_agreement_of_every_kind_of_answer(
    task: str, kind: str | None, first: list, second: list, agreement: float
) -> None:
    given = [
        each if isinstance(first[0], str) or (kind is None and "token" in task) else np.array(each)
        for each in (first, second)
    ]
    yard = yardstick(task, kind, 2)
    found = yard.figures(given[1], given[0])
    assert found[yard.name] == pytest.approx(agreement)
    assert yard.drop(given[0], given[1]).points == pytest.approx(100 * (1 - agreement), abs=1e-5)
    if task == "sentence-embedding":
        assert yard.name == "cosine" and found["least_cosine"] == pytest.approx(0.5**0.5)


def test_tags_and_answers_have_the_metrics_of_their_task() -> None:
    tags = [["B-PER", "O"], ["O", "O"]]
    assert yardstick("token-classification", None, 5, tags).figures([["O", "O"], ["O", "O"]], tags)["entity_f1"] == 0
    answers = yardstick("question-answering", None, 2, [("a film",), ()])
    assert answers.figures(["film", ""], ["film", ""]) == {"f1": 1.0, "exact_match": 1.0, "agreement": 1.0}


def test_answers_that_are_all_the_same_are_seen() -> None:
    same = np.zeros(40, int)
    assert is_constant(same, RIGHT) and is_constant(same, changed(3))
    # The other one says nothing else either, or so rarely that chance may have left it out.
    assert not is_constant(same, same) and not is_constant(same, np.arange(40) == 7)
    assert not is_constant(RIGHT, changed(3))
    assert is_constant(same, np.arange(40) < 4) and not is_constant(same, np.arange(40) < 3)
    # All the same, and never what the other one says.
    assert is_constant(np.full(40, 2), RIGHT)


def test_other_constant_answers_are_seen_too() -> None:
    tags = [["O", "B"], ["O", "I"], ["B", "O"]]
    assert is_constant([["O", "O"]] * 3, tags) and not is_constant(tags, tags)
    assert is_constant([""] * 4, ["a", "b", "c", ""]) and not is_constant([""] * 4, [""] * 4)
    assert is_constant(np.zeros((4, 2), int), np.array([[1, 0], [0, 1]] * 2))
    values = np.linspace(-1, 1, 9)
    assert is_constant(np.full(9, 0.3) + 1e-7 * values, values) and not is_constant(0.1 * values, values)
    vectors = np.random.default_rng(0).normal(size=(9, 8)).astype(np.float32)
    assert not is_constant(vectors[:1], vectors[1:2]) and not is_constant(values[:1], values[1:2])
    noise = np.tile(vectors[1], (3, 1)) * (1 + 1e-7 * np.arange(3, dtype=np.float32)[:, None])
    assert not is_constant(np.tile(vectors[0], (3, 1)), noise)
    assert is_constant(np.tile(vectors[0], (9, 1)), vectors) and not is_constant(vectors[::-1], vectors)
