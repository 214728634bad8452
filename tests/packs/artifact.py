"""An artifact that no engine made: what `pack` asks of one is its manifest and its hashes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
from support import fake_manifest

from mobilekit.artifact import Json, size_and_hash, write_manifest


def fake_artifact(folder: Path, size: int = 40_000) -> Path:
    """A .tflite artifact: so many weights, some floats and text around them."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(5)
    floats = rng.normal(size=300).astype(np.float32).tobytes()
    codes = np.rint(rng.normal(size=size) * 12).astype(np.int8)
    (folder / "model.tflite").write_bytes(b"TFL3" * 40 + codes.tobytes() + floats)
    (folder / "tokenizer.json").write_text('{"model": {"vocab": {"the": 0, "same": 1}}}\n' * 50)
    _write(folder, fake_manifest(folder))
    return folder


def fake_package(folder: Path, more: Mapping[str, bytes] = MappingProxyType({})) -> Path:
    """A Core ML artifact: the model is a folder. more: files in it."""
    fake_artifact(folder)
    inner = folder / "Fake.mlpackage" / "Data" / "com.apple.CoreML"
    (inner / "weights").mkdir(parents=True)
    (folder / "model.tflite").rename(inner / "weights" / "weight.bin")
    (inner / "model.mlmodel").write_bytes(b"\x08\x09" * 900)
    (folder / "Fake.mlpackage" / "Manifest.json").write_text("{}\n")
    for name, data in more.items():
        (inner / name).parent.mkdir(exist_ok=True)
        (inner / name).write_bytes(data)
    (folder / "model.tflite").write_bytes(b"")
    content = fake_manifest(folder) | {"target": "coreml", "file": "Fake.mlpackage"}
    (folder / "model.tflite").unlink()
    _write(folder, content)
    return folder


def _write(folder: Path, content: Json) -> None:
    content["bytes"], content["sha256"] = size_and_hash(folder / content["file"])
    write_manifest(folder, content)
