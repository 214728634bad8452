"""Operations that sum over axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.runtimes.mil.ops.table import kernel

Array = NDArray[Any]


def _axes(axes: Array) -> tuple[int, ...]:
    return tuple(int(axis) for axis in axes)


@kernel("reduce_sum")
def reduce_sum(x: Array, axes: Array, keep_dims: Array | bool = False) -> Array:
    """Sum over `axes`."""
    return x.sum(axis=_axes(axes), keepdims=bool(keep_dims))


@kernel("reduce_l2_norm")
def reduce_l2_norm(x: Array, axes: Array, keep_dims: Array | bool = False) -> Array:
    """Square root of the sum of squares over `axes`."""
    return np.sqrt((x * x).sum(axis=_axes(axes), keepdims=bool(keep_dims)))


@kernel("softmax")
def softmax(x: Array, axis: Array) -> Array:
    """exp(x - max) over its sum along `axis`."""
    powers = np.exp(x - x.max(axis=int(axis), keepdims=True))
    return powers / powers.sum(axis=int(axis), keepdims=True)


@kernel("layer_norm")
def layer_norm(x: Array, axes: Array, gamma: Array, beta: Array, epsilon: Array) -> Array:
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta over `axes` (Ba et al. 2016)."""
    over = _axes(axes)
    centred = x - x.mean(axis=over, keepdims=True)
    variance = (centred * centred).mean(axis=over, keepdims=True)
    return centred / np.sqrt(variance + epsilon) * gamma + beta
