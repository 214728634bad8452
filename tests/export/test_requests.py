"""What is asked for is refused before any work, in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from export.manifest import swift_name
from export.pipeline import export, prepare
from export.registry import Emission, targets
from mobilekit.errors import InputError, MissingExtraError


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "corml"}, "target 'corml' is unknown; did you mean 'coreml'"),
        ({"scheme": "int5"}, "scheme 'int5' is unknown; did you mean 'int8'"),
        (
            {"target": "executorch", "scheme": "fp16"},
            "target 'executorch' cannot hold scheme 'fp16' .ExecuTorch keeps GELU .*; it can hold fp32, int8",
        ),
        ({"minimum_ios": 15}, "--minimum-ios 15 is unknown; choose from 16, 17, 18"),
        ({"target": []}, "no target given"),
        ({"lengths": ()}, "no length given"),
        ({"lengths": (32, 32)}, "length 32 is given twice"),
        ({"lengths": (0,)}, "length 0 is outside 5 to 128"),
        ({"lengths": (-4,)}, "length -4 is outside"),
        ({"lengths": (129,)}, "length 129 is outside 5 to 128, the model's position table"),
        ({"model": "nothing"}, "model 'nothing' is unknown"),
    ],
)
def test_impossible_requests_are_refused(options: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        export(**{"model": "tiny-classifier", "out": tmp_path / "out", **options})  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("model", "needs"), [("tiny-reader", "token types"), ("tiny-words", "which token is asked for")]
)
def test_heads_that_need_more_inputs_than_old_core_ml_takes_are_refused(model: str, needs: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{needs}.*Give one length, or --minimum-ios 18"):
        export(model, "coreml", lengths=(16, 32), minimum_ios=16, out=tmp_path)


def test_existing_artifact_needs_force(tmp_path: Path) -> None:
    (tmp_path / "tiny-classifier-int8" / "tflite").mkdir(parents=True)
    with pytest.raises(InputError, match="exists already; --force replaces it"):
        export("tiny-classifier", out=tmp_path)


def test_all_targets_means_those_that_have_the_scheme() -> None:
    assert prepare(None, "int8", 18) == ["coreml", "executorch", "tflite"]
    assert prepare(None, "fp16", 18) == ["coreml", "tflite"]
    assert prepare(None, "int4", 18) == ["coreml", "executorch", "tflite"]
    assert prepare(None, "int4-g32", 18) == ["coreml", "executorch"]


def test_old_systems_are_refused_only_where_core_ml_is_asked_for() -> None:
    with pytest.raises(InputError, match="'int4-g32' needs iOS 18 on Core ML; give --minimum-ios 18, or one that iOS"):
        prepare(None, "int4-g32", 16)
    assert prepare("tflite", "int4", 16) == ["tflite"]


def test_missing_extra_names_the_pip_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("export.pipeline.is_installed", lambda name: False)
    with pytest.raises(MissingExtraError, match=r"pip install 'mobilekit\[tflite\]'"):
        prepare("tflite", "int8", 18)


@pytest.mark.parametrize(
    ("title", "scheme", "name"),
    [
        ("MiniLM-L6", "int8", "MiniLML6Int8"),
        ("my bert_model.v2", "fp16", "MyBertModelV2Fp16"),
        ("6-layers", "int8", "Model6LayersInt8"),
        ("naïve", "fp32", "NaVeFp32"),
    ],
)
def test_core_ml_files_are_named_as_swift_classes_can_be(title: str, scheme: str, name: str) -> None:
    assert swift_name(title, scheme) == name


def test_every_target_says_how_an_app_uses_it() -> None:
    emission = Emission({32: "len_32"}, ("input_ids", "attention_mask", "token_type_ids"), "engine", "1")
    for target in targets().values():
        text = target.usage(emission)
        assert "{file}" in text and "```" in text and "{output}" in text and "{length}" in text
        assert "types" in text


def test_core_ml_lines_fit_old_packages_with_one_input() -> None:
    usage = targets()["coreml"].usage
    old = usage(Emission({32: "main", 128: "main"}, ("input_ids",), "Core ML", "6"))
    assert "functionName" not in old and "mask" not in old
    new = usage(Emission({32: "len_32"}, ("input_ids", "attention_mask"), "Core ML", "8"))
    assert "functionName" in new and '"attention_mask": mask' in new
