"""int8-static: the weights of int8, and activations whose scales are fixed beforehand on text."""

from __future__ import annotations

from dataclasses import replace

from mobilekit.compression.schemes.int8 import INT8
from mobilekit.compression.schemes.registry import register

register(
    replace(
        INT8,
        name="int8-static",
        about="int8 weights as int8; activations int8 with scales fixed on text, around the maps that bear it",
        # Core ML's quantize and dequantize.
        minimum_ios=17,
        static=True,
    )
)
