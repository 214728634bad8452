"""What a teaching asks for takes effect: who is trained on what, how, by whom it is judged, and how long it took."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from lessons import ROWS, look, student, teacher
from torch import nn

from mobilekit.errors import InputError
from mobilekit.models.config import HeadConfig
from mobilekit.models.model import Model
from mobilekit.text.data.rows import Row, TextData, TextRow
from mobilekit.training.distill import Distilled, Teaching, distill
from mobilekit.training.predict import measure
from mobilekit.training.settings import Settings
from mobilekit.training.train import Splits, train

# Values, so that no two ways of learning come to the same figure.
VALUE = HeadConfig("sequence-classification", ("value",), "regression")
WORDS = ("good", "bad", "great", "not", "very")
TEXTS = [(" ".join((a, b, c)), a) for a in WORDS for b in WORDS for c in ("film", "movie")]
ALL: list[Row] = [TextRow(text, None, float(WORDS.index(first))) for text, first in TEXTS]
SETTINGS = Settings(epochs=2, batch=10, learning_rate=1e-3, length=16, precision="fp32")
MATCHED = {"match": "logits", "soft": 0.5}


def data(name: str, rows: list[Row]) -> TextData:
    return TextData(name, VALUE.task, VALUE.labels, VALUE.problem_type, rows)


SPLITS = Splits(data("train", ALL[::2]), data("dev", ALL[1::4]), data("test", ALL[3::4]))


def taught(out: Path, pupil: Model, settings: Settings = SETTINGS, splits: Splits = SPLITS, **asked: Any) -> Distilled:
    # The teacher was never trained.
    given = {"options": MATCHED, "alone": False, "anyway": True, **asked}
    return distill(pupil, [teacher(VALUE)], splits, out, settings, Teaching(**given))


def weights(of: Model) -> dict[str, torch.Tensor]:
    return {name: p.detach().clone() for name, p in of.module.named_parameters()}


def test_the_student_alone_is_a_copy_and_learns_from_the_labels(tmp_path: Path) -> None:
    """It is what `train` makes of the same student, and the student itself begins afresh."""
    both, one = taught(tmp_path / "both", student(VALUE), alone=True), taught(tmp_path / "one", student(VALUE))
    first, second = weights(both.student), weights(one.student)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert [row.name for row in both.rows] == ["model-1", "the student alone", "the student"]
    assert [row.name for row in one.rows] == ["model-1", "the student"]
    alone = train(student(VALUE), SPLITS, tmp_path / "alone", SETTINGS)
    assert alone.test is not None and both.rows[1].values == pytest.approx(dict(alone.test.values))
    assert both.rows[2].values == one.rows[1].values != both.rows[1].values


def test_teacher_and_students_are_measured_on_the_test_data_and_chosen_by_the_dev_data(tmp_path: Path) -> None:
    made = taught(tmp_path / "out", student(VALUE))
    assert made.rows[0].values == pytest.approx(dict(measure(teacher(VALUE), ALL[3::4], 16).values))
    assert made.rows[1].values == pytest.approx(dict(measure(made.student, ALL[3::4], 16).values))
    (outcome,) = made.stages.values()
    on_dev = dict(measure(made.student, ALL[1::4], 16).values)
    best = outcome.epochs[outcome.best_epoch - 1]
    assert {name: best[name] for name in on_dev} == pytest.approx(on_dev)
    content = json.loads((tmp_path / "out/distill.json").read_text())
    assert content["data"] == {"train": "train", "texts": 0, "judged_on": "test", "rows": 12}


def test_dropout_is_what_was_asked_for_or_the_students_own(tmp_path: Path) -> None:
    for asked, share in ((0.25, 0.25), (0.0, 0.0), (None, 0.5)):
        made = taught(tmp_path / str(asked), student(VALUE), replace(SETTINGS, dropout=asked, epochs=1))
        assert {m.p for m in made.student.module.modules() if isinstance(m, nn.Dropout)} == {share}


def test_embeddings_that_are_frozen_stay_as_they_are(tmp_path: Path) -> None:
    before = weights(student(VALUE))
    for freeze in ("embeddings", ""):
        made = taught(tmp_path / f"out-{freeze}", student(VALUE), freeze=freeze, alone=True)
        after = weights(made.student)
        kept = {name for name in before if torch.equal(before[name], after[name])}
        embeddings = {name for name in before if name.startswith("encoder.embeddings.")}
        # Single texts leave the second token type alone, but decay does not.
        assert kept == (embeddings if freeze else set())


def test_a_classifier_of_the_mean_is_made_where_it_is_asked_for(tmp_path: Path) -> None:
    pupil = student(VALUE)
    encoder = copy.deepcopy(pupil.module.encoder.state_dict())
    made = taught(tmp_path / "out", pupil, replace(SETTINGS, epochs=1), mean=True)
    assert made.student.head == replace(VALUE, mean=True) and made.student is not pupil
    assert all(torch.equal(encoder[name], tensor) for name, tensor in pupil.module.encoder.state_dict().items())


def test_a_students_seconds_are_those_of_all_its_stages_and_not_of_the_one_alone(tmp_path: Path) -> None:
    options = {"match": "logits", "general_epochs": 0, "copies": 0, "inner_epochs": 3}
    made = taught(tmp_path / "out", student(VALUE), recipe="tinybert", options=options, alone=True)
    seconds = [outcome.seconds for outcome in made.stages.values()]
    assert list(made.stages) == ["insides", "answers"] and min(seconds) > 0
    assert made.rows[2].seconds == pytest.approx(sum(seconds)) and made.rows[0].seconds == 0
    assert made.rows[1].seconds > 0 and made.rows[1].seconds != made.rows[2].seconds
    # 25 inputs in batches of 10: three steps an epoch, for as many epochs as each stage has.
    assert [outcome.steps for outcome in made.stages.values()] == [9, 6]


def test_a_teacher_is_held_against_guessing_on_the_dev_data(tmp_path: Path) -> None:
    head = HeadConfig("sequence-classification", ("no", "yes"))
    guide = teacher(head)
    said = [int(look(guide, text).logits.argmax()) for text, _ in TEXTS]
    assert 10 < sum(said) < 40

    def labelled(name: str, turned: bool) -> TextData:
        rows: list[Row] = [TextRow(t, None, int(s) ^ turned) for (t, _), s in zip(TEXTS, said, strict=True)]
        return TextData(name, head.task, head.labels, head.problem_type, rows)

    right, wrong = labelled("right", False), labelled("wrong", True)
    once = replace(SETTINGS, epochs=1)
    with pytest.raises(InputError, match="teacher model-1: 0.0% right on wrong"):
        distill(student(head), [guide], Splits(right, wrong, right), tmp_path / "a", once, Teaching(alone=False))
    made = distill(student(head), [guide], Splits(right, right, wrong), tmp_path / "b", once, Teaching(alone=False))
    assert made.rows[0].values["accuracy"] == 0
    anyway = Teaching(alone=False, anyway=True)
    made = distill(student(head), [guide], Splits(right, wrong, right), tmp_path / "c", once, anyway)
    assert made.rows[0].values["accuracy"] == 1


def test_every_teacher_is_held_against_guessing(tmp_path: Path) -> None:
    head = HeadConfig("sequence-classification", ("no", "yes"))
    first, second = teacher(head), teacher(head, seed=2)
    rows: list[Row] = [TextRow(t, None, int(look(first, t).logits.argmax())) for t, _ in TEXTS]
    said = TextData("toy", head.task, head.labels, head.problem_type, rows)
    with torch.no_grad():
        # Always the same answer.
        second.module.head.classifier.weight.zero_()
    with pytest.raises(InputError, match="teacher model-2: "):
        distill(student(head), [first, second], Splits(said, said), tmp_path / "out", SETTINGS)


def test_plain_text_and_its_teacher_reach_the_recipe(tmp_path: Path) -> None:
    from lessons import WORDS as FILL_MASK

    options = {**MATCHED, "general_epochs": 2, "general_batch": 2}
    general = teacher(FILL_MASK, seed=3)
    plain = [TextRow(row.text) for row in ROWS]
    made = taught(tmp_path / "out", student(VALUE), recipe="distilbert", options=options, general=general, texts=plain)
    assert [(name, outcome.steps) for name, outcome in made.stages.items()] == [("plain text", 4), ("answers", 6)]
    content = json.loads((tmp_path / "out/distill.json").read_text())
    assert content["general_teacher"] == "model-3" and content["data"]["texts"] == 4
    assert content["options"]["general_batch"] == 2 and content["options"]["soft"] == 0.5
