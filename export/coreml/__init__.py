"""Core ML: an ML program in an `.mlpackage`, whose compressed constants hold the records."""

from __future__ import annotations

from export.coreml.usage import usage
from export.registry import CLUSTERED, Overhead, Target, lazily, register

register(
    Target(
        name="coreml",
        suffix=".mlpackage",
        extra="coreml",
        schemes=("fp32", "fp16", "int8", "int8-static", "int4", "int4-g32", *CLUSTERED),
        packages=("coremltools", "protobuf"),
        scale_bytes=2,
        group_scale_bytes=2,
        emit=lazily("export.coreml.write", "emit"),
        read_weights=lazily("export.coreml.read", "read_weights"),
        read_inputs=lazily("export.coreml.read", "read_inputs"),
        # Below fp32 the whole program is float16.
        rest_bytes={"fp16": 2, "int8": 2},
        codebooks=True,
        refused_options={"outliers": "a look-up table knows none; they would be a matrix of their own"},
        # benchmarks/results/overhead.json, rounded up.
        # The last two are sizes of operations and blobs: a table's and its scale's, a product's and its bias's.
        overhead=Overhead(
            once=6_000, per_length=15_000, per_layer=9_600, per_static=2_200, per_table=400, per_product=320
        ),
        usage=usage,
    )
)
