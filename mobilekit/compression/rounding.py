"""Activations rounded in torch as artifacts round them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.utils.hooks import RemovableHandle

from mobilekit.compression.activations import Activation, Static
from mobilekit.compression.calibrate import hooked, linear_maps
from mobilekit.compression.compressed import CompressedModel
from mobilekit.compression.smooth import multipliers
from mobilekit.models.model import EncoderWithHead

# Of what is not smoothed.
ONE = torch.ones(1)


@contextlib.contextmanager
def rounded_activations(module: EncoderWithHead, compressed: CompressedModel) -> Iterator[None]:
    """Meanwhile, linear maps with fixed scales round what they read and what they give.

    module: has the decoded weights of `compressed`.
    """
    with hooked(round_activations(module, compressed)):
        yield


def round_activations(module: EncoderWithHead, compressed: CompressedModel) -> list[RemovableHandle]:
    """Let linear maps with fixed scales round what they read, smoothed as it is in artifacts, and what they give."""
    maps, smoothing = linear_maps(module), input_multipliers(compressed)
    handles = []
    for name, static in compressed.activations.items():
        handles += _attach(maps[name], static, smoothing.get(name, ONE))
    return handles


def input_multipliers(compressed: CompressedModel) -> dict[str, Tensor]:
    """What smoothing multiplies the input of a linear map with, by the map's name."""
    found = multipliers(compressed.records).items()
    return {name.removesuffix(".weight"): torch.from_numpy(record.decode()) for name, record in found}


def rounded(values: Tensor, activation: Activation, multiplier: Tensor = ONE) -> Tensor:
    """Values as the codes of an activation hold them; multiplier: of smoothing, which comes before it."""
    return torch.from_numpy(activation.rounded((values * multiplier).numpy())) / multiplier


def _attach(linear: torch.nn.Linear, static: Static, multiplier: Tensor) -> list[RemovableHandle]:
    def before(_: torch.nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor]:
        return (rounded(inputs[0], static.input, multiplier),)

    def after(_: torch.nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
        return rounded(output, static.output)

    return [linear.register_forward_pre_hook(before), linear.register_forward_hook(after)]
