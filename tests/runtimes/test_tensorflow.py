"""Tensorflow's interpreter as a second opinion on .tflite artifacts: `tensorflow_support.second_opinion`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tensorflow_support import needs_tensorflow, second_opinion, tensorflow_runner

from export.pipeline import export
from mobilekit.artifact import open_folder
from mobilekit.models.load import load

pytestmark = [pytest.mark.slow, needs_tensorflow]


def exported(name: str, scheme: str, out: Path) -> Path:
    (result,) = export(load(name), ("tflite",), scheme, lengths=(16, 48), out=out)
    return Path(result.folder)


@pytest.mark.parametrize("scheme", ["fp32", "fp16", "int8"])
@pytest.mark.parametrize("name", ["tiny-classifier", "tiny-embedding", "tiny-shared"])
def test_tensorflow_agrees(name: str, scheme: str, tmp_path: Path) -> None:
    second_opinion(exported(name, scheme, tmp_path))


def test_kernels_are_two_and_disagreement_is_an_error(tmp_path: Path) -> None:
    folder = exported("tiny-classifier", "fp32", tmp_path)
    artifact = open_folder(folder)
    # The number of delegates: XNNPACK, which tensorflow applies by default, and none.
    assert [tensorflow_runner(artifact, kernels).load_ms for kernels in ("xnnpack", "builtin")] == [1, 0]
    manifest = folder / "manifest.json"
    content = json.loads(manifest.read_text())
    content["golden"][0]["output"][0] += 0.01
    manifest.write_text(json.dumps(content))
    with pytest.raises(AssertionError, match=r"tensorflow with XNNPACK: 1\.0e-02;.* limit max_abs <= 0\.0001"):
        second_opinion(folder)
