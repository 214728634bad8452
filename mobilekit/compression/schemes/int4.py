"""int4 and int4-g32: symmetric 4-bit codes with a scale an output channel or embedding row, or every 32 columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.compensate import Inputs, quantize_compensated
from mobilekit.compression.records import Quantized
from mobilekit.compression.scales import quantize_searched
from mobilekit.compression.schemes.floats import single
from mobilekit.compression.schemes.registry import Scheme, register
from mobilekit.errors import CompressionError

_GROUP = 32
# More helps the engine's activations and costs 4-bit weights more than it gives: on the built-in model engines are
# within 0.9994 of the weights at 0.5, and not within 0.999 without.
_SMOOTHING = 0.5


def even(shape: tuple[int, ...]) -> None:
    """Raise CompressionError for odd rows: no engine shares the last byte of one with the next."""
    if len(shape) == 2 and shape[1] % 2:
        raise CompressionError(f"int4 needs an even number of columns, not {shape[1]}; choose int8.")


def whole(shape: tuple[int, ...]) -> None:
    """Raise CompressionError for columns that do not fill groups."""
    if len(shape) == 2 and shape[1] % _GROUP:
        raise CompressionError(f"groups of {_GROUP} do not divide its {shape[1]} columns; choose int4 or int8.")


def rows(weight: NDArray[np.float32], inputs: Inputs | None = None) -> Quantized:
    """4-bit codes."""
    even(weight.shape)
    return quantize_searched(weight, 4) if inputs is None else quantize_compensated(weight, 4, inputs)


def groups(weight: NDArray[np.float32], inputs: Inputs | None = None) -> Quantized:
    """4-bit codes in groups."""
    whole(weight.shape)
    if inputs is None:
        return quantize_searched(weight, 4, _GROUP)
    return quantize_compensated(weight, 4, inputs, _GROUP)


register(
    Scheme(
        "int4",
        "int4 weights, a scale a channel or embedding row; activations as at int8",
        rows,
        single,
        minimum_ios=18,
        smooth=_SMOOTHING,
        calibrated=rows,
        check=even,
    )
)
register(
    Scheme(
        "int4-g32",
        "int4 weights, a scale every 32 columns of a channel or embedding row; activations as at int8",
        groups,
        single,
        minimum_ios=18,
        smooth=_SMOOTHING,
        calibrated=groups,
        check=whole,
    )
)
