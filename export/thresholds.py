"""The thresholds of every check, with their reasons, in one place; and the byte budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mobilekit.artifact import Json


@dataclass(frozen=True)
class Tolerance:
    """How far outputs may lie apart. metric: `max_abs` (at most limit) or `cosine` (at least limit).

    resolution: for `max_abs`, a share of the largest output below which the float type itself cannot tell values
    apart; where it is more than limit, it is the limit.
    """

    metric: str
    limit: float
    resolution: float = 0.0

    def at(self, largest: float) -> Tolerance:
        """The tolerance for outputs of which the largest magnitude is `largest`."""
        return Tolerance(self.metric, max(self.limit, self.resolution * largest))

    def to_dict(self) -> dict[str, Any]:
        """As the manifest has it."""
        return {"metric": self.metric, "limit": self.limit}


@dataclass(frozen=True)
class Thresholds:
    """output: artifact against torch on the same decoded weights, on the host. device: the same on a phone, where
    processors differ. padding: largest change of the output when padding is added or changed."""

    output: Tolerance
    device: Tolerance
    padding: Tolerance


# Logits of a vocabulary reach 20, where float16's neighbours lie 0.016 apart: two of them for rounding in the last
# layers (2**-9 of the value), and in float32 as many as several layers of sums lose of 24 bits.
_SINGLE_RESOLUTION, _HALF_RESOLUTION = 2e-6, 2.0**-9
# fp32: the same float32 sums in another order. fp16: half precision has 11 bits, errors add up over layers.
# int8: engines quantize activations on the fly, so only the direction is held; Core ML computes in float16. A phone's
# processor rounds otherwise than x86 (int8 kernels differ by about 5e-3: benchmarks/results/arm64.json), and a Neural
# Engine sums in float16.
_EXACT = Thresholds(
    Tolerance("max_abs", 1e-4, _SINGLE_RESOLUTION),
    Tolerance("max_abs", 1e-3, 10 * _SINGLE_RESOLUTION),
    Tolerance("max_abs", 1e-5, _SINGLE_RESOLUTION),
)
_HALF = Thresholds(
    Tolerance("max_abs", 5e-3, _HALF_RESOLUTION),
    Tolerance("max_abs", 2e-2, 4 * _HALF_RESOLUTION),
    Tolerance("max_abs", 2e-3, _HALF_RESOLUTION),
)
_QUANTIZED = Thresholds(
    Tolerance("cosine", 0.999), Tolerance("cosine", 0.995), Tolerance("max_abs", 5e-3, _HALF_RESOLUTION)
)
# Activations of fixed scales are whole steps, the logits too: 1/255 of their range, so at most 1/127 of the largest.
# Sums in another order, as another length brings them, can fall to the next one.
_STATIC = replace(_QUANTIZED, padding=Tolerance("max_abs", 5e-3, 2 / 127))
_BY_SCHEME = {"fp32": _EXACT, "fp16": _HALF, "int8-static": _STATIC}


def thresholds(scheme: str) -> Thresholds:
    """The thresholds of a scheme; everything below fp16 that is not named has those of int8."""
    return _BY_SCHEME.get(scheme, _QUANTIZED)


def thresholds_of(tensors: Sequence[Json]) -> Thresholds:
    """The thresholds of a manifest's tensors."""
    return thresholds("int8-static" if any("activations" in entry for entry in tensors) else precision(tensors))


def precision(tensors: Iterable[Json]) -> str:
    """The scheme whose thresholds hold for a manifest's tensors, whatever plan they are of: fp32 where all of them are
    float32, fp16 where all are floats, else int8."""
    kinds = {entry["bits"] if entry["kind"] == "dense" else 8 for entry in tensors}
    return "fp32" if kinds <= {32} else "fp16" if kinds <= {16, 32} else "int8"


# A single embedding's cosine, where the mean keeps the limit above. int8 activations are rounded to 1/255 of their
# row's range; in a text of two or three tokens that averages out less.
LEAST_COSINE = 0.997

# How far an embedding's length may be off, and how well logits hold together once their common offset is taken off.
LENGTH_RATIO = 0.03
CENTRED_COSINE = 0.99

# A padded row can change a quantized output by its tolerance; a class may change only if it was that close before.
PADDING_MARGIN = 2.0

# Bytes over the records' own floor: what the graph itself takes, a layer and length, and once. Measured on the
# built-in and tiny models by `python -m benchmarks.overhead`, rounded up.
PAYLOAD_FACTOR = 1.01
