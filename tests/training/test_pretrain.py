"""Learning from plain text: heads alone, pair tasks, recipes' stages, the report, and going on."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from training_program import ROWS

from mobilekit.errors import InputError
from mobilekit.evaluation.intervals import wilson
from mobilekit.models.load import load
from mobilekit.text.data.rows import TextRow
from mobilekit.training.passages import SegmentPairs, Texts
from mobilekit.training.pretrain import Corpus, Pretraining, pretrain
from mobilekit.training.pretraining import token_counts, unigram_entropy
from mobilekit.training.settings import Settings
from mobilekit.training.students.find import find_student
from mobilekit.training.students.registry import StudentOptions

QUICK = Settings(epochs=8, batch=16, learning_rate=3e-3, length=64)
# Sentences that tell their place: an order can be learned.
STORY = [
    TextRow(f"{'it was good' if place == 0 else 'bad'} {'film' if place else 'this'} {place}", document=document)
    for document in range(24)
    for place in range(2)
]


def test_head_alone_is_fitted_and_the_encoder_stays(tmp_path: Path) -> None:
    model = load("tiny-embedding")
    before = {name: p.detach().clone() for name, p in model.module.encoder.named_parameters()}
    made = pretrain(model, Corpus(ROWS, ROWS), tmp_path / "out", QUICK, Pretraining(head_only=True))
    after = dict(load(tmp_path / "out").module.encoder.named_parameters())
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert made.test is not None and made.test.loss < made.unigram_entropy
    content = json.loads((tmp_path / "out/pretrain.json").read_text())
    assert content["test"]["accuracy"] == made.test.accuracy and content["head_only"]
    assert load(tmp_path / "out").head.task == "fill-mask" and not (tmp_path / "out.training").exists()


def test_a_fresh_head_begins_with_how_often_words_occur(tmp_path: Path) -> None:
    made = pretrain(load("tiny-embedding"), Corpus(ROWS), tmp_path / "out", Settings(epochs=1, learning_rate=1e-9))
    texts = Texts(load("tiny-embedding"), ROWS, 64)
    counts = token_counts(texts, 600)
    bias = made.model.module.head.decoder.bias.detach().numpy()
    film, bad = (load("tiny-embedding").tokenizer.encode(word).ids[1] for word in ("film", "bad"))
    assert bias[film] - bias[bad] == pytest.approx(math.log((counts[film] + 0.1) / (counts[bad] + 0.1)), abs=1e-3)


def test_entropy_by_hand() -> None:
    assert unigram_entropy(np.array([7, 2, 1, 1, 0]), [0]) == pytest.approx(0.5 * math.log(2) + 0.5 * math.log(4))


def test_dev_text_chooses_the_epoch_and_test_text_judges(tmp_path: Path) -> None:
    other = [TextRow("very bad movie"), TextRow("the film was great")]
    made = pretrain(load("tiny-embedding"), Corpus(ROWS, other, ROWS), tmp_path / "out", QUICK)
    (outcome,) = made.stages.values()
    losses = [epoch["masked_loss"] for epoch in outcome.epochs]
    assert outcome.best_epoch == 1 + losses.index(min(losses))
    assert made.test is not None and made.test.words > 50
    alone = pretrain(load("tiny-embedding"), Corpus(ROWS), tmp_path / "last", QUICK)
    assert [outcome.best_epoch for outcome in alone.stages.values()] == [QUICK.epochs] and alone.test is None


def test_best_epoch_is_that_of_words_and_pairs_together(tmp_path: Path) -> None:
    settings = replace(QUICK, epochs=6)
    model, corpus = load("tiny-embedding"), Corpus(STORY, STORY, STORY)
    made = pretrain(model, corpus, tmp_path / "out", settings, Pretraining("sop"))
    (outcome,) = made.stages.values()
    sums = [epoch["masked_loss"] + epoch["pair_loss"] for epoch in outcome.epochs]
    assert outcome.best == -min(sums) and outcome.best_epoch == 1 + sums.index(min(sums))
    assert made.test is not None and 0 < made.test.pair_loss < 1


@pytest.mark.parametrize("optimizer", ["adamw", "lamb"])
def test_order_of_segments_is_learned(tmp_path: Path, optimizer: str) -> None:
    settings = Settings(epochs=12, batch=16, learning_rate=3e-3, length=64, optimizer=optimizer)
    made = pretrain(load("tiny-embedding"), Corpus(STORY, test=STORY), tmp_path / "out", settings, Pretraining("sop"))
    assert made.test is not None and made.test.pair_accuracy is not None
    assert made.test.pair_accuracy > 0.9 and made.test.pairs == 8 * 24
    assert made.pair_interval is not None and made.pair_interval.low < made.test.pair_accuracy


def test_the_interval_of_pairs_is_not_that_of_independent_draws(tmp_path: Path) -> None:
    """Eight draws of a chunk say more than one, and less than eight chunks."""
    settings = Settings(epochs=1, batch=16, learning_rate=1e-3, length=64)
    made = pretrain(load("tiny-embedding"), Corpus(STORY, test=STORY), tmp_path / "out", settings, Pretraining("sop"))
    assert made.test is not None and made.test.pairs == 192 and made.pair_interval is not None
    assert made.test.pair_accuracy is not None
    corpus = SegmentPairs(made.model, STORY, 64, "sop")
    assert len(corpus.lengths) == 24
    assert made.pair_interval == made.test.pair_interval
    one = wilson(round(24 * made.test.pair_accuracy), 24)
    every = wilson(round(192 * made.test.pair_accuracy), 192)
    width = made.pair_interval.high - made.pair_interval.low
    assert every.high - every.low - 1e-2 < width < one.high - one.low + 1e-2
    content = json.loads((tmp_path / "out/pretrain.json").read_text())
    assert content["pair_interval"]["low"] == made.pair_interval.low


def test_a_recipes_stage_goes_by_the_settings_where_its_own_options_do_not_say(tmp_path: Path) -> None:
    settings = Settings(epochs=2, batch=20, learning_rate=1e-9, length=64, precision="fp32")
    own = {"general_epochs": 1, "general_batch": 24, "general_rate": 1e-2}
    for options, steps in (({}, 2 * 5), (own, 4)):
        how, model = Pretraining(recipe="pretrained", options=options), load("tiny-embedding")
        made = pretrain(model, Corpus(ROWS), tmp_path / str(steps), settings, how)
        assert {name: outcome.steps for name, outcome in made.stages.items()} == {"plain text": steps}
        before = dict(load("tiny-embedding").module.encoder.named_parameters())
        moved = max(float((before[n] - p).abs().max()) for n, p in made.model.module.encoder.named_parameters())
        assert moved > 1e-3 if options else moved < 1e-6


def test_a_recipes_stage_is_judged_by_the_dev_text(tmp_path: Path) -> None:
    dev = [TextRow("very bad movie"), TextRow("the film was great")]
    how, settings = Pretraining(recipe="pretrained"), Settings(epochs=3, batch=32, learning_rate=3e-3, length=64)
    made = pretrain(load("tiny-embedding"), Corpus(ROWS, dev), tmp_path / "out", settings, how)
    (outcome,) = made.stages.values()
    losses = [epoch["masked_loss"] for epoch in outcome.epochs]
    assert len(losses) == 3 and outcome.best_epoch == 1 + losses.index(min(losses))
    # Without test text the dev text judges, in the same way.
    assert made.test is not None and made.test.loss == pytest.approx(min(losses), rel=1e-5)


def test_a_guided_student_comes_nearer_to_its_teacher(tmp_path: Path) -> None:
    teacher = pretrain(load("tiny-embedding"), Corpus(ROWS), tmp_path / "words", QUICK).model
    student = find_student("distil6", teacher, StudentOptions(depth=1), "spaced", 0)
    ids = torch.from_numpy(teacher.tokenizer.encode("a very good film").ids.astype(np.int64))[None]
    with torch.no_grad():
        before = (student.module(ids) - teacher.module(ids)).square().mean()
    pretrain(student, Corpus(ROWS), tmp_path / "out", QUICK, Pretraining(recipe="distilbert", teacher=teacher))
    with torch.no_grad():
        after = (student.module(ids) - teacher.module(ids)).square().mean()
    assert after < before / 2 and load(tmp_path / "out").family == "distilbert"
    content = json.loads((tmp_path / "out/pretrain.json").read_text())
    assert content["recipe"] == "distilbert" and content["test"] is None


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (Pretraining(recipe="hinton"), "recipe hinton: has no stage on plain text"),
        (Pretraining(recipe="distilbert"), "needs --teacher"),
        (Pretraining(recipe="pretrained", options={"general_epochs": 0}), "general-epochs is 0: nothing is left to"),
        (Pretraining(recipe="pretrained", options={"soft": 0.9}), "--soft changes nothing without labelled data"),
        (Pretraining(recipe="distilbert", options={"betta": 1}), "has no option --betta"),
    ],
)
def test_impossible_recipes_are_named(how: Pretraining, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        pretrain(load("tiny-words"), Corpus(ROWS), tmp_path / "out", QUICK, how)
    assert not (tmp_path / "out").exists()


def test_impossible_tasks_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'sop'"):
        Pretraining("sopp")
    with pytest.raises(InputError, match="leave out --head-only and --pair-task"):
        Pretraining("sop", recipe="distilbert")
    with pytest.raises(InputError, match="consecutive sentences"):
        pretrain(load("tiny-words"), Corpus(ROWS), tmp_path / "out", QUICK, Pretraining("sop"))
    with pytest.raises(InputError, match="nothing to learn from"):
        pretrain(load("tiny-words"), Corpus([TextRow("  ")]), tmp_path / "out", QUICK)
    with pytest.raises(InputError, match="no token types"):
        student = find_student("distil6", load("tiny-words"), StudentOptions(depth=1), "spaced", 0)
        pretrain(student, Corpus(STORY), tmp_path / "out", QUICK, Pretraining("sop"))
