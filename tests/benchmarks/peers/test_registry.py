"""The registry of peers: names, messages, and that looking into it costs nothing."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from benchmarks.peers import registry
from benchmarks.peers.registry import peer, peers
from mobilekit.errors import InputError, MissingExtraError

NAMES = {
    "torch-eager", "torch-compiled",
    "onnxruntime-fp32", "onnxruntime-int8",
    "stock-executorch-fp32", "stock-executorch-int8",
    "stock-tflite-fp32", "stock-tflite-int8", "stock-tflite-int4",
    "stock-coreml-fp16", "stock-coreml-int8", "stock-coreml-int4", "stock-coreml-pal4",
}  # fmt: skip


def test_every_peer_is_there_under_its_name() -> None:
    assert set(peers()) == NAMES
    assert list(peers()) == sorted(peers())
    assert all(each.name == name and each.about and "\n" not in each.about for name, each in peers().items())


def test_an_unknown_name_says_which_there_are() -> None:
    with pytest.raises(
        InputError, match=r"^peer 'onnx-fp32' is unknown; did you mean 'onnxruntime-fp32'\? Choose from"
    ):
        peer("onnx-fp32")


def test_every_package_comes_with_an_extra_that_exists() -> None:
    extras = tomllib.loads(Path("pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {extra for each in peers().values() for extra in each.packages.values()} <= {"", *extras}


def test_a_package_that_is_missing_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "is_installed", lambda package: package != "onnxscript")
    peer("torch-eager").check_installed()
    with pytest.raises(MissingExtraError, match=r"^peer onnxruntime-int8 needs onnxscript, .* 'mobilekit\[bench\]'$"):
        peer("onnxruntime-int8").check_installed()


def test_only_core_ml_is_not_timed_off_macos() -> None:
    untimed = {name for name, each in peers().items() if not each.timed}
    assert untimed == (set() if sys.platform == "darwin" else {name for name in NAMES if "coreml" in name})


def test_the_registry_imports_no_tool() -> None:
    heavy = (
        "ai_edge_litert",
        "coremltools",
        "executorch",
        "litert_torch",
        "onnx",
        "onnxruntime",
        "torch",
        "transformers",
    )
    code = (
        "import sys; from benchmarks.peers.registry import peers; peers(); "
        f"print(*(name for name in {heavy!r} if name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() == []
