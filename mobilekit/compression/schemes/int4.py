"""int4: symmetric 4-bit codes with one scale an output channel or embedding row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.quantize import quantize_rows
from mobilekit.compression.records import Quantized
from mobilekit.compression.schemes.floats import single
from mobilekit.compression.schemes.registry import Scheme, register
from mobilekit.errors import CompressionError


def rows_of_nibbles(weight: NDArray[np.float32]) -> Quantized:
    """4-bit codes; raises CompressionError for an odd row, whose last byte no engine shares with the next row."""
    if weight.ndim == 2 and weight.shape[1] % 2:
        raise CompressionError(f"int4 needs an even number of columns, not {weight.shape[1]}; choose int8.")
    return quantize_rows(weight, 4)


register(
    Scheme(
        "int4",
        "int4 weights, a scale a channel or embedding row; activations as at int8",
        rows_of_nibbles,
        single,
        minimum_ios=18,
        # More helps the engine's activations and costs 4-bit weights more than it gives: on the built-in model engines
        # are within 0.9994 of the weights at 0.5, and not within 0.999 without.
        smooth=0.5,
    )
)
