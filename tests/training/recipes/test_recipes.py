"""Whole recipes on small models: that each runs and teaches, what each refuses, and that variations are kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from training_program import ROWS

from mobilekit.errors import InputError
from mobilekit.models.load import load
from mobilekit.models.model import Model
from mobilekit.text.data.rows import Row, TextData, TokensRow
from mobilekit.training.distill import Distilled, Teaching, distill
from mobilekit.training.optimize import make_accelerator
from mobilekit.training.pretrain import Corpus, pretrain
from mobilekit.training.recipes.registry import recipes
from mobilekit.training.settings import Settings
from mobilekit.training.students.find import find_student
from mobilekit.training.students.registry import StudentOptions
from mobilekit.training.train import Splits, train

SENTIMENT = TextData("toy", "sequence-classification", ("negative", "positive"), "single_label_classification", ROWS)
SPLITS = Splits(SENTIMENT, SENTIMENT)
QUICK = Settings(epochs=4, batch=16, learning_rate=2e-3, length=64)
SHORT = {"general_epochs": 1}
OPTIONS: dict[str, dict[str, object]] = {
    "distilbert": SHORT,
    "hinton": {},
    "pkd": {},
    "pretrained": SHORT,
    "tinybert": {**SHORT, "inner_epochs": 1, "copies": 2},
}
# In the order in which they are run.
STAGES = {
    "distilbert": ["plain text", "answers"],
    "hinton": ["answers"],
    "pkd": ["patient"],
    "pretrained": ["plain text", "answers"],
    "tinybert": ["insides, plain text", "insides", "answers"],
}


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return train(load("tiny-embedding"), SPLITS, tmp_path_factory.mktemp("teacher") / "out", QUICK).model


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return pretrain(load("tiny-embedding"), Corpus(ROWS), tmp_path_factory.mktemp("words") / "out", QUICK).model


def student(of: Model, **options: object) -> Model:
    return find_student("distil6", of, StudentOptions(depth=2, **options), "spaced", 0)  # type: ignore[arg-type]


def taught(name: str, teachers: list[Model], words: Model | None, out: Path, **options: object) -> Distilled:
    teaching = Teaching(name, {**OPTIONS[name], **options}, words, ROWS, alone=False)
    return distill(student(words or teachers[0]), teachers, SPLITS, out, QUICK, teaching)


def test_options_here_are_for_all_recipes() -> None:
    assert set(recipes()) == set(OPTIONS) == set(STAGES)


@pytest.mark.parametrize("name", OPTIONS)
def test_every_recipe_teaches(name: str, teacher: Model, words: Model, tmp_path: Path) -> None:
    before = [{n: p.detach().clone() for n, p in m.module.named_parameters()} for m in (teacher, words)]
    made = taught(name, [teacher], words, tmp_path / "out")
    assert made.rows[-1].values["accuracy"] > 0.9
    again = load(tmp_path / "out")
    assert again.family == "distilbert" and again.head.labels == SENTIMENT.labels
    for model, had in zip((teacher, words), before, strict=True):
        assert all(torch.equal(had[n], p) for n, p in model.module.named_parameters())
    content = json.loads((tmp_path / "out/distill.json").read_text())
    assert content["recipe"] == name and list(made.stages) == STAGES[name]
    assert content["stages"] == {stage: outcome.summary() for stage, outcome in made.stages.items()}
    assert content["rows"][-1]["values"]["accuracy"] == made.rows[-1].values["accuracy"]


def test_stages_that_are_left_out_are_not_run(teacher: Model, words: Model, tmp_path: Path) -> None:
    made = taught("tinybert", [teacher], None, tmp_path / "out", general_epochs=0, copies=0)
    assert list(made.stages) == ["insides", "answers"]
    made = taught("tinybert", [teacher], words, tmp_path / "other", inner_epochs=0, copies=0)
    assert list(made.stages) == ["insides, plain text", "answers"]
    made = taught("distilbert", [teacher], None, tmp_path / "third", general_epochs=0)
    assert list(made.stages) == ["answers"]


def test_variations_are_written_once_and_used(teacher: Model, words: Model, tmp_path: Path) -> None:
    file = tmp_path / "varied.jsonl"
    made = taught("tinybert", [teacher], words, tmp_path / "out", augmented=str(file))
    lines = file.read_text(encoding="utf-8").splitlines()
    steps = -(-(len(ROWS) + len(lines)) // QUICK.batch)
    assert made.stages["answers"].steps == QUICK.epochs * steps and len(lines) > 20
    file.write_text("\n".join(lines[:3]) + "\n", encoding="utf-8")
    # From the file: no words' model is needed any more.
    made = taught("tinybert", [teacher], None, tmp_path / "again", augmented=str(file), general_epochs=0)
    assert made.stages["insides"].steps == -(-(len(ROWS) + 3) // QUICK.batch)


def test_text_is_varied_where_the_run_is(
    teacher: Model, words: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a GPU the first pass of the general teacher is the one that varies text."""
    moved: list[tuple[torch.nn.Module, object]] = []
    to = torch.nn.Module.to

    def record(module: torch.nn.Module, device: object, *more: object, **named: object) -> torch.nn.Module:
        moved.append((module, device))
        return to(module, device, *more, **named)  # type: ignore[call-overload, no-any-return]

    def augmented(*given: object) -> list[object]:
        assert (words.module, make_accelerator("fp32").device) in moved
        raise KeyboardInterrupt

    monkeypatch.setattr(torch.nn.Module, "to", record)
    monkeypatch.setattr("mobilekit.training.augmentation.augment.augment", augmented)
    with pytest.raises(KeyboardInterrupt):
        taught("tinybert", [teacher], words, tmp_path / "out", general_epochs=0)


def test_projections_are_learned_where_widths_differ(teacher: Model, words: Model, tmp_path: Path) -> None:
    small = find_student("tiny4", words, StudentOptions(depth=2), "", 0)
    teaching = Teaching("tinybert", OPTIONS["tinybert"], words, ROWS, alone=False)
    made = distill(small, [teacher], SPLITS, tmp_path / "out", QUICK, teaching)
    assert made.rows[-1].values["accuracy"] > 0.8
    assert not any("projections" in name for name in load(tmp_path / "out").tensors())


def narrow(teacher: Model) -> Model:
    return find_student("tiny4", teacher, StudentOptions(depth=2), "", 0)


def other_vocabulary(folder: Path) -> Model:
    from benchmarks.matrix_models import write_folder

    write_folder("roberta", "sentence-embedding", folder)
    return load(folder)


def test_what_does_not_fit_is_named(teacher: Model, words: Model, tmp_path: Path) -> None:
    def refused(name: str, pupil: Model, message: str, general: Model | None = words, **options: object) -> None:
        teaching = Teaching(name, {**OPTIONS[name], **options}, general, ROWS, alone=False)
        with pytest.raises(InputError, match=message):
            distill(pupil, [teacher], SPLITS, tmp_path / "out", QUICK, teaching)
        assert not (tmp_path / "out").exists() and not (tmp_path / "out.training").exists()

    refused("pkd", narrow(teacher), "32 wide, teacher tiny-embedding 64")
    refused("pkd", student(teacher, layers="0,1"), "did you mean 'skip'", patience="skp")
    refused("pkd", load("tiny-shared"), "has 4 layers, teacher tiny-embedding 2")
    refused("distilbert", other_vocabulary(tmp_path / "roberta"), "do not have one vocabulary")
    refused("tinybert", load(tmp_path / "roberta"), "do not have one vocabulary")
    refused("distilbert", narrow(words), "compares their states as they are")
    refused("distilbert", student(words), "needs --general-teacher", None)
    refused(
        "distilbert", student(words), "is a sentence-embedding model; recipe distilbert needs", load("tiny-embedding")
    )
    refused(
        "tinybert",
        student(words),
        "variations of the text need --general-teacher with a fill-mask head",
        None,
        general_epochs=0,
    )
    refused("tinybert", student(words), "layer 2 is out of range; the teacher's are 0 to 1", layer_map="0,2")
    refused("tinybert", load("tiny-shared"), "has 4 layers, teacher tiny-embedding 2")
    refused("tinybert", student(words), "probability is 1.5; it has to be 0 to 1", probability=1.5)
    refused("hinton", student(words), "temperature is nan", temperature=float("nan"))


def test_heads_have_to_be_as_many_for_attention(teacher: Model, words: Model, tmp_path: Path) -> None:
    from dataclasses import replace

    from mobilekit.models.model import fresh_module

    pupil = student(words)
    pupil.module = fresh_module(replace(pupil.config, heads=2), pupil.head)
    teaching = Teaching("tinybert", OPTIONS["tinybert"], words, ROWS, alone=False)
    with pytest.raises(InputError, match="has 2 attention heads, teacher tiny-embedding 4"):
        distill(pupil, [teacher], SPLITS, tmp_path / "out", QUICK, teaching)
    teaching = Teaching("tinybert", {**OPTIONS["tinybert"], "attention": 0.0}, words, ROWS, alone=False)
    assert distill(pupil, [teacher], SPLITS, tmp_path / "out", QUICK, teaching).rows


def test_text_and_kinds_of_tasks_are_asked_for(teacher: Model, words: Model, tmp_path: Path) -> None:
    for name in ("distilbert", "tinybert", "pretrained"):
        teaching = Teaching(name, SHORT, words, (), alone=False)
        with pytest.raises(InputError, match="--text"):
            distill(student(words), [teacher], SPLITS, tmp_path / "out", QUICK, teaching)
    rows: list[Row] = [TokensRow(("the", "movie"), (0, 1 + i % 2)) for i in range(32)]
    data = TextData("toy", "token-classification", ("O", "B-A", "B-B"), None, rows)
    tagger = train(load("tiny-embedding"), Splits(data, data), tmp_path / "tagger", QUICK).model
    with pytest.raises(InputError, match="is for sequence-classification"):
        distill(student(words), [tagger], Splits(data, data), tmp_path / "out", QUICK, Teaching("pkd", alone=False))
    with pytest.raises(InputError, match="takes one teacher"):
        distill(student(words), [teacher, teacher], SPLITS, tmp_path / "out", QUICK, Teaching("pkd", alone=False))
    # A tagger's student, by insides and answers, without variations.
    teaching = Teaching("tinybert", {**OPTIONS["tinybert"], "copies": 0}, words, ROWS, alone=False)
    made = distill(student(words), [tagger], Splits(data, data), tmp_path / "out", QUICK, teaching)
    assert made.rows[-1].values["entity_f1"] >= 0


def test_answers_of_questions_are_taught(tmp_path: Path) -> None:
    from mobilekit.text.data.rows import AnswerRow

    rows: list[Row] = [
        AnswerRow("what is it", "the movie was " + ("good" if i % 2 else "bad"), ((14, "good" if i % 2 else "bad"),))
        for i in range(48)
    ]
    data = TextData("toy", "question-answering", ("start", "end"), None, rows)
    reader = train(load("tiny-embedding"), Splits(data, data), tmp_path / "reader", QUICK).model
    for match in ("probabilities", "logits"):
        teaching = Teaching("hinton", {"soft": 1.0, "match": match}, alone=False)
        made = distill(load("tiny-embedding"), [reader], Splits(data, data), tmp_path / match, QUICK, teaching)
        assert made.rows[0].values["exact_match"] == 1 and made.rows[-1].values["exact_match"] > 0.9
    from benchmarks.matrix_models import write_folder

    write_folder("roberta", "sentence-embedding", tmp_path / "roberta")
    with pytest.raises(InputError, match="do not have one vocabulary"):
        distill(load(tmp_path / "roberta"), [reader], Splits(data, data), tmp_path / "out", QUICK)
