"""Pre-trained distillation (Turc et al. 2019): masked words without a teacher, then the teacher's answers."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from lessons import (
    ROWS,
    SETTINGS,
    TEXTS,
    WORDS,
    labelled,
    lesson,
    look,
    loss_of,
    riddles_of,
    soft_targets,
    student,
    teacher,
)

from mobilekit.models.model import Model
from mobilekit.text.data.rows import TextRow
from mobilekit.training.recipes.registry import Lesson, recipe
from mobilekit.training.stages import Stage

OPTIONS = {"general_epochs": 4, "general_rate": 6e-4, "general_batch": 5, "temperature": 3.0, "soft": 0.6}


def given(tmp_path: Path, pupil: Model, **others: Any) -> Lesson:
    texts = [TextRow(text) for text in TEXTS]
    return lesson("pretrained", tmp_path, pupil, [teacher()], OPTIONS, texts=texts, **others)


def general_stage(made: Lesson) -> Stage:
    how = recipe("pretrained")
    assert how.general is not None
    (stage,) = how.general(made)
    return stage


@pytest.mark.parametrize("general", [None, teacher(WORDS, seed=3)])
def test_masked_words_are_learned_from_the_text_alone(general: Model | None, tmp_path: Path) -> None:
    """Also where a model that knows words is at hand: for its head, not for what it answers."""
    stage = general_stage(given(tmp_path, student(), general=general))
    losses, riddles = riddles_of(stage, 4)
    expected = sum(float(labelled(r.logits[place], true)) for r in riddles for place, true in r.asked.items())
    assert losses[0].item() == pytest.approx(expected, rel=1e-4) and losses[1:].tolist() == [0, 0]
    assert stage.settings == replace(SETTINGS, epochs=4, learning_rate=6e-4, batch=5) and not stage.judged


def test_a_head_begins_with_how_often_words_occur(tmp_path: Path) -> None:
    pupil = student()
    stage = general_stage(given(tmp_path, pupil))
    (bias,) = (p.detach() for name, p in stage.module.named_parameters() if name.endswith("decoder.bias"))
    ids = {word: pupil.tokenizer.encode(word).ids[1] for word in ("good", "film", "with")}
    # "good" is in two of the texts, "film" in one, "with" in none; a tenth is added to each count.
    assert float(bias[ids["good"]] - bias[ids["film"]]) == pytest.approx(math.log(2.1 / 1.1), abs=1e-5)
    assert float(bias[ids["film"]] - bias[ids["with"]]) == pytest.approx(math.log(1.1 / 0.1), abs=1e-5)
    assert float(bias.exp().sum()) == pytest.approx(1, rel=1e-5)


def test_the_encoder_that_learned_words_learns_the_answers(tmp_path: Path) -> None:
    pupil = student()
    made = given(tmp_path, pupil)
    general = general_stage(made)
    with torch.no_grad():
        for parameter in general.module.parameters():
            parameter.mul_(0.9)
    (stage,) = recipe("pretrained").task(made)
    expected = 0.0
    for row in ROWS:
        ours, theirs = look(pupil, row.text).logits, look(made.teachers[0], row.text).logits
        expected += float(0.6 * soft_targets(ours, [theirs], 3.0) + 0.4 * labelled(ours, int(row.label or 0)))
    assert loss_of(stage, 4).item() == pytest.approx(expected, rel=1e-4)
    untouched = student().module.encoder.layers[1].ffn.up.weight
    assert torch.allclose(pupil.module.encoder.layers[1].ffn.up.weight, 0.9 * untouched)
    assert stage.settings == SETTINGS and stage.module is pupil.module and stage.judged


def test_without_epochs_on_plain_text_there_is_no_such_stage(tmp_path: Path) -> None:
    how = recipe("pretrained")
    assert how.general is not None
    made = lesson("pretrained", tmp_path, student(), [teacher()], {**OPTIONS, "general_epochs": 0})
    assert not how.general(made) and [stage.name for stage in how.task(made)] == ["answers"]
