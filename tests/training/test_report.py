"""Figures of teacher and student: shares of the teacher's, and intervals of examples that both were measured on."""

from __future__ import annotations

import numpy as np
import pytest
from lessons import CLASSIFIER, look, student, teacher

from mobilekit.models.model import Model
from mobilekit.text.data.rows import TextRow
from mobilekit.training.report import figures

WORDS = ("good", "bad", "film", "was", "very", "not", "great")
TEXTS = [f"{a} {b}" for a in WORDS for b in WORDS]


def said(of: Model) -> list[int]:
    return [int(look(of, text).logits.argmax()) for text in TEXTS]


def labelled_by(answers: list[int], wrong: int) -> list[TextRow]:
    """Rows whose first `wrong` labels are others than the answers."""
    pairs = zip(TEXTS, answers, strict=True)
    return [TextRow(text, None, (answer + (i < wrong)) % 3) for i, (text, answer) in enumerate(pairs)]


def test_a_student_that_answers_as_its_teacher_has_all_of_it_for_certain() -> None:
    """Both are measured on the same draws: what one gets wrong the other gets wrong, too."""
    taught = teacher()
    first, second = figures([("a", taught, 0.0), ("b", taught, 2.5)], labelled_by(said(taught), 20), 32)
    assert first.values["accuracy"] == second.values["accuracy"] == pytest.approx(29 / 49)
    for made in (first, second):
        assert made.retained == 1 and made.interval is not None
        assert made.interval.low == made.interval.high == 1
    assert (first.name, first.seconds, second.name, second.seconds) == ("a", 0.0, "b", 2.5)


def test_a_students_share_is_of_the_first_ones_figure() -> None:
    taught, pupil = teacher(), student()
    rows = labelled_by(said(taught), 9)
    right = {
        name: np.array([answer == row.label for answer, row in zip(said(of), rows, strict=True)])
        for name, of in (("teacher", taught), ("student", pupil))
    }
    _, made = figures([("teacher", taught, 0.0), ("student", pupil, 1.0)], rows, 32)
    assert made.values["accuracy"] == pytest.approx(right["student"].mean())
    assert made.retained == pytest.approx(right["student"].sum() / 40)
    # Shares of draws of 49 rows with replacement (Efron 1979), both on the same rows; there are 1,000 of them there.
    rng = np.random.default_rng(1)
    drawn = rng.integers(0, 49, (20_000, 49))
    shares = right["student"][drawn].sum(1) / right["teacher"][drawn].sum(1)
    assert made.interval is not None
    low, high = np.quantile(shares, [0.025, 0.975])
    assert made.interval.low == pytest.approx(low, abs=0.06) and made.interval.high == pytest.approx(high, abs=0.06)


def test_cost_is_each_models_own_at_128_tokens() -> None:
    taught, pupil = teacher(), student(CLASSIFIER, hidden_size=32, embedding_size=32)
    both = figures([("teacher", taught, 0.0), ("student", pupil, 1.0)], labelled_by([0, 1, 2] * 16 + [0], 0), 32)
    for made, layers, width in zip(both, (4, 2), (64, 32), strict=True):
        inner = 128
        # Four maps of the width, two of the feed-forward part, and scores and their use for each pair of tokens.
        per_token = 4 * width**2 + 2 * width * inner + 2 * 128 * width
        assert made.multiply_adds == 128 * layers * per_token
        norms = 2 * 2 * width
        maps = 4 * (width**2 + width) + (width * inner + inner) + (inner * width + width)
        embeddings = (600 + 128 + 2) * width + 2 * width
        head = width**2 + width + 3 * width + 3
        assert made.parameters == layers * (maps + norms) + embeddings + head
