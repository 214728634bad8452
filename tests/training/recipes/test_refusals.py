"""Models that a recipe cannot compare are named before anything is computed, and no others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lessons import CLASSIFIER, ROWS, SETTINGS, TEXTS, WORDS, lesson, loss_of, student, teacher

from mobilekit.errors import InputError
from mobilekit.models.config import HeadConfig
from mobilekit.models.model import Model
from mobilekit.models.tasks import SPAN_LABELS
from mobilekit.text.data.rows import AnswerRow, TextRow
from mobilekit.text.text_tokenizer import TextTokenizer
from mobilekit.training.recipes.registry import Lesson, recipe
from mobilekit.training.train import freeze_part

PLAIN = [TextRow(text) for text in TEXTS]
SPANS = HeadConfig("question-answering", SPAN_LABELS)
ANSWERS = [AnswerRow("what was it?", "it was good", ((7, "good"),))] * 2
TINY = {"copies": 0, "general_epochs": 1, "inner_epochs": 1}


def reads(model: Model, most: int) -> Model:
    """The same model, whose tokenizer cuts at `most` ids."""
    return replace(model, tokenizer=TextTokenizer(model.tokenizer.serialized(), most))


def frozen(model: Model) -> Model:
    freeze_part(model, "embeddings")
    return model


def taught(
    name: str, folder: Path, pupil: Model, teachers: Sequence[Model], general: Model | None, **options: Any
) -> Lesson:
    given: dict[str, Any] = {} if general is None else {"general": general, "texts": PLAIN}
    rows: Any = ANSWERS if pupil.head == SPANS else ROWS
    return lesson(name, folder, pupil, teachers, options, rows=rows, **given)


ALBERT = {"embedding_size": 32, "projection": True}
WORDS_ALONE = {"general_epochs": 1, "soft_words": 0.0}
DIRECTION = {"general_epochs": 1, "soft_words": 0.0, "masked_words": 0.0}


@pytest.mark.parametrize(
    ("name", "pupil", "teachers", "general", "options", "message"),
    [
        (
            "tinybert",
            student(),
            [teacher(max_positions=20)],
            None,
            {**TINY, "general_epochs": 0},
            r"student model-77 reads 32 ids, teacher model-1 at most 20, .*; give --length 20",
        ),
        ("tinybert", student(), [teacher()], teacher(WORDS, max_positions=20), TINY, "give --length 20"),
        ("distilbert", student(), [teacher()], teacher(WORDS, max_positions=20), {}, "give --length 20"),
        (
            "distilbert",
            student(),
            [teacher()],
            teacher(WORDS, vocab_size=700),
            {},
            "has embeddings for 600 tokens, teacher model-1 for 700, .*--soft-words 0",
        ),
        (
            "distilbert",
            student(**ALBERT),
            [teacher()],
            teacher(WORDS),
            {"cosine_layer": "embedding"},
            "student model-77 are 32 wide, those of teacher model-1 64, .*--cosine-layer last, or --cosine 0",
        ),
        (
            "distilbert",
            frozen(student()),
            [teacher()],
            teacher(WORDS),
            {**DIRECTION, "cosine_layer": "embedding"},
            "the embeddings alone, and --freeze embeddings keeps them",
        ),
        ("distilbert", student(), [teacher()], teacher(WORDS), {**DIRECTION, "cosine": 0.0}, "nothing is left to"),
        (
            "tinybert",
            frozen(student()),
            [teacher()],
            None,
            {**TINY, "general_epochs": 0, "attention": 0.0, "hidden": 0.0},
            "--freeze embeddings keeps the embeddings as they are: nothing is left to learn",
        ),
        (
            "hinton",
            student(SPANS),
            [reads(teacher(SPANS), 16)],
            None,
            {},
            "of 32 ids student model-77 reads at most 32, teacher model-1 16, .*give --length 16",
        ),
        ("hinton", reads(student(SPANS), 16), [teacher(SPANS)], None, {}, "at most 16, teacher model-1 32"),
        (
            "hinton",
            student(),
            [teacher(replace(CLASSIFIER, problem_type="multi_label_classification"))],
            None,
            {},
            "was trained for multi_label_classification, and the data are single_label_classification",
        ),
        (
            "hinton",
            student(HeadConfig("sequence-classification", ("value",), "regression")),
            [teacher(HeadConfig("sequence-classification", ("a", "b"), "regression"))],
            None,
            {"match": "logits"},
            r"its labels \(a, b\) are not the data's \(value\)",
        ),
        ("distilbert", student(), [teacher()], None, {}, "needs --general-teacher, a model that is not fine-tuned"),
    ],
)
def test_what_cannot_be_compared_is_named(
    name: str,
    pupil: Model,
    teachers: Sequence[Model],
    general: Model | None,
    options: dict[str, Any],
    message: str,
    tmp_path: Path,
) -> None:
    with pytest.raises(InputError, match=message):
        taught(name, tmp_path, pupil, teachers, general, **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "pupil", "teachers", "general", "options"),
    [
        # Each cuts at its own limit where texts are compared as wholes.
        ("hinton", student(), [reads(teacher(max_positions=16), 16)], None, {}),
        ("pkd", student(), [reads(teacher(max_positions=16), 16)], None, {}),
        # Its tokenizer would cut, but it can read all the same.
        ("tinybert", student(), [reads(teacher(), 16)], None, {**TINY, "general_epochs": 0}),
        ("distilbert", reads(student(), 16), [teacher()], teacher(WORDS, max_positions=16), {}),
        # Narrow embeddings matter where they are compared.
        ("distilbert", student(**ALBERT), [teacher()], teacher(WORDS), {}),
        ("distilbert", student(**ALBERT), [teacher()], teacher(WORDS), {"cosine_layer": "embedding", "cosine": 0.0}),
        ("distilbert", student(), [teacher()], teacher(WORDS, vocab_size=700), WORDS_ALONE),
        ("distilbert", frozen(student()), [teacher()], teacher(WORDS), {"cosine_layer": "embedding"}),
        ("tinybert", frozen(student()), [teacher()], None, {**TINY, "general_epochs": 0, "attention": 0.0}),
        # Nothing is compared token by token but answers.
        ("distilbert", student(), [teacher()], teacher(WORDS, max_positions=16), {"general_epochs": 0}),
        ("tinybert", student(), [teacher(heads=2)], None, {"copies": 0, "general_epochs": 0, "inner_epochs": 0}),
        # A value has no name.
        (
            "hinton",
            student(HeadConfig("sequence-classification", ("value",), "regression")),
            [teacher(HeadConfig("sequence-classification", ("LABEL_0",), "regression"))],
            None,
            {"match": "logits"},
        ),
    ],
)
def test_what_can_be_compared_is_not_refused(
    name: str,
    pupil: Model,
    teachers: Sequence[Model],
    general: Model | None,
    options: dict[str, Any],
    tmp_path: Path,
) -> None:
    taught(name, tmp_path, pupil, teachers, general, **options)


@pytest.mark.parametrize(("own", "wide"), [(32, 32), (32, 64), (64, 32)])
def test_a_general_teacher_of_another_width_has_a_projection_of_its_own(own: int, wide: int, tmp_path: Path) -> None:
    """The task's teacher is 64 wide, the general one `wide`, the student `own`."""
    sizes = {"hidden_size": own, "embedding_size": own, "intermediate_size": 2 * own}
    general = teacher(WORDS, hidden_size=wide, embedding_size=wide)
    made = taught("tinybert", tmp_path, student(**sizes), [teacher()], general, **TINY)
    how = recipe("tinybert")
    assert how.general is not None
    stages = [*how.general(made), how.task(made)[0]]
    for stage, other in zip(stages, (wide, 64), strict=True):
        projections = stage.module.projections
        assert (projections is None) == (own == other)
        assert projections is None or projections.hidden.weight.shape == (other, own)
        assert float(loss_of(stage, 4)) > 0
    assert wide != 64 or stages[0].module.projections is stages[1].module.projections


def test_a_general_teacher_of_another_vocabulary_may_vary_the_words(tmp_path: Path) -> None:
    from benchmarks.matrix_models import write_folder
    from mobilekit.models.load import load

    write_folder("roberta", "fill-mask", tmp_path / "words")
    other = load(tmp_path / "words")
    lesson("tinybert", tmp_path, student(), [teacher()], {"general_epochs": 0, "copies": 1}, general=other)
    with pytest.raises(InputError, match="do not have one vocabulary"):
        taught("tinybert", tmp_path, student(), [teacher()], other, general_epochs=1, copies=1)
    assert SETTINGS.length == 32
