"""Ways to cluster a matrix: ours, coremltools' and scikit-learn's. A service for `mobilekit.process`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.process import Arrays

# A matrix and bits -> what to time; that gives what decodes its result.
_Decode = Callable[[], NDArray[np.float32]]
_Route = Callable[[NDArray[np.float32], int], Callable[[], _Decode]]


def ours(weight: NDArray[np.float32], bits: int) -> Callable[[], _Decode]:
    """Levels on the int8 grid, a scale a row."""
    from mobilekit.compression.cluster import cluster_rows

    return lambda: cluster_rows(weight, bits).decode


def ours_one_scale(weight: NDArray[np.float32], bits: int) -> Callable[[], _Decode]:
    """Levels on the int8 grid of one scale for the tensor: plain k-means, but for the grid."""
    return lambda: _on_grid(weight, np.full((len(weight), 1), np.abs(weight).max() / np.float32(127)), bits)


def ours_largest(weight: NDArray[np.float32], bits: int) -> Callable[[], _Decode]:
    """Levels on the int8 grid, each row's scale its largest magnitude over 127: no search for scales."""
    return lambda: _on_grid(weight, np.abs(weight).max(axis=1, keepdims=True) / np.float32(127), bits)


def _on_grid(weight: NDArray[np.float32], scale: NDArray[np.float32], bits: int) -> _Decode:
    from mobilekit.compression.kmeans import BINS, best_levels, bins, nearest

    place = bins(weight, scale).ravel()
    shares = (np.broadcast_to(scale**2, weight.shape), weight * scale)
    mass, moment = (np.bincount(place, share.ravel(), BINS).astype(np.float64) for share in shares)
    levels, _ = best_levels(mass, moment, 2**bits)
    codes = nearest(levels).take(place)
    return lambda: levels[codes].reshape(weight.shape) * scale


def coremltools(weight: NDArray[np.float32], bits: int) -> Callable[[], _Decode]:
    """What `coremltools.optimize.coreml.palettize_weights` does to a constant of a float16 program: one table."""
    from coremltools.optimize.coreml._quantization_passes import palettize_weights

    half = weight.astype(np.float16)

    def run() -> _Decode:
        found = palettize_weights.blockwise_compress(half, "KMEANS", bits, [0, 0])
        return lambda: found.lut.reshape(-1).astype(np.float32)[found.indices].reshape(weight.shape)

    return run


def coremltools_scaled(weight: NDArray[np.float32], bits: int) -> Callable[[], _Decode]:
    """The same with `enable_per_channel_scale`: each row over its largest magnitude first."""
    from coremltools.optimize.coreml._quantization_passes import palettize_weights

    half = weight.astype(np.float16)

    def run() -> _Decode:
        scale = np.abs(half).max(axis=1, keepdims=True)
        scale[scale == 0] = 1
        found = palettize_weights.blockwise_compress(half / scale, "KMEANS", bits, [0, 0])
        values = found.lut.reshape(-1).astype(np.float32)
        return lambda: values[found.indices].reshape(weight.shape) * scale.astype(np.float32)

    return run


def scikit_learn(weight: NDArray[np.float32], bits: int) -> Callable[[], _Decode]:
    """Lloyd's algorithm, the best of three starts, on the tensor as it is."""
    from sklearn.cluster import KMeans

    def run() -> _Decode:
        found = KMeans(2**bits, n_init=3, random_state=0).fit(weight.reshape(-1, 1))
        return lambda: found.cluster_centers_[found.labels_].astype(np.float32).reshape(weight.shape)

    return run


def free_levels(weight: NDArray[np.float32], bits: int) -> Callable[[], _Decode]:
    """The problem of `ours_largest` with levels that need not be on the grid, by coremltools' exact solver."""
    from coremltools._deps import _kmeans1d

    def run() -> _Decode:
        scale = np.abs(weight).max(axis=1, keepdims=True) / np.float32(127)
        shares = np.broadcast_to(scale**2, weight.shape).ravel()
        found = _kmeans1d.cluster((weight / scale).ravel(), 2**bits, weights=shares)
        return lambda: np.array(found.centroids, np.float32)[found.clusters].reshape(weight.shape) * scale

    return run


ROUTES: dict[str, _Route] = {
    route.__name__: route
    for route in (ours, ours_one_scale, ours_largest, coremltools, coremltools_scaled, scikit_learn, free_levels)
}


def service() -> Callable[..., tuple[Any, Arrays]]:
    """Factory for `mobilekit.process`: one method, {route, bits} with a weight, that gives seconds and error."""
    return _serve


def _serve(method: str, params: dict[str, Any], arrays: Arrays, progress: Callable[[str], None]) -> tuple[Any, Arrays]:
    weight = np.asarray(arrays["weight"], np.float32)
    run = ROUTES[params["route"]](weight, int(params["bits"]))
    started, used = time.perf_counter(), time.process_time()
    decode = run()
    used, taken = time.process_time() - used, time.perf_counter() - started
    error = float(((weight.astype(np.float64) - decode()) ** 2).sum())
    return {"cpu_seconds": used, "seconds": taken, "error": error}, {}
