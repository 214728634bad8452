"""pal8 to pal1: codebooks of 2**bits levels on the int8 grid (weight sharing), a scale an output channel or row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.cluster import cluster_rows
from mobilekit.compression.compensate import Inputs, cluster_compensated
from mobilekit.compression.records import Clustered
from mobilekit.compression.schemes.floats import single
from mobilekit.compression.schemes.registry import Calibrated, Compress, Scheme, register


def plain(bits: int) -> Compress:
    """Each weight becomes the nearest level."""

    def make(weight: NDArray[np.float32]) -> Clustered:
        return cluster_rows(weight, bits)

    return make


def compensated(bits: int) -> Calibrated:
    """Levels are chosen for the inputs that the weight has on text."""

    def make(weight: NDArray[np.float32], inputs: Inputs) -> Clustered:
        return cluster_compensated(weight, bits, inputs)

    return make


# Weights lose nothing by it at 4 bits and more, and a little below. On the built-in model engines are within 0.999 of
# them from 0.25 on, and not without.
_SMOOTHING = 0.4

for _bits in (8, 6, 4, 3, 2, 1):
    register(
        Scheme(
            f"pal{_bits}",
            f"weights of {2**_bits} levels a matrix (k-means), a scale a channel or row; activations as at int8",
            plain(_bits),
            single,
            # Older tables have no 3 bits.
            minimum_ios=18 if _bits == 3 else 16,
            smooth=_SMOOTHING,
            calibrated=compensated(_bits),
        )
    )
