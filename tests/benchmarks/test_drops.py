"""Cross-fitting: each sentence is judged once, by a model that did not see it; drops against hand-counted ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import drop_artifacts, drop_tables, drops, folds
from benchmarks.drops import VARIANTS, Variant, bits_a_weight, figures, rounded
from mobilekit.compression.compress import compress
from mobilekit.compression.plan import plan_of
from mobilekit.models.load import load
from mobilekit.models.save import save_model
from mobilekit.text.data.rows import TextRow

ROWS = [TextRow(f"{'good' if i % 2 else 'bad'} film {i}", None, i % 2) for i in range(23)]


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A few rows, and a model that is not trained."""
    (tmp_path / "model").mkdir()
    save_model(load("tiny-classifier"), tmp_path / "model")
    monkeypatch.setattr(folds, "_sentences", lambda: (ROWS, ("negative", "positive")))
    monkeypatch.setattr(drops, "train", lambda fold, name, options: tmp_path / "model")


def test_every_sentence_is_held_out_once_and_never_trained_on_then(tmp_path: Path) -> None:
    made = folds.folds(tmp_path / "work")
    held = [row.text for fold in made for row in fold.rows]
    assert sorted(held) == sorted(row.text for row in ROWS) and len(made) == 5
    for fold in made:
        seen, own = ([json.loads(line) for line in file.open()] for file in (fold.data, fold.held_out))
        assert [row["text"] for row in own] == [row.text for row in fold.rows]
        assert not {row["text"] for row in own} & {row["text"] for row in seen} and len(own) + len(seen) == len(ROWS)
        assert all(row["label"] == ("positive" if "good" in row["text"] else "negative") for row in [*seen, *own])
    assert [fold.rows for fold in folds.folds(tmp_path / "again")] == [fold.rows for fold in made]


def test_figures_are_those_of_the_answers(tmp_path: Path) -> None:
    made = folds.folds(tmp_path / "work")
    right = iter([1, 1, 0, 1, 0] * 5)
    for fold in made:
        wanted = np.array([row.label for row in fold.rows])
        own = np.array([next(right) for _ in fold.rows])
        for name, labels in (("float", wanted), ("toy", np.where(own == 1, wanted, 1 - wanted))):
            (fold.folder / f"said-{name}.json").write_text(json.dumps({"labels": labels.tolist(), "bits": 2.5}))
    found = figures(Variant("toy", "int8", aim=1.0), made)
    share = sum([1, 1, 0, 1, 0] * 5) - sum([1, 1, 0, 1, 0][-2:])
    assert found["accuracy"] == pytest.approx(share / 23) == found["agreement"]
    assert found["drop"] == pytest.approx(1 - share / 23) and found["bits_a_weight"] == 2.5
    assert found["drop_interval"][0] < found["drop"] < found["drop_interval"][1] and len(found["drops_by_fold"]) == 5


def test_answers_are_those_of_the_compressed_weights_and_kept(tmp_path: Path) -> None:
    made = folds.folds(tmp_path / "work")
    found = figures(Variant("int8", "int8"), made)
    assert found["agreement"] > 0.9 and 8 < found["bits_a_weight"] < 9
    kept = made[0].folder / "said-int8.json"
    kept.write_text(kept.read_text().replace("1", "0"))
    assert figures(Variant("int8", "int8"), made)["agreement"] != found["agreement"]


def test_bits_count_codes_scales_and_codebooks() -> None:
    model = load("tiny-classifier")
    compressed = compress(model, "int4")
    bits = weights = 0
    for record in compressed.records.values():
        if hasattr(record, "codes"):
            bits += 4 * record.codes.size + 16 * len(record.codes)
            weights += record.codes.size
    assert bits_a_weight(compressed) == pytest.approx(bits / weights)


def test_plain_codes_are_rounded_by_the_largest_weight_and_not_smoothed() -> None:
    model, name = load("tiny-classifier"), "layers.0.ffn.up.weight"
    plain = rounded(model, 4)
    weight = model.tensors()[name]
    step = np.abs(weight).max(1, keepdims=True) / 7
    assert np.abs(plain.decoded()[name] - weight).max() <= 0.51 * step.max()
    assert plain.records.keys() == model.tensors().keys() and bits_a_weight(plain) < 5


@pytest.mark.slow
def test_artifacts_answer_what_is_held_out(tmp_path: Path) -> None:
    fold = folds.folds(tmp_path / "work")[0]
    rows = drop_artifacts.measured(fold, Variant("pal4", "pal4"), limit=4)
    assert {row["target"] for row in rows} == {"executorch", "coreml", "tflite"}
    for row in rows:
        assert row["passed"] and row["packed_bytes"] < row["bytes"] and row["accuracy"]["data"]["rows"] == 4
        assert {each["system"] for each in row["accuracy"]["systems"]} == {"float", "decoded", "artifact"}


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_schemes_and_plans_of_the_rows_exist(variant: Variant) -> None:
    plan_of(variant.scheme)


def test_tables_say_what_was_lost_and_whether_the_aim_was_met() -> None:
    row = {
        "variant": "pal2-tuned",
        "bits_a_weight": 2.04,
        "accuracy": 0.8512,
        "drop": 0.0213,
        "drop_interval": [0.015, 0.028],
        "aim": 2.0,
        "agreement": 0.93,
    }
    whole = {**row, "variant": "int8", "drop": 0.001, "aim": 0.3}
    content = {"rows": [whole, row], "sentences": 10062, "float_accuracy_by_fold": [0.87, 0.88]}
    table = drop_tables.drops(content)
    assert "| `pal2`, fine-tuned | 2.04 | 85.1 % | 2.13 | 1.50 to 2.80 | 2: missed | 93.0 % |" in table
    assert "| 0.10 |" in table and "| 0.3: met |" in table and "10,062 sentences" in table and "Float: 87.5 %" in table
    systems = [{"system": "artifact", "values": {"accuracy": 0.85, "agreement": 0.96}}]
    drops = [
        {"from": "float", "to": "artifact", "points": 2.5, "low": 0, "high": 5},
        {"from": "decoded", "to": "artifact", "points": 0.5, "low": 0, "high": 1},
    ]
    file = {
        "variant": "pal4",
        "target": "coreml",
        "bytes": 11_480_000,
        "packed_bytes": 11_030_000,
        "accuracy": {"systems": systems, "drops": drops},
        "checks": [{"passed": True}, {"passed": False}],
    }
    said = drop_tables.artifacts({"rows": [file], "length": 64, "sentences": 200})
    assert "| `pal4` | coreml | 11.48 | 11.03 | 85.0 % | 2.5 | 0.5 | 96.0 % | 1 of 2 |" in said
