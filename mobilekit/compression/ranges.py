"""Ranges of activations that are rounded with scales fixed beforehand, by least error of what follows (`int8-static`).

A map's input and output each get one scale for all of the tensor (Jacob et al. 2018, section 3.1), which engines that
fix scales demand of both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mobilekit.compression.activations import LEAST_CODE, MOST_CODE, MOST_SCALE, Activation, Static
from mobilekit.compression.calibrate import batches, hooked, linear_maps, overflow, tokens
from mobilekit.compression.records import LEAST_NORMAL
from mobilekit.models.activations import FUNCTIONS
from mobilekit.models.model import EncoderWithHead, Model
from mobilekit.models.threads import one_thread

_BINS = 2048
# Shares of each end of the range that are tried, and how often: all pairs of them gain nothing.
_SHARES = tuple(np.linspace(1.0, 0.1, 19).tolist())
_ROUNDS = 2
# Maps of one parent that read the same.
_TOGETHER = ("query", "key", "value")


@dataclass
class _Seen:
    """What has been seen of a tensor of activations: its range, then a histogram over it.

    weights: what an error in each channel costs. function: what the values go through next; errors count behind it.
    """

    weights: Tensor
    function: Callable[[Tensor], Tensor] = FUNCTIONS["identity"]
    least: float = 0.0
    most: float = 0.0
    counts: Tensor = field(default_factory=lambda: torch.zeros(_BINS, dtype=torch.float64))

    def widen(self, values: Tensor) -> None:
        """Take values [tokens, channels] into the range; 0 is always in it."""
        # Not Python's own min and max, which pass over NaN.
        self.least = float(np.minimum(self.least, float(values.min())))
        self.most = float(np.maximum(self.most, float(values.max())))

    def count(self, values: Tensor) -> None:
        """Take values into the histogram."""
        step = (self.most - self.least) / _BINS or 1.0
        places = ((values - self.least) / step).long().clamp_(0, _BINS - 1)
        weights = self.weights.expand_as(values).double()
        self.counts += torch.bincount(places.flatten(), weights.flatten(), _BINS)

    def lost(self, activation: Activation) -> float:
        """The squared error of all values that have been seen, rounded so."""
        step = (self.most - self.least) / _BINS
        middles = (self.least + step * (np.arange(_BINS) + 0.5)).astype(np.float32)
        gap = self._after(activation.rounded(middles)) - self._after(middles)
        return float(self.counts.numpy() @ gap.astype(np.float64) ** 2)

    def _after(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        after: NDArray[np.float32] = self.function(torch.from_numpy(values)).numpy()
        return after


@dataclass
class _Map:
    """What has been seen around a linear map."""

    input: _Seen
    output: _Seen

    @property
    def is_finite(self) -> bool:
        """Whether the ranges have ends."""
        return all(np.isfinite(end) for each in (self.input, self.output) for end in (each.least, each.most))

    def widen(self, x: Tensor, y: Tensor) -> None:
        """First look."""
        self.input.widen(x)
        self.output.widen(y)

    def count(self, x: Tensor, y: Tensor) -> None:
        """Second look."""
        self.input.count(x)
        self.output.count(y)


def activation_of(least: float, most: float) -> Activation:
    """The activation whose codes reach from `least` (<= 0) to `most` (>= 0), as nearly as float16 scales allow."""
    wide = max((most - least) / (MOST_CODE - LEAST_CODE), float(LEAST_NORMAL))
    scale = float(np.float16(min(wide, MOST_SCALE)))
    return Activation(scale, int(np.clip(round(LEAST_CODE - least / scale), LEAST_CODE, MOST_CODE)))


def static_ranges(
    model: Model,
    module: EncoderWithHead,
    multipliers: Mapping[str, Tensor],
    names: Collection[str],
    texts: Sequence[str],
) -> dict[str, Static]:
    """Ranges around linear maps of least error when `module` runs over texts, by the map's name.

    module: `model`'s, with decoded weights. multipliers: of smoothing, by the map's name; what is rounded comes after
    them. names: of `linear_maps`. A map that several layers share has one range for all of them, and maps that read the
    same have one range of it, so that it is rounded once. Padding is left out.
    """
    maps = linear_maps(module)
    seen: dict[str, _Map] = {}
    for name in sorted(names):
        weight = maps[name].weight / multipliers[name] if name in multipliers else maps[name].weight
        after = FUNCTIONS[model.config.activation if name.endswith("ffn.up") else "identity"]
        # What an error of an input costs is what it makes of the output.
        seen[name] = _Map(_Seen((weight.detach() ** 2).sum(0)), _Seen(torch.ones(len(weight)), after))
    _look(model, module, multipliers, texts, seen, _Map.widen)
    for name, found in seen.items():
        if not found.is_finite:
            raise overflow(name)
    _look(model, module, multipliers, texts, seen, _Map.count)
    return {
        name: Static(_best([seen[reader].input for reader in _readers(name, seen)]), _best([found.output]))
        for name, found in seen.items()
    }


def _readers(name: str, names: Collection[str]) -> list[str]:
    """Of `names`, those that read what the map `name` reads."""
    parent, _, last = name.rpartition(".")
    return [f"{parent}.{each}" for each in _TOGETHER if f"{parent}.{each}" in names] if last in _TOGETHER else [name]


def _best(seen: Sequence[_Seen]) -> Activation:
    """Of tensors with the same values, the range of least squared error, summed over all: one end, then the other."""

    def cut(low: float, high: float) -> Activation:
        return activation_of(seen[0].least * low, seen[0].most * high)

    def lost(activation: Activation) -> float:
        return sum(each.lost(activation) for each in seen)

    low = high = 1.0
    for _ in range(_ROUNDS):
        high = min(_SHARES, key=lambda share: lost(cut(low, share)))
        low = min(_SHARES, key=lambda share: lost(cut(share, high)))
    return cut(low, high)


def _look(
    model: Model,
    module: EncoderWithHead,
    multipliers: Mapping[str, Tensor],
    texts: Sequence[str],
    seen: Mapping[str, _Map],
    look: Callable[[_Map, Tensor, Tensor], None],
) -> None:
    """Run the module over texts; `look` sees every map's input (smoothed) and output."""
    kept = torch.empty(0)

    def watch(name: str) -> Callable[[torch.nn.Module, tuple[Tensor, ...], Tensor], None]:
        def hook(_: torch.nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
            x = tokens(inputs[0], kept)
            look(seen[name], x * multipliers[name] if name in multipliers else x, tokens(output, kept))

        return hook

    maps = linear_maps(module)
    with hooked([maps[name].register_forward_hook(watch(name)) for name in seen]), torch.no_grad(), one_thread():
        for ids, keep in batches(model, texts):
            kept = keep
            module(ids, keep)
