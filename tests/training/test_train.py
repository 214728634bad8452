"""Fine-tuning end to end on tiny models: every task, frozen encoders, heads, folders, and what is refused."""

from __future__ import annotations

import errno
import itertools
import json
import os
from pathlib import Path

import pytest
import torch
from training_program import ROWS

from mobilekit.errors import InputError
from mobilekit.models.load import load
from mobilekit.text.data.rows import AnswerRow, Row, TextData, TextRow, TokensRow
from mobilekit.training.features import encode_rows
from mobilekit.training.kept import Put
from mobilekit.training.lock import in_use
from mobilekit.training.objectives.frozen import Frozen
from mobilekit.training.optimize import make_accelerator
from mobilekit.training.predict import measure
from mobilekit.training.settings import Settings
from mobilekit.training.train import Fitting, Splits, head_for, train

QUICK = Settings(epochs=3, batch=16, learning_rate=2e-3, length=64)


def data(task: str, labels: tuple[str, ...], rows: list[Row], problem_type: str | None = None) -> TextData:
    return TextData("toy", task, labels, problem_type, rows)


SENTIMENT = data("sequence-classification", ("negative", "positive"), list(ROWS), "single_label_classification")
VALUES = [TextRow("good " * (i % 5), None, float(i % 5)) for i in range(1, 80)]
SEVERAL: list[Row] = [
    TextRow(
        " ".join(w for w, on in (("good", i & 1), ("bad", i & 2)) if on) + " film",
        None,
        tuple(k for k in (0, 1) if i & (k + 1)),
    )
    for i in range(80)
]
TAGGED: list[Row] = [
    TokensRow(("the", "film" if i % 2 else "movie", "was", "good"), (0, 1 + i % 2, 0, 0)) for i in range(80)
]
ANSWERS: list[Row] = [
    AnswerRow("what was it?", f"it was {w} with that.", ((7, w),)) for w in ("good", "bad", "great", "not") * 20
]
CASES = {
    "one label": SENTIMENT,
    "a value": data("sequence-classification", ("value",), list(VALUES), "regression"),
    "several labels": data("sequence-classification", ("good", "bad"), SEVERAL, "multi_label_classification"),
    "tags": data("token-classification", ("O", "B-A", "B-B"), TAGGED),
    "answers": data("question-answering", (), ANSWERS),
}


@pytest.mark.parametrize("name", CASES)
def test_every_task_is_learnt_and_saved(name: str, tmp_path: Path) -> None:
    rows = CASES[name]
    trained = train(
        load("tiny-embedding"), Splits(rows, rows, rows), tmp_path / "out", Settings(**{**QUICK.to_dict(), "epochs": 8})
    )
    assert trained.test is not None and trained.test.value > 0.9, trained.test
    metrics = json.loads((tmp_path / "out/metrics.json").read_text())
    assert metrics["test"][trained.test.main] == trained.test.value and len(metrics["epochs"]) == 8
    again, ids = load(tmp_path / "out"), torch.tensor([[2, 9, 10, 3]])
    assert again.head == trained.model.head
    with torch.no_grad():
        assert torch.equal(again.module(ids), trained.model.module(ids))
    assert not (tmp_path / "out.training").exists()


def test_best_epoch_is_kept_and_not_the_last(tmp_path: Path) -> None:
    # On the dev data the labels are turned round: the less is learnt, the better.
    wrong = data(
        "sequence-classification",
        SENTIMENT.labels,
        [TextRow(r.text, None, 1 - r.label) for r in ROWS],  # type: ignore[operator]
        "single_label_classification",
    )
    trained = train(
        load("tiny-embedding"), Splits(SENTIMENT, wrong), tmp_path / "out", Settings(**{**QUICK.to_dict(), "epochs": 6})
    )
    figures = [epoch["accuracy"] for epoch in trained.outcome.epochs]
    assert trained.outcome.best_epoch == figures.index(max(figures)) + 1 < 6
    assert trained.outcome.best == max(figures) > figures[-1]
    assert measure(trained.model, wrong.rows, 64).value == max(figures)


def test_frozen_encoder_stays_as_it_is(tmp_path: Path) -> None:
    model = load("tiny-embedding")
    before = {name: p.detach().clone() for name, p in model.module.encoder.named_parameters()}
    for name in ("one label", "tags"):
        settings = Settings(**{**QUICK.to_dict(), "epochs": 30, "learning_rate": 1e-2})
        trained = train(
            model, Splits(CASES[name], CASES[name], CASES[name]), tmp_path / name, settings, Fitting(freeze="encoder")
        )
        after = dict(trained.model.module.encoder.named_parameters())
        assert all(torch.equal(before[n], after[n]) for n in before)
        assert trained.test is not None and trained.test.value > 0.85


def test_an_encoder_that_stays_as_it_is_is_where_its_head_is_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop moves what it trains to the run's device; the rest is needed there too, for states and to be judged."""
    moved: list[tuple[torch.nn.Module, object]] = []
    to, seen = torch.nn.Module.to, []

    def record(module: torch.nn.Module, device: object, *more: object, **named: object) -> torch.nn.Module:
        moved.append((module, device))
        return to(module, device, *more, **named)  # type: ignore[call-overload, no-any-return]

    def compute(frozen: Frozen, put: Put) -> None:
        seen.extend(moved)
        states(frozen, put)

    states = Frozen._compute
    monkeypatch.setattr(torch.nn.Module, "to", record)
    monkeypatch.setattr(Frozen, "_compute", compute)
    made = train(
        load("tiny-classifier"), Splits(CASES["one label"]), tmp_path / "out", QUICK, Fitting(freeze="encoder")
    )
    device = make_accelerator("fp32").device
    assert any(module is made.model.module and where == device for module, where in seen)


def test_frozen_embeddings_stay_as_they_are_and_the_rest_does_not(tmp_path: Path) -> None:
    model = load("tiny-embedding")
    before = {name: p.detach().clone() for name, p in model.module.encoder.named_parameters()}
    splits = Splits(CASES["one label"], CASES["one label"])
    made = train(model, splits, tmp_path / "out", QUICK, Fitting(freeze="embeddings"))
    after = dict(made.model.module.encoder.named_parameters())
    same = {name for name in before if torch.equal(before[name], after[name])}
    assert same == {name for name in before if name.startswith("embeddings.")}
    with pytest.raises(InputError, match="did you mean 'embeddings'"):
        train(model, splits, tmp_path / "other", QUICK, Fitting(freeze="embedings"))


def test_mean_of_all_tokens_is_a_head_of_its_own(tmp_path: Path) -> None:
    trained = train(load("tiny-embedding"), Splits(SENTIMENT), tmp_path / "out", QUICK, Fitting(mean=True))
    assert trained.model.head.mean and "own layout" in " ".join(trained.model.notes)
    assert load(tmp_path / "out").head.mean


def test_head_of_the_same_labels_goes_on_and_another_is_fresh() -> None:
    model = load("tiny-classifier")
    assert head_for(model, SENTIMENT) == model.head
    other = data("sequence-classification", ("a", "b"), [TextRow("x", None, 0), TextRow("y", None, 1)])
    assert head_for(model, other).labels == ("a", "b")


def test_head_of_the_mean_goes_on_too(tmp_path: Path) -> None:
    data = CASES["one label"]
    made = train(load("tiny-embedding"), Splits(data), tmp_path / "out", QUICK, Fitting(mean=True)).model
    again = load(tmp_path / "out")
    assert head_for(again, data, mean=True) == again.head == made.head
    assert not head_for(load("tiny-classifier"), data).mean and head_for(load("tiny-classifier"), data, mean=True).mean


def test_same_names_of_labels_for_another_problem_are_another_head(tmp_path: Path) -> None:
    several = train(load("tiny-embedding"), Splits(CASES["several labels"]), tmp_path / "several", QUICK).model
    single = data("sequence-classification", several.head.labels, list(ROWS), "single_label_classification")
    assert head_for(several, single).problem_type == "single_label_classification"
    assert (
        head_for(train(several, Splits(single), tmp_path / "single", QUICK).model, CASES["several labels"])
        == several.head
    )
    with pytest.raises(InputError, match="is none for a head of multi_label_classification"):
        encode_rows(several, ROWS, 64)


@pytest.mark.parametrize("sharded", [False, True])
def test_pooler_of_the_checkpoint_is_kept(tmp_path: Path, sharded: bool) -> None:
    from safetensors.torch import load_file

    from benchmarks.matrix_models import write_folder
    from mobilekit.models.rehead import with_head

    write_folder("bert", "sentence-embedding", tmp_path / "bert")
    stored = load_file(tmp_path / "bert/model.safetensors")["pooler.dense.weight"]
    if sharded:
        (tmp_path / "bert/model.safetensors").rename(tmp_path / "bert/a.safetensors")
        names = dict.fromkeys(load_file(tmp_path / "bert/a.safetensors"), "a.safetensors")
        (tmp_path / "bert/model.safetensors.index.json").write_text(json.dumps({"weight_map": names}))
    model = load(tmp_path / "bert")
    made = with_head(model, head_for(model, SENTIMENT))
    assert torch.equal(dict(made.module.named_parameters())["head.pooler.weight"], stored)


def test_a_folder_that_cannot_be_locked_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(held: int, kind: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("mobilekit.training.lock.fcntl.flock", fail)
    with pytest.raises(InputError, match="cannot be locked: No locks available; choose an --out on another disk"):
        train(load("tiny-classifier"), Splits(SENTIMENT), tmp_path / "out", QUICK)


def test_one_run_a_folder(tmp_path: Path) -> None:
    with in_use(tmp_path / "out.training"), pytest.raises(InputError, match="another run is using it"):
        train(load("tiny-classifier"), Splits(SENTIMENT), tmp_path / "out", QUICK)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epochs": 0}, "epochs is 0"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"warm_up": 1.0}, "warm_up is 1.0"),
        ({"dropout": 1.5}, "dropout is 1.5"),
        ({"precision": "bf61"}, "did you mean 'bf16'"),
        ({"seed": -1}, "seed is -1; it has to be at least 0"),
    ],
)
def test_impossible_settings_are_named(changes: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Settings(**changes)  # type: ignore[arg-type]


def test_rate_rises_and_falls() -> None:
    settings = Settings(learning_rate=1.0, warm_up=0.2)
    rates = [settings.rate(step, 10) for step in range(10)]
    assert rates[:3] == [0.5, 1.0, 1.0] and rates[-1] == pytest.approx(1 / 8)
    assert all(a > b for a, b in itertools.pairwise(rates[2:]))
