"""ExecuTorch: one program, a method for each length, everything but the table look-ups in one XNNPACK delegate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from export.executorch.usage import USAGE
from export.registry import Emission, GraphSpec, Overhead, Progress, StoredInput, StoredWeight, Target, register

if TYPE_CHECKING:
    from mobilekit.compression.compressed import CompressedModel


def _emit(model: CompressedModel, spec: GraphSpec, path: Path, progress: Progress) -> Emission:
    from export.executorch.write import emit

    return emit(model, spec, path, progress)


def _read_weights(path: Path) -> list[StoredWeight]:
    from export.executorch.read import read_weights

    return read_weights(path)


def _read_inputs(path: Path) -> list[StoredInput]:
    from export.executorch.read import read_inputs

    return read_inputs(path)


register(
    Target(
        name="executorch",
        suffix=".pte",
        extra="executorch",
        # No fp16: ExecuTorch keeps GELU out of XNNPACK in float16.
        schemes=("fp32", "int8"),
        packages=("executorch",),
        scale_bytes=4,
        emit=_emit,
        read_weights=_read_weights,
        read_inputs=_read_inputs,
        # benchmarks/results/overhead.json, rounded up.
        overhead=Overhead(once=2_000, per_length=14_000, per_layer=7_500),
        usage=lambda emission: USAGE,
    )
)
