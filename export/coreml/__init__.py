"""Core ML: an ML program in an `.mlpackage`, whose compressed constants hold the records."""

from __future__ import annotations

from pathlib import Path

from export.coreml.usage import usage
from export.registry import (
    Emission,
    GraphSpec,
    Overhead,
    Progress,
    StoredInput,
    StoredWeight,
    Target,
    register,
)
from mobilekit.compression.compressed import CompressedModel


def _emit(model: CompressedModel, spec: GraphSpec, path: Path, progress: Progress) -> Emission:
    from export.coreml.write import emit

    return emit(model, spec, path, progress)


def _read_weights(path: Path) -> list[StoredWeight]:
    from export.coreml.read import read_weights

    return read_weights(path)


def _read_inputs(path: Path) -> list[StoredInput]:
    from export.coreml.read import read_inputs

    return read_inputs(path)


TARGET = register(
    Target(
        name="coreml",
        suffix=".mlpackage",
        extra="coreml",
        schemes=("fp32", "fp16", "int8"),
        packages=("coremltools", "protobuf"),
        scale_bytes=2,
        emit=_emit,
        read_weights=_read_weights,
        read_inputs=_read_inputs,
        # At int8 and fp16 the whole program is float16.
        rest_bytes={"fp16": 2, "int8": 2},
        # benchmarks/results/overhead.json, rounded up.
        overhead=Overhead(once=5_500, per_length=14_500, per_layer=10_000),
        usage=usage,
    )
)
