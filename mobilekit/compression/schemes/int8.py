"""int8: symmetric 8-bit codes with one scale an output channel or embedding row."""

from __future__ import annotations

from mobilekit.compression.quantize import quantize_rows
from mobilekit.compression.schemes.floats import single
from mobilekit.compression.schemes.registry import Scheme, register

INT8 = register(
    Scheme(
        "int8",
        "int8 weights, a scale a channel or embedding row; activations int8 on the fly where the engine has it",
        quantize_rows,
        single,
        # From 0.6 to 0.8 the built-in model's int8 output is nearest to the float one.
        smooth=0.75,
    )
)
