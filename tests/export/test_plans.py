"""Plans on real engines: mixed records are written, checked and kept within their budget on every target."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from export.manifest import require_known_plan
from export.pipeline import ExportResult, export, prepare, recheck
from mobilekit.artifact import open_folder
from mobilekit.compression.compress import compress
from mobilekit.compression.folder import save_compressed
from mobilekit.compression.pack.pack import pack, unpack
from mobilekit.compression.plan_file import read_plan
from mobilekit.errors import InputError
from mobilekit.models.load import load

EXAMPLE = Path(__file__).parents[2] / "docs" / "plans" / "mixed.toml"


def exported(place: Path, name: str, rules: str, target: str) -> ExportResult:
    """What became of a small model by a plan of this name."""
    plan = place / f"{name}.toml"
    plan.write_text(rules)
    (result,) = export("tiny-classifier", target, str(plan), lengths=(16,), out=place)
    return result


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ExportResult]:
    out = tmp_path_factory.mktemp("out")
    return {r.target: r for r in export("tiny-classifier", scheme=str(EXAMPLE), lengths=(16,), out=out)}


@pytest.mark.slow
def test_every_target_holds_a_mixed_plan(results: dict[str, ExportResult]) -> None:
    assert set(results) == {"coreml", "executorch", "tflite"}
    bits = {}
    for name, result in results.items():
        assert result.passed and result.folder is not None
        assert result.folder.parent.name == "tiny-classifier-mixed"
        assert result.manifest["scheme"] == "mixed" and result.manifest["plan"] == read_plan(EXAMPLE).to_json()
        assert result.manifest["tolerance"]["host"] == {"metric": "cosine", "limit": 0.999}
        bits[name] = {t["name"]: (t["kind"], t["bits"]) for t in result.manifest["tensors"]}
    assert bits["coreml"] == bits["executorch"] == bits["tflite"]
    found = bits["coreml"]
    assert found["layers.0.attention.key.weight"] == ("dense", 32)
    assert "layers.0.attention.smooth.weight" not in found and "layers.1.attention.smooth.weight" in found
    assert found["embeddings.token.weight"] == found["layers.1.ffn.up.weight"] == ("quantized", 4)
    assert found["layers.1.ffn.down.weight"] == ("quantized", 8)


@pytest.mark.slow
def test_artifacts_of_plans_are_checked_again(results: dict[str, ExportResult]) -> None:
    folder = results["tflite"].folder
    assert folder is not None
    assert all(check.passed for check in recheck(folder)[1])
    file = folder / "manifest.json"
    content = json.loads(file.read_text())
    content["plan"][1]["scheme"] = "int9"
    file.write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"manifest.json: its plan: rule 2 \(embeddings.token\): scheme 'int9' is unk"):
        require_known_plan(open_folder(folder))


@pytest.mark.slow
def test_floats_of_several_widths_keep_the_budget(tmp_path: Path) -> None:
    """A float16 table beside float32 norms, half of the floor that all-float32 tensors would have."""
    plan = tmp_path / "floats.toml"
    plan.write_text('[[rule]]\npattern = "embeddings.*"\nscheme = "fp16"\n[[rule]]\npattern = "head.*"\nskip = true\n')
    (result,) = export("tiny-shared", "tflite", str(plan), lengths=(16, 48), out=tmp_path)
    assert result.passed and result.manifest["tolerance"]["host"]["metric"] == "max_abs"


@pytest.mark.slow
def test_saved_records_of_a_plan_are_exported_verbatim(tmp_path: Path) -> None:
    model = load("tiny-shared")
    compressed = compress(model, str(EXAMPLE))
    save_compressed(model, compressed, tmp_path / "m")
    (result,) = export(str(tmp_path / "m"), "tflite", str(tmp_path / "m" / "mixed.toml"), lengths=(16,), out=tmp_path)
    hashes = {t["name"]: t["sha256"].get("record") for t in result.manifest["tensors"]}
    for name, record in compressed.records.items():
        if hashes[name] is not None:
            assert hashes[name] == record.fingerprint(), name


def test_all_targets_means_those_that_hold_every_rule(tmp_path: Path) -> None:
    plan = tmp_path / "p.toml"
    for scheme, expected in (("int4-g32", ["coreml", "executorch"]), ("fp16", ["coreml", "tflite"])):
        plan.write_text(
            f'[[rule]]\npattern = "*"\nscheme = "int8"\n[[rule]]\npattern = "head.*"\nscheme = "{scheme}"\n'
        )
        assert prepare(None, str(plan), 18) == expected


OUTLIERS = (
    '[[rule]]\npattern = "*"\nscheme = "int8"\n'
    '[[rule]]\npattern = ["layers.*", "embeddings.token"]\nscheme = "pal2"\noutliers = 20\n'
)


def test_all_targets_leaves_out_core_ml_where_outliers_are_kept_apart(tmp_path: Path) -> None:
    plan = tmp_path / "p.toml"
    plan.write_text(OUTLIERS)
    assert prepare(None, str(plan), 18) == ["executorch", "tflite"]
    message = r"rule 2 \(layers.\*\): target 'coreml' cannot hold outliers of scheme 'pal2' \(.*\); leave outliers out"
    with pytest.raises(InputError, match=message):
        prepare("coreml", str(plan), 18)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["executorch", "tflite"])
def test_outliers_kept_apart_are_written_and_packed(target: str, tmp_path: Path) -> None:
    result = exported(tmp_path, "p", OUTLIERS, target)
    assert result.passed and result.folder is not None
    entries = {t["name"]: t for t in result.manifest["tensors"]}
    assert 4 < entries["layers.0.ffn.up.weight"]["levels"] <= 255
    pack(result.folder, tmp_path / "p.mkpack")
    unpack(tmp_path / "p.mkpack", tmp_path / "again")
    file = result.manifest["file"]
    assert (tmp_path / "again" / file).read_bytes() == (result.folder / file).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("target", ["coreml", "tflite"])
def test_codebooks_by_groups_of_rows_beside_other_schemes(target: str, tmp_path: Path) -> None:
    rules = (
        '[[rule]]\npattern = "*"\nscheme = "int8"\n'
        '[[rule]]\npattern = "layers.*.ffn.*"\nscheme = "pal3"\ngroups = 8\n'
        '[[rule]]\npattern = "embeddings.token"\nscheme = "int4"\n'
    )
    result = exported(tmp_path, "books", rules, target)
    assert result.passed and result.manifest["plan"][1] == {"pattern": "layers.*.ffn.*", "scheme": "pal3", "groups": 8}
    assert recheck(result.folder or "")[0].manifest.content["scheme"] == "books"


@pytest.mark.slow
@pytest.mark.parametrize("target", ["coreml", "executorch", "tflite"])
def test_fixed_scales_of_activations_beside_other_schemes(target: str, tmp_path: Path) -> None:
    rules = (
        '[[rule]]\npattern = "*"\nscheme = "int4"\n'
        '[[rule]]\npattern = "layers.*.attention.*"\nscheme = "int8-static"\n'
        '[[rule]]\npattern = "layers.1.attention.output"\nscheme = "int8"\n'
    )
    result = exported(tmp_path, "static", rules, target)
    assert result.passed and result.folder is not None
    assert result.manifest["tolerance"]["host"] == {"metric": "cosine", "limit": 0.999}
    parts = [t["name"].removesuffix(".weight") for t in result.manifest["tensors"] if "activations" in t]
    assert parts and all(".attention." in part and part != "layers.1.attention.output" for part in parts)
    assert all(check.passed for check in recheck(result.folder)[1])
