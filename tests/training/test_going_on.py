"""Runs of each verb that were ended: what they may replace, and that only the same run goes on."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from training_program import ROWS

from mobilekit.errors import InputError
from mobilekit.models.load import load
from mobilekit.models.model import Model
from mobilekit.text.data.rows import Row, TextData, TextRow
from mobilekit.training.distill import Teaching, distill
from mobilekit.training.pretrain import Corpus, Pretraining, pretrain
from mobilekit.training.settings import Settings
from mobilekit.training.train import Fitting, Splits, train

SENTIMENT = TextData("toy", "sequence-classification", ("negative", "positive"), "single_label_classification", ROWS)
SETTINGS = Settings(epochs=1, batch=16, learning_rate=1e-3, length=32, save_every=1)
Run = Callable[..., object]


def trained(out: Path, **options: object) -> None:
    train(load("tiny-classifier"), Splits(SENTIMENT), out, SETTINGS, **options)  # type: ignore[arg-type]


def distilled(out: Path, **options: object) -> None:
    teaching = Teaching(anyway=True, alone=False)
    splits = Splits(SENTIMENT, SENTIMENT)
    distill(load("tiny-classifier"), [load("tiny-classifier")], splits, out, SETTINGS, teaching, **options)  # type: ignore[arg-type]


def pretrained(out: Path, **options: object) -> None:
    pretrain(load("tiny-words"), Corpus(ROWS), out, SETTINGS, **options)  # type: ignore[arg-type]


VERBS = pytest.mark.parametrize("run", [trained, distilled, pretrained])


def ended(run: Run, out: Path, **options: object) -> None:
    """Run and be interrupted after the second step."""

    def report(text: str) -> None:
        if "step 3 of" in text:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(out, report=report, **options)
    assert list(out.with_name("out.training").glob("**/progress.json"))


@VERBS
def test_what_was_begun_with_force_replaces_when_it_goes_on(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(out)
    (out / "old").touch()
    ended(run, out, force=True)
    assert (out / "old").is_file()
    run(out, resume=True)
    assert not (out / "old").exists() and [p.name for p in tmp_path.iterdir()] == ["out"]


@VERBS
def test_what_was_begun_without_force_replaces_nothing(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended(run, out)
    out.mkdir()
    (out / "config.json").write_text("{}")
    with pytest.raises(InputError, match="begun without --force; move it away"):
        run(out, resume=True)
    (out / "config.json").unlink()
    out.rmdir()
    run(out, resume=True)
    assert (out / "config.json").is_file() and not out.with_name("out.training").exists()


@VERBS
def test_force_is_not_for_the_next_run(run: Run, tmp_path: Path) -> None:
    """Begun anew without a folder in the way, it is a run without force."""
    out = tmp_path / "out"
    ended(run, out, force=True)
    for left in sorted(out.with_name("out.training").rglob("*"), reverse=True):
        if left.name != ".mobilekit-run":
            left.rmdir() if left.is_dir() else left.unlink()
    ended(run, out)
    out.mkdir()
    with pytest.raises(InputError, match="begun without --force"):
        run(out, resume=True)


@pytest.mark.parametrize("out", [".", "..", "/"])
def test_folder_without_a_name_is_refused_when_a_run_goes_on_too(out: str) -> None:
    with pytest.raises(InputError, match="needs a folder of its own name"):
        trained(Path(out), resume=True)


def test_half_emptied_folder_is_a_runs_still(tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended(trained, out)
    left = out.with_name("out.training")
    (left / "checkpoint" / "progress.json").unlink()
    with pytest.raises(InputError, match="no checkpoint to go on from"):
        trained(out, resume=True)
    trained(out, force=True)
    assert out.is_dir() and not left.exists()


OTHER_TEXTS = [TextRow(row.text + " film") for row in ROWS]


def retrained(model: Model) -> Model:
    """A model of the same name and shape."""
    with torch.no_grad():
        model.module.encoder.layers[0].ffn.up.weight.mul_(1.01)
    return model


def other_tokenizer(model: Model) -> Model:
    return replace(model, prefix="query: ")


def other_head(model: Model) -> Model:
    return replace(model, head=replace(model.head, activation="gelu"))


def data(rows: list[Row] | None = None, labels: tuple[str, ...] = SENTIMENT.labels) -> TextData:
    """Data of the same name."""
    return replace(SENTIMENT, rows=rows or ROWS, labels=labels)


OTHER_LABEL: list[Row] = [*ROWS[:-1], replace(ROWS[-1], label=0)]
OTHER_TEXT: list[Row] = [replace(ROWS[0], text="bad bad film"), *ROWS[1:]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"train": data(OTHER_TEXT)}, "the training data are others"),
        ({"train": data(OTHER_LABEL)}, "the training data are others"),
        ({"dev": data(OTHER_TEXT)}, "the dev data are others"),
        ({"dev": None}, "the dev data: given then, not now"),
        ({"test": data()}, "the test data: given now, not then"),
        ({"labels": ("positive", "negative")}, "the training data have other labels"),
        ({"model": retrained}, "model tiny-classifier has other weights"),
        ({"model": other_tokenizer}, "model tiny-classifier has another tokenizer"),
        ({"model": other_head}, "model tiny-classifier has another configuration or head"),
        ({"freeze": "embeddings"}, "freeze was '', now 'embeddings'"),
        ({"mean": True}, "pooling was 'own', now 'mean'"),
        ({"learning_rate": 2e-3}, "learning_rate was 0.001, now 0.002"),
    ],
)
def test_training_goes_on_with_the_same_alone(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    def run(out: Path, changes: Mapping[str, Any], **options: Any) -> None:
        labels = changes.get("labels", SENTIMENT.labels)
        chosen, dev = (replace(changes.get(n, SENTIMENT) or SENTIMENT, labels=labels) for n in ("train", "dev"))
        splits = Splits(chosen, None if changes.get("dev", dev) is None else dev, changes.get("test"))
        settings = replace(SETTINGS, learning_rate=changes.get("learning_rate", 1e-3))
        how = {name: changes[name] for name in ("freeze", "mean") if name in changes}
        model = changes.get("model", lambda same: same)(load("tiny-classifier"))
        train(model, splits, out, settings, Fitting(**how), **options)

    ended(lambda out, **options: run(out, {}, **options), tmp_path / "out")
    with pytest.raises(InputError, match=re.escape(message)):
        run(tmp_path / "out", changes, resume=True)
    run(tmp_path / "out", {}, resume=True)
    assert (tmp_path / "out/config.json").is_file() and not (tmp_path / "out.training").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": data(OTHER_TEXT)}, "the training data are others; the dev data are others"),
        ({"teacher": retrained}, "teacher tiny-classifier has other weights"),
        ({"student": retrained}, "student tiny-classifier has other weights"),
        ({"general": retrained}, "general teacher tiny-words has other weights"),
        ({"texts": OTHER_TEXTS}, "the texts are others"),
        ({"mean": True}, "pooling was 'own', now 'mean'"),
        ({"freeze": "embeddings"}, "freeze was '', now 'embeddings'"),
        ({"alone": True}, "alone was False, now True"),
        ({"options": {"soft": 0.5}}, "soft was 0.9, now 0.5"),
        ({"recipe": "pretrained"}, "recipe was 'distilbert', now 'pretrained'"),
    ],
)
def test_distilling_goes_on_with_the_same_alone(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    def run(out: Path, changes: Mapping[str, Any], **options: Any) -> None:
        def model(role: str, name: str) -> Model:
            return changes.get(role, lambda same: same)(load(name))  # type: ignore[no-any-return]

        rows = changes.get("data", SENTIMENT)
        how = {"recipe": "distilbert", "anyway": True, "alone": False, "texts": ROWS}
        how |= {name: value for name, value in changes.items() if name in {each.name for each in fields(Teaching)}}
        how |= {"options": {"general_epochs": 1, **how.get("options", {})}, "general": model("general", "tiny-words")}  # type: ignore[dict-item]
        pupil, teacher = model("student", "tiny-classifier"), model("teacher", "tiny-classifier")
        distill(pupil, [teacher], Splits(rows, rows), out, SETTINGS, Teaching(**how), **options)  # type: ignore[arg-type]

    ended(lambda out, **options: run(out, {}, **options), tmp_path / "out")
    with pytest.raises(InputError, match=re.escape(message)):
        run(tmp_path / "out", changes, resume=True)
    run(tmp_path / "out", {}, resume=True)
    assert (tmp_path / "out/config.json").is_file() and not (tmp_path / "out.training").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"texts": OTHER_TEXTS}, "the texts are others"),
        ({"dev": OTHER_TEXTS}, "the dev texts are others"),
        ({"test": ROWS}, "the test texts: given now, not then"),
        ({"model": retrained}, "model tiny-words has other weights"),
        ({"teacher": load}, "teacher tiny-words: given now, not then"),
        ({"head_only": True}, "head_only was False, now True"),
        ({"texts": [replace(row, document=i // 2) for i, row in enumerate(ROWS)]}, "the texts are others"),
    ],
)
def test_pretraining_goes_on_with_the_same_alone(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    def run(out: Path, changes: Mapping[str, Any], **options: Any) -> None:
        corpus = Corpus(changes.get("texts", ROWS), changes.get("dev", ROWS[:9]), changes.get("test", ()))
        teacher = load("tiny-words") if "teacher" in changes else None
        how = Pretraining(head_only=changes.get("head_only", False), teacher=teacher)
        model = changes.get("model", lambda same: same)(load("tiny-words"))
        pretrain(model, corpus, out, SETTINGS, how, **options)

    ended(lambda out, **options: run(out, {}, **options), tmp_path / "out")
    with pytest.raises(InputError, match=re.escape(message)):
        run(tmp_path / "out", changes, resume=True)
    run(tmp_path / "out", {}, resume=True)
    assert (tmp_path / "out/config.json").is_file() and not (tmp_path / "out.training").exists()


def test_another_verbs_run_does_not_go_on(tmp_path: Path) -> None:
    ended(trained, tmp_path / "out")
    with pytest.raises(InputError, match="verb was 'train', now 'distill'"):
        distilled(tmp_path / "out", resume=True)


@pytest.mark.parametrize("mark", ["", "{}", "[]", '{"run": {}}', '{"format": "mobilekit-run-0", "run": {}}', "{"])
def test_run_of_another_version_is_named(mark: str, tmp_path: Path) -> None:
    ended(trained, tmp_path / "out")
    (tmp_path / "out.training/.mobilekit-run").write_text(mark)
    with pytest.raises(InputError, match="begun by another version"):
        trained(tmp_path / "out", resume=True)
    trained(tmp_path / "out", force=True)
    assert not (tmp_path / "out.training").exists()
