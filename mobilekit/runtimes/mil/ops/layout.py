"""Operations that move values about, or tell how they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import EngineError
from mobilekit.runtimes.mil.ops.table import kernel

Array = NDArray[Any]


@kernel("shape")
def shape(x: Array) -> Array:
    """int32 [rank]: the size of each axis."""
    return np.array(x.shape, dtype=np.int32)


@kernel("reshape", moves=True)
def reshape(x: Array, shape: Array) -> Array:
    """The same values in another shape; a 0 keeps the size of its axis, a -1 takes what is left."""
    sizes = [x.shape[i] if size == 0 else int(size) for i, size in enumerate(shape)]
    return x.reshape(sizes)


@kernel("transpose", moves=True)
def transpose(x: Array, perm: Array) -> Array:
    """Axes in the order of `perm`."""
    return x.transpose([int(axis) for axis in perm])


@kernel("expand_dims", moves=True)
def expand_dims(x: Array, axes: Array) -> Array:
    """New axes of size 1."""
    return np.expand_dims(x, tuple(int(axis) for axis in axes))


@kernel("concat", moves=True)
def concat(values: tuple[Array, ...], axis: Array, interleave: Array | bool = False) -> Array:
    """Tensors one after the other along `axis`; a scalar counts as one element."""
    if interleave:
        raise EngineError("concat: interleaving is unknown to the reference runtime.")
    return np.concatenate([np.atleast_1d(value) for value in values], axis=int(axis))


@kernel("gather", moves=True)
def gather(
    x: Array,
    indices: Array,
    axis: Array | int = 0,
    batch_dims: Array | int = 0,
    validate_indices: Array | bool = False,
) -> Array:
    """Slices of x along `axis`, in the shape of `indices`; raises EngineError for an index outside of x."""
    if batch_dims:
        raise EngineError("gather: batch_dims is unknown to the reference runtime.")
    _check_inside("gather", indices, x.shape[int(axis)])
    return np.take(x, indices, axis=int(axis))


@kernel("gather_nd", moves=True)
def gather_nd(x: Array, indices: Array, batch_dims: Array | int = 0, validate_indices: Array | bool = False) -> Array:
    """x[i, j, ...] for each row (i, j, ...) of indices [..., axes]; raises EngineError for an index outside of x."""
    if batch_dims:
        raise EngineError("gather_nd: batch_dims is unknown to the reference runtime.")
    places = np.moveaxis(indices, -1, 0)
    for axis, own in enumerate(places):
        _check_inside("gather_nd", own, x.shape[axis])
    return x[tuple(places)]


def _check_inside(kind: str, indices: Array, size: int) -> None:
    # What an index outside does on a phone is not defined, so it is never hidden here.
    if indices.size and not (indices.min() >= 0 and indices.max() < size):
        raise EngineError(f"{kind}: indices {indices.min()} .. {indices.max()} are outside 0 .. {size - 1}.")


@kernel("tile", moves=True)
def tile(x: Array, reps: Array) -> Array:
    """x again and again, `reps` times along each axis."""
    return np.tile(x, [int(count) for count in reps])


@kernel("slice_by_index", moves=True)
def slice_by_index(
    x: Array,
    begin: Array,
    end: Array,
    stride: Array | None = None,
    begin_mask: Array | None = None,
    end_mask: Array | None = None,
    squeeze_mask: Array | None = None,
) -> Array:
    """x[begin:end:stride] axis by axis; a mask opens that side, or takes the one value and drops the axis."""
    picks: list[slice | int] = []
    for axis in range(x.ndim):
        if squeeze_mask is not None and squeeze_mask[axis]:
            picks.append(int(begin[axis]))
            continue
        first = None if begin_mask is not None and begin_mask[axis] else int(begin[axis])
        last = None if end_mask is not None and end_mask[axis] else int(end[axis])
        picks.append(slice(first, last, None if stride is None else int(stride[axis])))
    return x[tuple(picks)]
