"""pal8 to pal1: codebooks of 2**bits levels on the int8 grid (weight sharing), a scale an output channel or row."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.compensate import Inputs, cluster_compensated
from mobilekit.compression.outliers import cluster_apart
from mobilekit.compression.records import Clustered
from mobilekit.compression.schemes.floats import single
from mobilekit.compression.schemes.registry import Calibrated, Compress, Scheme, register
from mobilekit.errors import CompressionError


def plain(bits: int, groups: int, outliers: int) -> Compress:
    """Each weight becomes the nearest level."""

    def make(weight: NDArray[np.float32]) -> Clustered:
        return cluster_apart(weight, bits, outliers, groups)

    return make


def compensated(bits: int, groups: int, outliers: int) -> Calibrated:
    """Levels are chosen for the inputs that the weight has on text."""

    def make(weight: NDArray[np.float32], inputs: Inputs) -> Clustered:
        return cluster_compensated(weight, bits, inputs, groups, outliers)

    return make


def divides(groups: int) -> Callable[[tuple[int, ...]], None]:
    """A check that raises CompressionError where rows do not make so many equal groups."""

    def check(shape: tuple[int, ...]) -> None:
        if shape[0] % groups:
            raise CompressionError(f"{groups} groups do not divide its {shape[0]} rows; choose a divisor.")

    return check


# Weights lose nothing by it at 4 bits and more, and a little below. On the built-in model engines are within 0.999 of
# them from 0.25 on, and not without.
_SMOOTHING = 0.4

# Runs of rows with a codebook of their own that a plan's rule may ask for.
_MOST_GROUPS = 64
# Thousandths of a matrix that may be kept apart, and the bits at which that pays.
_MOST_OUTLIERS, _FEW_BITS = 50, (2, 3)


def clustered(bits: int, groups: int = 1, outliers: int = 0) -> Scheme:
    """The scheme of 2**bits levels for each of some groups of rows; outliers: thousandths that are kept apart."""
    options = {"groups": range(1, _MOST_GROUPS + 1)}
    if bits in _FEW_BITS:
        options["outliers"] = range(1, _MOST_OUTLIERS + 1)
    return Scheme(
        f"pal{bits}",
        f"weights of {2**bits} levels a matrix (k-means), a scale a channel or row; activations as at int8",
        plain(bits, groups, outliers),
        single,
        # Older tables have no 3 bits, and are one a matrix.
        minimum_ios=18 if bits == 3 or groups > 1 else 16,
        smooth=_SMOOTHING,
        calibrated=compensated(bits, groups, outliers),
        options=options,
        configure=functools.partial(clustered, bits),
        check=divides(groups),
    )


for _bits in (8, 6, 4, 3, 2, 1):
    register(clustered(_bits))
