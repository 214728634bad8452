"""How activations around linear maps are rounded where that is fixed beforehand (`int8-static`); no target owns it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.records import LEAST_NORMAL
from mobilekit.errors import CompressionError, short

LEAST_CODE, MOST_CODE = -128, 127
# Whole numbers up to here are exact in float32, so that engines that round biases anew get the same.
MOST_BIAS = 2**23
MOST_SCALE = float(np.finfo(np.float16).max)


@dataclass(frozen=True)
class Activation:
    """A tensor of activations as int8 codes: values are (code - zero_point) * scale, one scale for all of it.

    scale: > 0, exact in float16 and normal there, in which Core ML keeps it. zero_point: the code of 0, -128 .. 127.
    """

    scale: float
    zero_point: int

    def __post_init__(self) -> None:
        if not LEAST_NORMAL <= self.scale <= MOST_SCALE or float(np.float16(self.scale)) != self.scale:
            raise CompressionError(
                f"the scale of activations has to be > 0 and exact in float16, not {short(repr(self.scale))}."
            )
        if not LEAST_CODE <= self.zero_point <= MOST_CODE:
            raise CompressionError(f"the zero point of activations is a code, not {short(repr(self.zero_point))}.")

    def codes(self, values: NDArray[np.float32]) -> NDArray[np.int8]:
        """The nearest codes, int8."""
        steps = np.rint(values / np.float32(self.scale)) + np.float32(self.zero_point)
        return np.clip(steps, LEAST_CODE, MOST_CODE).astype(np.int8)

    def rounded(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Values as their codes hold them, float32."""
        return (self.codes(values).astype(np.float32) - np.float32(self.zero_point)) * np.float32(self.scale)

    def to_json(self) -> dict[str, Any]:
        """As records and manifest have it."""
        return {"scale": self.scale, "zero_point": self.zero_point}


@dataclass(frozen=True)
class Static:
    """The activations of a linear map: what it reads (after smoothing), and what it gives (with its bias)."""

    input: Activation
    output: Activation

    def to_json(self) -> dict[str, Any]:
        """As records and manifest have it."""
        return {"input": self.input.to_json(), "output": self.output.to_json()}


def static_from_json(content: Mapping[str, Any]) -> Static:
    """What `Static.to_json` gave; raises KeyError, TypeError or CompressionError when it is none."""
    made = []
    for part in ("input", "output"):
        scale, zero_point = content[part]["scale"], content[part]["zero_point"]
        if isinstance(zero_point, bool) or not isinstance(zero_point, int) or not isinstance(scale, float | int):
            raise TypeError(f"activations of type {type(scale).__name__} and {type(zero_point).__name__}")
        made.append(Activation(float(scale), zero_point))
    return Static(*made)


def bias_scale(weight_scale: NDArray[np.float32], given: Activation) -> NDArray[np.float32]:
    """What a code of the int32 sums of a linear map is worth, float32 [rows]; its bias is kept in these too.

    weight_scale: [rows, 1]. given: the activation that it reads.
    """
    return weight_scale.reshape(-1) * np.float32(given.scale)


def is_whole(bias: NDArray[np.float32], unit: NDArray[np.float32]) -> bool:
    """Whether a bias is whole numbers of its `bias_scale`, so small that float32 holds each of them."""
    codes = np.rint(bias / unit)
    return bool((np.abs(codes) <= MOST_BIAS).all()) and np.array_equal(codes * unit, bias)
