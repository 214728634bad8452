"""fp32 and fp16: every tensor as it is, or rounded to half precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.records import Dense
from mobilekit.compression.schemes.registry import Scheme, register
from mobilekit.errors import CompressionError


def single(values: NDArray[np.float32]) -> Dense:
    """The tensor itself."""
    return Dense(np.ascontiguousarray(values, dtype=np.float32))


def half(values: NDArray[np.float32]) -> Dense:
    """The tensor rounded to float16; raises CompressionError when a value does not fit."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest > float(np.finfo(np.float16).max):
        raise CompressionError(f"a value of {largest:g} does not fit float16 (largest 65504); choose fp32.")
    return Dense(values.astype(np.float16))


register(Scheme("fp32", "float32 weights", single, single))
register(Scheme("fp16", "float16 weights and, on Core ML, float16 activations", half, half))
