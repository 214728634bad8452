"""LiteRT's compiled model with packed weights in a file: the same answers, and a cache that is never another file's."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support import CLASSIFIER, SHARED, TINY, random_compressed

from export.registry import GraphSpec, target
from mobilekit.errors import InputError
from mobilekit.process import EngineProcess
from mobilekit.runtimes.litert_compiled import _MOST, weight_cache
from mobilekit.runtimes.runner import engine_for

pytestmark = pytest.mark.slow
IDS = np.array([[2, 7, 44, 9, 3, 0, 0, 0]], np.int32)
INPUTS = {"input_ids": IDS, "attention_mask": (IDS > 0).astype(np.int32), "token_type_ids": np.zeros_like(IDS)}


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOBILEKIT_CACHE", str(tmp_path / "cache"))


def answer(path: Path, engine: str) -> np.ndarray:
    with EngineProcess("mobilekit.runtimes.service:service", hide=("tensorflow",)) as process:
        process.call("load", {"engine": engine, "path": str(path), "entries": ["len_8", "len_32"], "threads": 1})
        return np.asarray(process.call("run", {"entry": "len_8"}, INPUTS)[1]["logits"])


def emitted(path: Path, scheme: str, seed: int = 0) -> Path:
    model = random_compressed(SHARED if seed else TINY, CLASSIFIER, scheme)
    target("tflite").emit(model, GraphSpec((8, 32), "Tiny"), path, lambda _: None)
    return path


def test_the_same_answers_from_a_new_cache_and_from_one_that_is_there(tmp_path: Path) -> None:
    path = emitted(tmp_path / "model.tflite", "int8")
    usual = answer(path, "litert")
    new, found = (answer(path, "litert_compiled") for _ in range(2))
    assert weight_cache(path).stat().st_size > 0
    assert np.array_equal(usual, new)
    assert np.array_equal(new, found)


def test_a_file_that_was_written_again_has_another_cache(tmp_path: Path) -> None:
    path = emitted(tmp_path / "model.tflite", "fp32")
    first = weight_cache(path)
    answer(path, "litert_compiled")
    os.utime(path, ns=(0, 0))
    emitted(path, "fp32", seed=1)
    assert weight_cache(path) != first
    assert np.array_equal(answer(path, "litert"), answer(path, "litert_compiled"))


def test_old_caches_go(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(b"0")
    folder = weight_cache(path).parent
    for i in range(_MOST + 5):
        (folder / f"{i}.bin").write_bytes(b"0")
        os.utime(folder / f"{i}.bin", (i, i))
    weight_cache(path).write_bytes(b"0")
    assert len(list(folder.glob("*.bin"))) == _MOST
    assert not (folder / "0.bin").exists()


def test_a_full_disk_is_refused_and_a_cache_that_is_there_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(b"0" * 1000)
    file = weight_cache(path)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=999))
    with pytest.raises(
        InputError, match="xnnpack: packed weights take up to .* MB .*; make room, or set MOBILEKIT_CACHE"
    ):
        weight_cache(path)
    file.write_bytes(b"0")
    assert weight_cache(path) == file


def test_it_runs_only_what_asks_for_it() -> None:
    assert engine_for("tflite").name == "litert"
