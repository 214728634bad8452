"""LiteRT (TensorFlow Lite): one flatbuffer, a signature for each length."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from export.registry import Emission, GraphSpec, Overhead, Progress, StoredInput, StoredWeight, Target, register
from export.tflite.usage import USAGE

if TYPE_CHECKING:
    from mobilekit.compression.compressed import CompressedModel


def _emit(model: CompressedModel, spec: GraphSpec, path: Path, progress: Progress) -> Emission:
    from export.tflite.emit import emit

    return emit(model, spec, path, progress)


def _read_weights(path: Path) -> list[StoredWeight]:
    from export.tflite.read import read_weights

    return read_weights(path)


def _read_inputs(path: Path) -> list[StoredInput]:
    from export.tflite.read import read_inputs

    return read_inputs(path)


register(
    Target(
        name="tflite",
        suffix=".tflite",
        extra="tflite",
        schemes=("fp32", "fp16", "int8"),
        packages=("ai_edge_litert",),
        # float32, and the int64 zero point that the format demands for each scale.
        scale_bytes=12,
        emit=_emit,
        read_weights=_read_weights,
        read_inputs=_read_inputs,
        rest_bytes={"fp16": 2},
        # benchmarks/results/overhead.json, rounded up.
        overhead=Overhead(once=5_000, per_length=7_500, per_layer=3_200),
        usage=lambda emission: USAGE,
    )
)
