"""Matrix products, in float32: sums are rounded to the declared type once, at their end."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.runtimes.mil.ops.table import kernel

Array = NDArray[Any]


@kernel("linear")
def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    """x [..., in] @ weight [out, in] transposed + bias [out]."""
    product = x @ weight.T
    return product if bias is None else product + bias


@kernel("matmul")
def matmul(x: Array, y: Array, transpose_x: Array | bool = False, transpose_y: Array | bool = False) -> Array:
    """x @ y over the last two axes, either one transposed before."""
    left = x.swapaxes(-1, -2) if transpose_x else x
    right = y.swapaxes(-1, -2) if transpose_y else y
    return np.matmul(left, right)
