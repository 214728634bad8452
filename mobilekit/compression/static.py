"""Which linear maps have activations with fixed scales, and what that asks of their weights and biases.

In BERT some activations bear one scale for all of a tensor and some do not (Bondarenko et al. 2021): a few tokens and
channels are so large that nothing is left for the rest.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.activations import Static, bias_scale
from mobilekit.compression.bearing import rounding_losses
from mobilekit.compression.calibrate import linear_maps
from mobilekit.compression.compressed import CompressedModel
from mobilekit.compression.quantize import codes_of, rounded_scales
from mobilekit.compression.ranges import static_ranges
from mobilekit.compression.records import Dense, Quantized, Record
from mobilekit.compression.rounding import input_multipliers
from mobilekit.errors import CompressionError, InputError
from mobilekit.models.model import Model

# Of the output's squares, the share that all fixed scales together may cost: cosines of 0.99975. On the built-in model
# they are 0.9996 on its golden inputs; with what engines round on the fly that keeps the limit of `check`, 0.999.
MOST_LOST = 5e-4
# Ranges and losses settle early, and looking takes three passes.
_MOST_TEXTS = 128
# How many codes of the output one of the sums may be worth, at most: XNNPACK takes no more, and ends the process.
_MOST_STEPS = 128.0
# Codes of biases stay where float32 holds each of them, so that engines that round them anew get the same.
_LARGEST_BIAS = 2**22


def with_activations(
    model: Model, compressed: CompressedModel, parts: Collection[str], texts: Sequence[str]
) -> CompressedModel:
    """The same model with fixed scales of activations around the linear maps that bear them.

    parts: names of what may have them; only linear maps of layers do, since a head reads little and decides all.
    Raises InputError when there is no text, CompressionError when there is no such map and when none bears it.
    """
    names = {name for name in parts if name.startswith("layers.")} & linear_maps(model.module).keys()
    if not names:
        raise CompressionError(
            "int8-static is for linear maps of layers, weight and bias both, and is given to none here; choose int8."
        )
    if not texts:
        raise InputError("scales of activations are fixed on text, and there is none; give some, or choose int8.")
    step = max(1, len(texts) // _MOST_TEXTS)
    kept = _chosen(model, compressed, names, texts[::step][:_MOST_TEXTS])
    if not kept:
        raise CompressionError("no linear map of the layers bears activations with one fixed scale; choose int8.")
    records = dict(compressed.records)
    for name, static in kept.items():
        records |= _fitted(name, records, static)
    return replace(compressed, records=records, activations=dict(sorted(kept.items())))


def _chosen(
    model: Model, compressed: CompressedModel, names: Collection[str], texts: Sequence[str]
) -> dict[str, Static]:
    """Those that cost the output least, as many as may be."""
    decoded = replace(model, module=copy.deepcopy(model.module).requires_grad_(False))
    decoded.load_tensors(compressed.decoded())
    module, smoothing = decoded.module, input_multipliers(compressed)
    ranges = static_ranges(model, module, smoothing, names, texts)
    ranges = {
        name: static
        for name, static in ranges.items()
        if _is_computed(_row_scales(*_parts(name, compressed.records), static), static)
    }
    return bearable(ranges, rounding_losses(model, module, smoothing, ranges, texts)) if ranges else {}


def bearable(ranges: Mapping[str, Static], losses: Mapping[str, float]) -> dict[str, Static]:
    """Of `ranges`, the maps that lose least, as many as together stay within `MOST_LOST`."""
    kept, together = {}, 0.0
    for name in sorted(ranges, key=lambda name: (losses[name], name)):
        together += losses[name]
        if together > MOST_LOST:
            break
        kept[name] = ranges[name]
    return kept


def _parts(name: str, records: Mapping[str, Record]) -> tuple[Quantized, NDArray[np.float32]]:
    """Weight and bias of a map."""
    weight, bias = records[f"{name}.weight"], records[f"{name}.bias"]
    assert isinstance(weight, Quantized) and isinstance(bias, Dense)
    return weight, bias.decode()


def _row_scales(weight: Quantized, bias: NDArray[np.float32], static: Static) -> NDArray[np.float32]:
    """Scales in which weights and bias fit the map's int32 sums, [rows, 1]; infinite where none does."""
    # A row of zeros has any scale: one that makes its sums count as the output does.
    zero = np.logical_not(weight.codes.any(axis=1, keepdims=True))
    alike = rounded_scales(np.array(static.output.scale / static.input.scale), several=False)
    own = np.where(zero, alike, weight.scale)
    # A row of next to nothing has a scale of next to nothing, in which its bias would be too large a number.
    least = (np.abs(bias) / np.float32(static.input.scale) / _LARGEST_BIAS).reshape(-1, 1)
    with np.errstate(over="ignore"):
        up = np.nextafter(least.astype(np.float16), np.float16(np.inf)).astype(np.float32)
    return np.where(own < least, up, own).astype(np.float32)


def _is_computed(scale: NDArray[np.float32], static: Static) -> bool:
    """Whether engines compute a map whose weights have these scales."""
    return bool((bias_scale(scale, static.input) <= _MOST_STEPS * static.output.scale).all())


def _fitted(name: str, records: Mapping[str, Record], static: Static) -> dict[str, Record]:
    """Weight and bias of a map whose bias is a whole number of what its int32 sums count in."""
    weight, bias = _parts(name, records)
    scale = _row_scales(weight, bias, static)
    if not np.array_equal(scale, weight.scale):
        weight = Quantized(codes_of(weight.decode(), scale, weight.bits), scale, weight.bits)
    unit = bias_scale(weight.scale, static.input)
    return {f"{name}.weight": weight, f"{name}.bias": Dense(np.rint(bias / unit) * unit)}
