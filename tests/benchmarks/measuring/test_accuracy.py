"""The same rows put to all: whole, few for slow engines, and never with outputs that are no numbers."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.measuring.accuracy import FLOAT, TEACHER, Examiner
from mobilekit.errors import EngineError
from mobilekit.models.load import load
from mobilekit.text.data.rows import TextData, TextRow

TEXTS = ("a good film", "not a good film", "it was bad", "great , and very good", "the movie was not that bad", "good")
ROWS = [TextRow(text, None, i % 2) for i, text in enumerate(TEXTS)]
DATA = TextData("films", "sequence-classification", ("negative", "positive"), "single_label_classification", ROWS)


@pytest.fixture
def examiner() -> Examiner:
    made = Examiner(DATA, load("tiny-classifier").head, 16, slow_rows=2)
    made.ask_model(TEACHER, load("tiny-classifier"))
    made.ask_model(FLOAT, load("tiny-classifier"))
    return made


def test_the_same_outputs_are_the_same_answers(examiner: Examiner) -> None:
    of = examiner.asked(load("tiny-classifier"))
    outputs = np.array([[3.0, -3.0]] * len(TEXTS), np.float32)
    found = examiner.figures_of(of, outputs)
    assert found["data"]["rows"] == found["data"]["of"] == len(TEXTS)
    # Every second row is negative.
    assert found["value"]["value"] == 0.5
    assert found["from_float"]["points"] == found["from_teacher"]["points"]


def test_slow_engines_get_few_rows_and_are_held_against_the_same(examiner: Examiner) -> None:
    of = examiner.asked(load("tiny-classifier"), slow=True)
    found = examiner.figures_of(of, np.array([[3.0, -3.0]] * 2, np.float32), slow=True)
    assert (found["data"]["rows"], found["data"]["of"]) == (2, len(TEXTS))
    # Each label has its share.
    assert found["value"]["value"] == 0.5


def test_what_is_no_number_is_no_answer(examiner: Examiner) -> None:
    of = examiner.asked(load("tiny-classifier"))
    outputs = np.zeros((len(TEXTS), 2), np.float32)
    outputs[3, 1] = np.nan
    with pytest.raises(EngineError, match="row 4: the output has values that are not finite"):
        examiner.figures_of(of, outputs)
