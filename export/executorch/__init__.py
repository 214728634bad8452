"""ExecuTorch: one program, a method for each length, everything but the table look-ups in one XNNPACK delegate."""

from __future__ import annotations

from export.executorch.usage import usage
from export.registry import CLUSTERED, Overhead, Target, lazily, register

register(
    Target(
        name="executorch",
        suffix=".pte",
        extra="executorch",
        schemes=("fp32", "int8", "int8-static", "int4", "int4-g32", *CLUSTERED),
        refused={"fp16": "ExecuTorch keeps GELU out of XNNPACK in float16"},
        packages=("executorch",),
        scale_bytes=4,
        bias_scale_bytes=4,
        # bfloat16, in which XNNPACK keeps them.
        group_scale_bytes=2,
        emit=lazily("export.executorch.write", "emit"),
        read_weights=lazily("export.executorch.read", "read_weights"),
        read_inputs=lazily("export.executorch.read", "read_inputs"),
        # benchmarks/results/overhead.json, rounded up.
        overhead=Overhead(once=5_500, per_length=15_000, per_layer=7_500, per_static=500),
        usage=usage,
    )
)
