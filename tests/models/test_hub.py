from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

import pytest

from mobilekit.models.hub import download, license_of


@pytest.mark.parametrize(
    "name",
    ["tokenizer.json", "vocab.txt", "spiece.model", "sentencepiece.bpe.model", "vocab.json", "merges.txt"],
)
def test_every_kind_of_tokenizer_is_fetched(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import huggingface_hub

    asked: dict[str, list[str]] = {}

    def snapshot(repository: str, revision: str | None, allow_patterns: list[str]) -> str:
        asked["patterns"] = allow_patterns
        return str(tmp_path)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    download("someone/some-model", None)
    assert any(fnmatch(name, pattern) for pattern in asked["patterns"])
    assert not any(fnmatch("pytorch_model.bin", pattern) for pattern in asked["patterns"])


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("config.json", True),
        ("model.safetensors", True),
        ("model-00001-of-00002.safetensors", True),
        ("modules.json", True),
        ("1_Pooling/config.json", True),
        ("2_Dense/model.safetensors", True),
        ("0_Transformer/tokenizer.json", True),
        ("onnx/model.safetensors", False),
        ("onnx/config.json", False),
        ("openvino/openvino_model.json", False),
        ("checkpoint-500/model.safetensors", False),
        ("2_Dense/pytorch_model.bin", False),
        ("tf_model.h5", False),
        ("training_args.bin", False),
        ("README.md", True),
    ],
)
def test_only_the_needed_files_are_fetched(name: str, wanted: bool) -> None:
    from huggingface_hub.utils import filter_repo_objects

    from mobilekit.models.hub import _FILES

    assert bool(list(filter_repo_objects([name], allow_patterns=_FILES))) == wanted


@pytest.mark.parametrize(
    ("card", "found"),
    [
        ("---\nlanguage: en\nlicense: apache-2.0\ntags:\n- x\n---\n# Model\n", "apache-2.0"),
        ("---\nlicense: 'mit'\n---\n", "mit"),
        ("# Model\n\nlicense: mit\n", ""),
        ("---\ntags: x\n---\nlicense: mit\n", ""),
        ("", ""),
    ],
)
def test_licence_comes_from_the_model_card(card: str, found: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(card)
    assert license_of(tmp_path) == found


def test_repository_without_a_card_names_no_licence(tmp_path: Path) -> None:
    assert license_of(tmp_path) == ""
