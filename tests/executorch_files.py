"""ExecuTorch files of tiny models, each written once a test session, in one worker process."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from support import CLASSIFIER, DENSE_EMBEDDING, SHARED, TINY, WORDS, random_compressed

from mobilekit.compression.compressed import CompressedModel, save_records
from mobilekit.process import EngineProcess

LENGTHS = (8, 32)
METADATA = {"name": "tiny", "licence": "Apache-2.0 \N{LATIN SMALL LETTER E WITH ACUTE}"}
ONE_LAYER = replace(TINY, layers=1)
TWO_SHARED = replace(SHARED, layers=2)
MODELS: dict[str, Callable[[], CompressedModel]] = {
    "classifier-int8": lambda: random_compressed(TINY, CLASSIFIER, "int8"),
    "classifier-fp32": lambda: random_compressed(TINY, CLASSIFIER, "fp32"),
    "shared-int8": lambda: random_compressed(TWO_SHARED, DENSE_EMBEDDING, "int8"),
    "shared-fp32": lambda: random_compressed(TWO_SHARED, DENSE_EMBEDDING, "fp32"),
    "words-int8": lambda: random_compressed(TWO_SHARED, WORDS, "int8"),
    "classifier-int4": lambda: random_compressed(TINY, CLASSIFIER, "int4"),
    "shared-int4-g32": lambda: random_compressed(TWO_SHARED, DENSE_EMBEDDING, "int4-g32"),
    "classifier-pal3": lambda: random_compressed(TINY, CLASSIFIER, "pal3"),
    "words-pal4": lambda: random_compressed(TWO_SHARED, WORDS, "pal4"),
    "words-int4": lambda: random_compressed(TWO_SHARED, WORDS, "int4"),
    "words-int4-g32": lambda: random_compressed(ONE_LAYER, WORDS, "int4-g32"),
    "words-fp32": lambda: random_compressed(replace(ONE_LAYER, activation="gelu_new"), WORDS, "fp32"),
    "gelu-new-fp32": lambda: random_compressed(replace(ONE_LAYER, activation="gelu_new"), DENSE_EMBEDDING, "fp32"),
    "no-types-int8": lambda: _without_types(random_compressed(replace(ONE_LAYER, token_types=0), CLASSIFIER, "int8")),
}


@dataclass(frozen=True)
class Exported:
    model: CompressedModel
    path: Path
    emission: dict[str, Any]


def worker() -> EngineProcess:
    """A new worker, as the pipeline starts it."""
    return EngineProcess("export.worker:service", hide=("tensorflow",))


def emit(
    process: EngineProcess, model: CompressedModel, path: Path, lengths: tuple[int, ...] = LENGTHS
) -> dict[str, Any]:
    """Have a worker write `path`; returns the emission's fields."""
    records = path.with_suffix(".safetensors")
    save_records(model, records)
    params = {
        "target": "executorch",
        "records": str(records),
        "out": str(path),
        "lengths": list(lengths),
        "name": "Tiny",
        "minimum_ios": 18,
        "metadata": METADATA,
    }
    fields: dict[str, Any] = process.call("emit", params)[0]
    return fields


@functools.cache
def shared_worker() -> EngineProcess:
    """The session's worker."""
    process = worker()
    atexit.register(process.close)
    return process


@functools.cache
def exported(name: str) -> Exported:
    """The file of one of `MODELS`."""
    model, path = MODELS[name](), _folder() / f"{name}.pte"
    return Exported(model, path, emit(shared_worker(), model, path))


@functools.cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="mobilekit-test-executorch-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _without_types(model: CompressedModel) -> CompressedModel:
    return replace(model, records={n: r for n, r in model.records.items() if n != "embeddings.token_type.weight"})
