"""Activations rounded in torch as artifacts round them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch import Tensor

from mobilekit.compression.activations import Static
from mobilekit.compression.calibrate import linear_maps
from mobilekit.compression.compressed import CompressedModel
from mobilekit.compression.smooth import multipliers
from mobilekit.models.model import EncoderWithHead


@contextlib.contextmanager
def rounded_activations(module: EncoderWithHead, compressed: CompressedModel) -> Iterator[None]:
    """Meanwhile, linear maps with fixed scales round what they read and what they give.

    module: has the decoded weights of `compressed`.
    """
    handles = round_activations(module, compressed)
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def round_activations(module: EncoderWithHead, compressed: CompressedModel) -> list[torch.utils.hooks.RemovableHandle]:
    """Let linear maps with fixed scales round what they read, smoothed as it is in artifacts, and what they give."""
    maps, smoothing = linear_maps(module), multipliers(compressed.records)
    handles = []
    for name, static in compressed.activations.items():
        record = smoothing.get(f"{name}.weight")
        multiplier = torch.ones(1) if record is None else torch.from_numpy(record.decode())
        handles += _attach(maps[name], static, multiplier)
    return handles


def _attach(linear: torch.nn.Linear, static: Static, multiplier: Tensor) -> list[torch.utils.hooks.RemovableHandle]:
    def before(_: torch.nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor]:
        return (torch.from_numpy(static.input.rounded((inputs[0] * multiplier).numpy())) / multiplier,)

    def after(_: torch.nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
        return torch.from_numpy(static.output.rounded(output.numpy()))

    return [linear.register_forward_pre_hook(before), linear.register_forward_hook(after)]
