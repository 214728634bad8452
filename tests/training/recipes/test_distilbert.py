"""DistilBERT (Sanh et al. 2019): the triple loss by hand, who teaches in which stage, and the stage's settings."""

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
    Riddle,
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

GENERAL = {"general_epochs": 5, "general_rate": 3e-4, "general_batch": 7}
OPTIONS = {**GENERAL, "temperature": 3.0, "soft_words": 4.0, "masked_words": 1.5, "cosine": 0.25}


def general_stage(made: Lesson) -> Stage:
    how = recipe("distilbert")
    assert how.general is not None
    (stage,) = how.general(made)
    return stage


def given(tmp_path: Path, pupil: Model, general: Model, **options: Any) -> Lesson:
    rows = [TextRow(text) for text in TEXTS]
    chosen = {**OPTIONS, **options}
    return lesson("distilbert", tmp_path, pupil, [teacher(seed=9)], chosen, general=general, texts=rows)


def words_by_hand(riddles: list[Riddle], general: Model, masked: float, soft: float) -> float:
    """Section 2 there: the teacher's distribution over the vocabulary, and the masked words."""
    total = 0.0
    for riddle in riddles:
        answered = riddle.look(general).logits
        for place, true in riddle.asked.items():
            ours = riddle.logits[place]
            total += float(soft * soft_targets(ours, [answered[place]], 3.0) + masked * labelled(ours, true))
    return total


@pytest.mark.parametrize("layer", ["last", "embedding"])
def test_the_triple_loss_has_its_weights(layer: str, tmp_path: Path) -> None:
    pupil, general = student(), teacher(WORDS)
    stage = general_stage(given(tmp_path, pupil, general, cosine_layer=layer))
    losses, riddles = riddles_of(stage, 4)
    assert losses[0].item() == pytest.approx(words_by_hand(riddles, general, 1.5, 4.0), rel=1e-4)
    apart = 0.0
    for riddle in riddles:
        theirs = riddle.look(general)
        ours, taught = (riddle.last, theirs.hidden[-1]) if layer == "last" else (riddle.embeddings, theirs.embeddings)
        for own, other in zip(ours, taught, strict=True):
            apart += 1 - float(own @ other / own.norm() / other.norm())
    assert losses[1].item() == pytest.approx(0.25 * apart, rel=1e-4) and losses[2] == 0
    # Words are counted by words, states by tokens.
    assert stage.objective().count(range(4))[1] == sum(len(riddle.ids) for riddle in riddles)  # type: ignore[index]


def test_what_is_asked_is_the_text_with_a_word_hidden(tmp_path: Path) -> None:
    pupil = student()
    _, riddles = riddles_of(general_stage(given(tmp_path, pupil, teacher(WORDS))), 4)
    assert all(riddle.asked for riddle in riddles)
    for riddle, text in zip(riddles, TEXTS, strict=True):
        true = pupil.tokenizer.encode(text).ids.tolist()
        assert all(own == true[i] for i, own in enumerate(riddle.ids) if i not in riddle.asked)


def test_parts_without_weight_are_left_out(tmp_path: Path) -> None:
    pupil, general = student(), teacher(WORDS)
    options = {"soft_words": 0.0, "masked_words": 2.0, "cosine": 0.0}
    losses, riddles = riddles_of(general_stage(given(tmp_path, pupil, general, **options)), 4)
    assert losses[0].item() == pytest.approx(words_by_hand(riddles, general, 2.0, 0.0), rel=1e-4) and losses[1] == 0


def test_the_stage_on_plain_text_is_as_long_as_its_own_options_say(tmp_path: Path) -> None:
    stage = general_stage(given(tmp_path, student(), teacher(WORDS)))
    assert stage.settings == replace(SETTINGS, epochs=5, learning_rate=3e-4, batch=7)
    assert not stage.judged and stage.judge is None
    how = recipe("distilbert")
    assert how.general is not None
    assert not how.general(given(tmp_path, student(), teacher(WORDS), general_epochs=0))


def test_the_head_begins_as_the_general_teachers_and_the_encoder_is_the_students(tmp_path: Path) -> None:
    pupil, general = student(), teacher(WORDS)
    before = {name: p.detach().clone() for name, p in pupil.module.encoder.named_parameters()}
    stage = general_stage(given(tmp_path, pupil, general))
    assert all(torch.equal(before[name], p) for name, p in pupil.module.encoder.named_parameters())
    trained = {id(p) for p in stage.module.parameters()}
    assert {id(p) for p in pupil.module.encoder.parameters()} <= trained
    assert not {id(p) for p in pupil.module.head.parameters()} & trained
    heads = {name.split("head.")[1]: p for name, p in stage.module.named_parameters() if "head." in name}
    theirs = dict(general.module.head.named_parameters())
    assert heads.keys() == {"transform.weight", "transform.bias", "norm.weight", "norm.bias", "decoder.bias"}
    assert all(torch.equal(own, theirs[name]) and own is not theirs[name] for name, own in heads.items())


def test_held_out_text_judges_the_stage(tmp_path: Path) -> None:
    """By the loss of the masked words alone, of another text than the one that is learned from."""
    pupil = student()
    made = given(tmp_path, pupil, teacher(WORDS))
    stage = general_stage(replace(made, held_out=[TextRow("film")] * 3))
    assert stage.judge is not None
    film = int(pupil.tokenizer.encode("film").ids[1])
    with torch.no_grad():
        for name, parameter in stage.module.named_parameters():
            parameter.zero_()
            if name.endswith("decoder.bias"):
                parameter[film] = 5.0
    # One word of 600 has a score, and it is the one that is asked for.
    value, metrics = stage.judge()
    assert metrics["masked_loss"] == pytest.approx(math.log(math.exp(5) + 599) - 5, rel=1e-5)
    assert value == -metrics["masked_loss"] and metrics["masked_accuracy"] == 1


def test_the_tasks_teacher_gives_the_answers_at_the_end(tmp_path: Path) -> None:
    pupil, taught = student(), teacher(seed=9)
    options = {**OPTIONS, "soft": 0.35}
    rows = [TextRow(text) for text in TEXTS]
    made = lesson("distilbert", tmp_path, pupil, [taught], options, general=teacher(WORDS), texts=rows)
    (stage,) = recipe("distilbert").task(made)
    expected = 0.0
    for row in ROWS:
        ours, theirs = look(pupil, row.text).logits, look(taught, row.text).logits
        expected += float(0.35 * soft_targets(ours, [theirs], 3.0) + 0.65 * labelled(ours, int(row.label or 0)))
    assert loss_of(stage, 4).item() == pytest.approx(expected, rel=1e-4)
    assert stage.settings == SETTINGS and stage.module is pupil.module and stage.judged
