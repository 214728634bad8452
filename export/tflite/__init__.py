"""LiteRT (TensorFlow Lite): one flatbuffer, a signature for each length."""

from __future__ import annotations

from export.registry import CLUSTERED, Overhead, Target, lazily, register
from export.tflite.usage import usage

register(
    Target(
        name="tflite",
        suffix=".tflite",
        extra="tflite",
        schemes=("fp32", "fp16", "int8", "int8-static", "int4", *CLUSTERED),
        refused={"int4-g32": "groups of columns run slower than fp32 there"},
        packages=("ai_edge_litert",),
        # float32, and the int64 zero point that the format demands for each scale.
        scale_bytes=12,
        bias_scale_bytes=4,
        emit=lazily("export.tflite.emit", "emit"),
        read_weights=lazily("export.tflite.read", "read_weights"),
        read_inputs=lazily("export.tflite.read", "read_inputs"),
        attached_bytes=lazily("export.tflite.metadata", "attached_bytes"),
        # benchmarks/results/overhead.json, rounded up.
        overhead=Overhead(once=5_000, per_length=7_600, per_layer=3_200, per_static=340),
        usage=usage,
    )
)
