"""Smoothing: move the outliers of activations into the weights, so that both are easy to round to 8 bits.

SmoothQuant (Xiao et al. 2023, section 4): `x W^T = (x m) (W / m)^T` for any positive vector m over the input
channels. A few channels of a norm's output are tens of times larger than the rest; engines that quantize activations a
row at a time then spend all their steps on those. BERT's norm output also feeds the residual, so m cannot go into
the norm: it stays a multiplication before the linear maps, a thousandth of their work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

# Multipliers have three significant bits, so that code * scale * multiplier is exact in float32 and each multiplier is
# exact in float16; and they stay where float16 is normal.
_STEPS, _LEAST_EXPONENT, _MOST_EXPONENT = 4, -10, 10
_LEAST_MAGNITUDE = 1e-5

Vectors = dict[str, NDArray[np.float32]]
_Tensor = TypeVar("_Tensor")


def smoothed_linears(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Smoothing name (`layers.0.attention.smooth.weight`) -> the weights that share its input."""
    parts = {"attention.query": ("query", "key", "value"), "ffn.up": ("up",)}
    # The first linear map of each head; the others, and fill-mask's decoder, do not read a layer's norm.
    parts |= {f"head.{linear}": (linear,) for linear in ("pooler", "outputs", "transform")}
    found = {}
    for name in names:
        for first, linears in parts.items():
            if name.endswith(f"{first}.weight"):
                owner = name.removesuffix(f"{linears[0]}.weight")
                found[f"{owner}smooth.weight"] = tuple(f"{owner}{linear}.weight" for linear in linears)
    return found


def smoothing(
    tensors: Mapping[str, NDArray[np.float32]],
    largest: Mapping[str, NDArray[np.float32]],
    strengths: Mapping[str, float],
) -> Vectors:
    """A multiplier for every input channel of the linear maps behind a norm, float32 [H] by smoothing name.

    tensors: of a float model, by name. largest: magnitudes of each linear map's inputs (`calibrate.input_magnitudes`).
    strengths: how much of the outliers goes into the weights (alpha there), 0 to 1, for each vector that is wanted.
    """
    made = {}
    readers = smoothed_linears(list(tensors))
    for name, strength in strengths.items():
        weights = readers[name]
        activation = np.maximum(largest[weights[0].removesuffix(".weight")], _LEAST_MAGNITUDE)
        weight = np.maximum(np.max([np.abs(tensors[w]).max(axis=0) for w in weights], axis=0), _LEAST_MAGNITUDE)
        factor = activation**strength / weight ** (1 - strength)
        made[name] = _short(np.median(factor) / factor)
    return made


def unsmoothed(tensors: Mapping[str, NDArray[np.float32]]) -> Vectors:
    """Tensors of a plain model: each smoothed weight times its multipliers (exact), the multipliers left out."""
    readers = smoothed_linears(list(tensors))
    plain = {name: values for name, values in tensors.items() if name not in readers}
    return plain | {weight: tensors[weight] * multiplier for weight, multiplier in multipliers(tensors).items()}


def multipliers(tensors: Mapping[str, _Tensor]) -> dict[str, _Tensor]:
    """The vector that each smoothed weight was divided by, by the weight's name.

    tensors: arrays or records by name, the vectors of smoothing among them.
    """
    readers = smoothed_linears(list(tensors)).items()
    return {weight: tensors[name] for name, weights in readers if name in tensors for weight in weights}


def _short(values: NDArray[np.floating]) -> NDArray[np.float32]:
    """The nearest of 1, 1.25, 1.5, 1.75 times a power of two."""
    exponent = np.clip(np.floor(np.log2(values)), _LEAST_EXPONENT, _MOST_EXPONENT)
    step = np.clip(np.rint(values / 2.0**exponent * _STEPS), _STEPS, 2 * _STEPS)
    return (step / _STEPS * 2.0**exponent).astype(np.float32)
