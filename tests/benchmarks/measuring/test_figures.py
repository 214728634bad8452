"""What answers come to, against right ones, a float model's and a teacher's; by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.measuring.figures import Said, figures
from mobilekit.evaluation.comparison import yardstick
from mobilekit.models.config import HeadConfig

HEAD = HeadConfig("sequence-classification", ("negative", "positive"))
RIGHT = np.array([0, 1, 0, 1, 1, 0, 1, 0])
TOKENS = np.array([3, 16, 17, 20, 40, 64, 65, 500])


def said(given: Any, references: Any = RIGHT, logits: Any = None) -> Said:
    return Said(np.arange(len(given)), np.asarray(given), references, logits, TOKENS[: len(given)], 0)


def yard(references: Any = RIGHT, head: HeadConfig = HEAD) -> Any:
    kind = head.problem_type if head.task == "sequence-classification" else None
    return yardstick(head.task, kind, len(head.labels), references)


def test_accuracy_drops_and_changed_rows() -> None:
    float_model = said([0, 1, 0, 1, 1, 0, 1, 1])  # 7 of 8
    teacher = said(RIGHT)  # all
    own = said([0, 1, 0, 1, 0, 1, 1, 0])  # 6 of 8: two lost, one won
    found = figures(yard(), own, float_model, teacher, HEAD)
    assert found["value"]["value"] == 0.75
    assert found["agreement"]["value"] == 0.625
    assert found["from_float"]["points"] == pytest.approx(12.5)
    assert found["from_teacher"]["points"] == pytest.approx(25)
    assert found["retained"]["value"] == pytest.approx(0.75)
    # Two against one of a fair coin: 1.
    assert found["from_float"]["p_value"] == 1
    changed = found["changed"]
    assert (changed["count"], changed["better"], changed["worse"]) == (3, 1, 2)
    assert changed["rows"][0] == {"row": 5, "right": "positive", "float": "positive", "given": "negative"}


def test_rows_of_a_bucket_of_lengths() -> None:
    found = figures(yard(), said(RIGHT), None, None, HEAD)["by_length"]
    assert [(each["from"], each["to"], each["rows"]) for each in found] == [
        (1, 16, 2),
        (17, 32, 2),
        (33, 64, 2),
        (65, 128, 1),
        (129, 500, 1),
    ]
    assert {each["value"] for each in found} == {1.0}


def test_the_model_that_others_are_held_against_loses_nothing_to_itself() -> None:
    found = figures(yard(), said(RIGHT), None, None, HEAD)
    assert all(found[name] is None for name in ("agreement", "from_float", "from_teacher", "retained", "changed"))


def test_divergence_is_seen_where_answers_are_equal() -> None:
    sure, unsure = np.array([[4.0, -4.0]] * 8), np.array([[0.1, -0.1]] * 8)
    base = said([0] * 8, logits=sure.astype(np.float32))
    same = figures(yard(), base, said([0] * 8, logits=sure.astype(np.float32)), None, HEAD)
    assert same["divergence_nats"] == 0
    found = figures(yard(), said([0] * 8, logits=unsure.astype(np.float32)), base, None, HEAD)
    assert found["agreement"]["value"] == 1
    p, q = (np.exp(v[0]) / np.exp(v[0]).sum() for v in (sure, unsure))
    assert found["divergence_nats"] == pytest.approx(float((p * np.log(p / q)).sum()), rel=1e-6)


def test_without_labels_agreement_decides() -> None:
    found = figures(yard(None), said([0, 1, 1, 1], None), said([0, 1, 0, 1], None), None, HEAD)
    assert found["metric"] == "agreement"
    assert found["value"]["value"] == 0.75
    assert found["from_float"] is None
    assert found["changed"]["rows"] == [{"row": 3, "right": None, "float": "negative", "given": "positive"}]


def test_several_labels_are_named_together() -> None:
    head = HeadConfig("sequence-classification", ("a", "b", "c"), "multi_label_classification")
    right = np.array([[1, 1, 0], [0, 0, 0]])
    base, own = said(right, right), said([[1, 1, 0], [0, 0, 1]], right)
    found = figures(yard(right, head), own, base, None, head)
    assert found["changed"]["rows"] == [{"row": 2, "right": "-", "float": "-", "given": "c"}]


def test_many_labels_are_named_as_far_as_a_report_takes_them() -> None:
    labels = tuple(f"a label with a long name, number {i}" for i in range(40))
    head = HeadConfig("sequence-classification", labels, "multi_label_classification")
    all_of_them, none = np.ones((2, 40), np.int64), np.zeros((2, 40), np.int64)
    found = figures(yard(none, head), said(all_of_them, none), said(none, none), None, head)
    assert len(found["changed"]["rows"][0]["given"]) <= 300


def test_embeddings_are_held_against_their_own_float() -> None:
    rng = np.random.default_rng(0)
    head = HeadConfig("sentence-embedding")
    base = rng.normal(size=(8, 16))
    near = base + 0.01 * rng.normal(size=base.shape)
    found = figures(yard(None, head), said(near, None), said(base, None), None, head)
    assert found["metric"] == "cosine"
    assert found["values"]["cosine"] > 0.999
    assert found["values"]["pair_spearman"] > 0.99
    assert found["values"]["same_neighbour"] == 1
    far = figures(yard(None, head), said(rng.normal(size=base.shape), None), said(base, None), None, head)
    assert abs(far["values"]["pair_spearman"]) < 0.5


def test_fewer_rows_are_those_asked_for() -> None:
    all_rows = Said(np.array([2, 5, 9]), np.array([0, 1, 1]), np.array([0, 0, 1]), None, np.array([4, 5, 6]), 0)
    found = all_rows.at(np.array([5, 9]))
    assert found.given.tolist() == [1, 1]
    assert found.references.tolist() == [0, 1]
    assert all_rows.at(all_rows.places) is all_rows
