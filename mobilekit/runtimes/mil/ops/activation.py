"""Activation functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import EngineError
from mobilekit.runtimes.mil.ops.table import kernel

Array = NDArray[Any]

# Odd and even coefficients of x * P(x^2) / Q(x^2), a minimax approximation of erf on -4 .. 4 (the one that Eigen
# and XLA use for float32), lowest power first; beyond 4, erf is 1 in float32.
_NUMERATOR = (
    -1.60960333262415e-02,
    -2.95459980854025e-03,
    -7.34990630326855e-04,
    -5.69250639462346e-05,
    -2.10102402082508e-06,
    2.77068142495902e-08,
    -2.72614225801306e-10,
)
_DENOMINATOR = (
    -1.42647390514189e-02,
    -7.37332916720468e-03,
    -1.68282697438203e-03,
    -2.13374055278905e-04,
    -1.45660718464996e-05,
)


def _polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    total = np.full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total *= x
        total += np.float32(coefficient)
    return total


def erf(x: Array) -> Array:
    """The error function of float32 values, within 5e-7."""
    clipped = np.clip(x, -4.0, 4.0)
    square = clipped * clipped
    return clipped * _polynomial(square, _NUMERATOR) / _polynomial(square, _DENOMINATOR)


@kernel("gelu")
def gelu(x: Array, mode: Array) -> Array:
    """x * Phi(x), exactly (mode EXACT) or by its tanh approximation (Hendrycks and Gimpel 2016)."""
    if mode.item() == "EXACT":
        return 0.5 * x * (1.0 + erf(x * np.float32(0.5**0.5)))
    if mode.item() == "TANH_APPROXIMATION":
        return 0.5 * x * (1.0 + np.tanh(np.float32((2.0 / np.pi) ** 0.5) * (x + 0.044715 * x * x * x)))
    raise EngineError(f"gelu: mode {mode.item()} is unknown to the reference runtime.")


@kernel("relu")
def relu(x: Array) -> Array:
    """max(x, 0)."""
    return np.maximum(x, 0)


@kernel("tanh")
def tanh(x: Array) -> Array:
    """Hyperbolic tangent."""
    return np.tanh(x)
