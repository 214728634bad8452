"""`inspect` of models, with what plans would do to them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import run

from mobilekit.cli.inspect_sensitivity import SensitivityRequest
from mobilekit.compression.compress import compress
from mobilekit.compression.folder import save_compressed
from mobilekit.compression.schemes.registry import schemes
from mobilekit.models.load import load

EXAMPLE = str(Path(__file__).parents[2] / "docs" / "plans" / "mixed.toml")


def test_plan_is_shown_by_tensor_and_rule(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "inspect", "tiny-classifier", "--plan", EXAMPLE)
    assert code == 0 and "compressing as mixed" in err
    lines = out.splitlines()
    assert any(line.split()[:3] == ["layers.0.ffn.up.weight", "layers.*.ffn.up", "int4"] for line in lines)
    assert any(line.split()[:3] == ["layers.0.attention.key.weight", "layers.0.attention.*", "skip"] for line in lines)
    assert any(line.split()[:3] == ["layers.0.attention.*", "skip", "10"] for line in lines)
    assert "weights  108,160 parameters" in out and "bits each on average" in out and "from iOS 18" in out


def test_plan_as_json_has_every_tensor(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "inspect", "tiny-shared", "--plan", "int8", "--json")
    assert code == 0 and not err
    found = json.loads(out)
    compressed = compress(load("tiny-shared"), "int8")
    assert {row["name"] for row in found["tensors"]} == set(compressed.records)
    assert found["total"]["bytes"] == sum(row["bytes"] for row in found["tensors"])
    assert found["total"]["parameters"] == compressed.parameters
    assert found["weights"]["bits"] == pytest.approx(
        8 * found["weights"]["bytes"] / found["weights"]["parameters"], 1e-4
    )
    assert found["rules"] == [{"pattern": "*", "scheme": "int8", **found["rules"][0]}]


def test_maps_with_fixed_scales_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "inspect", "tiny-classifier", "--plan", "int8-static", "--json")
    static = [row["name"] for row in json.loads(out)["tensors"] if row["static"]]
    assert code == 0 and static and all(name.startswith("layers.") and name.endswith(".weight") for name in static)
    code, out, _ = run(capsys, "inspect", "tiny-classifier", "--plan", "int8-static")
    assert f"activations with fixed scales around {len(static)} linear maps: layers." in out and "from iOS 17" in out


def test_own_text_changes_what_calibrated_schemes_do(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("A fine film.\nNever again!\n")
    line = ["inspect", "tiny-classifier", "--plan", "int4", "--json"]
    plain, own = (
        json.loads(run(capsys, *line, *more)[1]) for more in ([], ["--calibration", str(tmp_path / "own.txt")])
    )
    assert plain["total"] == own["total"] and plain["tensors"] != own["tensors"]


def test_models_that_are_compressed_already_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = load("tiny-classifier")
    save_compressed(model, compress(model, "int8"), tmp_path / "m")
    code, _, err = run(capsys, "inspect", str(tmp_path / "m"), "--plan", "int4")
    assert code == 2 and "m: holds records, and its weights are the compressed ones; give the model that they" in err


@pytest.fixture
def rows(tmp_path: Path) -> str:
    file = tmp_path / "rows.csv"
    file.write_text("text,label\n" + "a good film,positive\na bad film,negative\n" * 3)
    return str(file)


def test_sensitivity_is_a_table_json_and_a_plot(capsys: pytest.CaptureFixture[str], rows: str, tmp_path: Path) -> None:
    line = ["inspect", "tiny-classifier", "--sensitivity", "--data", rows, "--scheme", "int8", "--scheme", "fp16"]
    code, out, err = run(capsys, *line, "--limit", "4", "--out", str(tmp_path / "made"))
    assert code == 0 and "step 1 of 14: embeddings.token as int8" in err
    assert "tiny-classifier on rows.csv, 4 of 6 rows: accuracy" in out
    assert len([each for each in out.splitlines() if each.startswith("layers.1.ffn ")]) == 2
    assert {file.name for file in (tmp_path / "made").iterdir()} == {"sensitivity.json", "sensitivity.svg"}
    written = json.loads((tmp_path / "made" / "sensitivity.json").read_text())
    code, out, err = run(capsys, *line, "--limit", "4", "--json")
    assert code == 0 and not err and json.loads(out) == written
    assert written["schemes"] == ["int8", "fp16"] and len(written["rows"]) == 14
    assert {"points", "low", "high"} == set(written["rows"][0]["drop"])


def test_schemes_that_are_tried_by_default_are_those_that_there_are() -> None:
    request = SensitivityRequest("x", (), None, None, None, False, {})
    names = [each.name for each in request._schemes()]
    assert names[:2] == ["int8", "int4"] and set(names) == {"int8", "int4", "pal4"} & set(schemes())
