"""Who guesses is told from who knows, in every task, and from rows that say nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mobilekit.models.config import HeadConfig
from mobilekit.models.tasks import SPAN_LABELS
from mobilekit.text.data.rows import AnswerRow, Row, TextData, TextRow
from mobilekit.training import guessing

RNG = np.random.default_rng(3)
ROWS: list[Row] = [TextRow("film")] * 200
SINGLE = HeadConfig("sequence-classification", ("no", "yes"))
SEVERAL = HeadConfig("sequence-classification", ("good", "long", "loud"), "multi_label_classification")
VALUE = HeadConfig("sequence-classification", ("value",), "regression")
TAGS = HeadConfig("token-classification", ("O", "B-A", "I-A"))
SPANS = HeadConfig("question-answering", SPAN_LABELS)


def as_guessing(head: HeadConfig, rows: list[Row], predictions: Any, references: Any) -> str | None:
    data = TextData("toy", head.task, head.labels, head.problem_type, rows)
    return guessing.as_guessing(head, data, predictions, references)


def several(count: int = 200) -> Any:
    return (RNG.random((count, 3)) < (0.6, 0.3, 0.1)).astype(int)


def spoilt(right: Any, share: float) -> Any:
    """Some decisions turned round."""
    return np.where(RNG.random(right.shape) < share, 1 - right, right)


def test_several_labels() -> None:
    right = several()
    assert as_guessing(SEVERAL, ROWS, spoilt(right, 0.1), right) is None
    always = np.zeros_like(right)
    always[:, 0] = 1
    for guess in (always, several(), np.zeros_like(right), np.ones_like(right)):
        said = as_guessing(SEVERAL, ROWS, guess, right)
        assert said is not None and "micro F1" in said and "always giving good" in said
    # Cautious with one of the labels: what it says is right all the same.
    cautious = right.copy()
    cautious[:, 0] &= RNG.random(200) < 0.6
    assert as_guessing(SEVERAL, ROWS, cautious, right) is None


def test_sets_that_are_right_are_enough() -> None:
    """Where labels are many everywhere, giving all of them has a large F1."""
    right = (RNG.random((200, 2)) < 0.75).astype(int)
    ours = right.copy()
    ours[:60] = 0
    assert (
        as_guessing(HeadConfig("sequence-classification", ("a", "b"), SEVERAL.problem_type), ROWS, ours, right) is None
    )


def test_values() -> None:
    right = RNG.normal(size=200)
    assert as_guessing(VALUE, ROWS, 5 + 0.1 * right + RNG.normal(size=200) * 0.1, right) is None
    # Ranks alone are something, too.
    assert as_guessing(VALUE, ROWS, np.exp(4 * right), right) is None
    assert "same value" in str(as_guessing(VALUE, ROWS, np.zeros(200), right))
    assert "a correlation of -" in str(as_guessing(VALUE, ROWS, -right, right))
    noise = np.random.default_rng(0).normal(size=200)
    assert "guessing has 0" in str(as_guessing(VALUE, ROWS, noise, right))


def tags(sentences: int = 200, share: float = 0.1) -> list[list[str]]:
    return [list(RNG.choice(["O", "B-A"], 8, p=[1 - share, share])) for _ in range(sentences)]


def test_tags() -> None:
    right = tags()
    assert as_guessing(TAGS, ROWS, right, right) is None
    always = [["O"] * 8] * 200
    for guess in (always, tags(), [["B-A"] * 8] * 200):
        assert "right on toy, always giving 'O' is " in str(as_guessing(TAGS, ROWS, guess, right))
    # All entities found, and as many false ones: fewer words right than always O has.
    eager = [
        [b if b != "O" else a for a, b in zip(*pair, strict=True)] for pair in zip(tags(share=0.12), right, strict=True)
    ]
    assert as_guessing(TAGS, ROWS, eager, right) is None


def test_answers() -> None:
    context = "it was a film of some length that many people liked and some did not"
    words = context.split()
    rows: list[Row] = []
    right: list[tuple[str, ...]] = []
    for i in range(60):
        word = words[4 + i % 10]
        rows.append(AnswerRow("which?", context, ((context.index(word), word),)))
        right.append((word,))
    assert as_guessing(SPANS, rows, [answer for (answer,) in right], right) is None
    for guess in ([""] * 60, ["it"] * 60, [context] * 60):
        assert "always giving the whole text is" in str(as_guessing(SPANS, rows, guess, right))
    # Questions without an answer say nothing of who never says so.
    assert as_guessing(SPANS, [*rows, *rows], [*(a for (a,) in right), *["it"] * 60], [*right, *[()] * 60]) is None


@pytest.mark.parametrize(
    ("head", "predictions", "references"),
    [
        (SEVERAL, np.zeros((3, 3), int), np.eye(3, dtype=int)),
        (SEVERAL, np.zeros((50, 3), int), np.tile([1, 0, 0], (50, 1))),
        (VALUE, np.zeros(3), np.arange(3.0)),
        (VALUE, np.zeros(50), np.ones(50)),
        (TAGS, [["O", "O"]] * 3, [["O", "B-A"]] * 3),
        (TAGS, [["B-A", "O"]] * 50, [["O", "O"]] * 50),
        (SPANS, [""] * 3, [("film",)] * 3),
        (SPANS, ["film"] * 50, [()] * 50),
        (SINGLE, np.zeros(3, int), np.array([0, 1, 1])),
    ],
)
def test_rows_that_prove_nothing_refuse_nobody(head: HeadConfig, predictions: Any, references: Any) -> None:
    rows: list[Row] = [AnswerRow("which?", "a film", ((2, "film"),))] * len(references)
    assert as_guessing(head, rows, predictions, references) is None
