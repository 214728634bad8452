"""Operations that work element by element, with numpy's broadcasting (MIL's is the same)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.runtimes.mil.ops.table import kernel

Array = NDArray[Any]


@kernel("add")
def add(x: Array, y: Array) -> Array:
    """x + y."""
    return x + y


@kernel("sub")
def sub(x: Array, y: Array) -> Array:
    """x - y."""
    return x - y


@kernel("mul")
def mul(x: Array, y: Array) -> Array:
    """x * y."""
    return x * y


@kernel("real_div")
def real_div(x: Array, y: Array) -> Array:
    """x / y."""
    return x / y


@kernel("maximum")
def maximum(x: Array, y: Array) -> Array:
    """The greater of the two."""
    return np.maximum(x, y)


@kernel("not_equal")
def not_equal(x: Array, y: Array) -> Array:
    """bool: x != y."""
    return x != y


@kernel("greater_equal")
def greater_equal(x: Array, y: Array) -> Array:
    """bool: x >= y."""
    return x >= y


@kernel("logical_and")
def logical_and(x: Array, y: Array) -> Array:
    """bool: both."""
    return np.logical_and(x, y)


@kernel("select", moves=True)
def select(cond: Array, a: Array, b: Array) -> Array:
    """a where cond, else b."""
    return np.where(cond, a, b)


@kernel("cast")
def cast(x: Array, dtype: Array) -> Array:
    """x as it is: the declared type of the output, which `dtype` repeats, is applied to every result."""
    return x


@kernel("sqrt")
def sqrt(x: Array) -> Array:
    """Square root."""
    return np.sqrt(x)
