"""The graph's modules for LiteRT: which record a parameter holds, and attention for a single row."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from export.blocks import Attention, Blocks
from mobilekit.compression.compressed import CompressedModel


class RecordedBlocks(Blocks):
    """Blocks that know the record of each parameter; `names` maps a parameter to its tensor name."""

    def __init__(self, model: CompressedModel) -> None:
        super().__init__(model)
        self.names: dict[nn.Parameter, str] = {}

    def attention(self, name: str) -> nn.Module:
        """Attention that projects fewer values where only the first row is asked for."""
        return FirstRowAttention(self, name, self.model.encoder.heads)

    def tied(self, name: str, table: str) -> nn.Module:
        """The weight is the table's record."""
        module = super().tied(name, table)
        self.names[module.get_parameter("weight")] = f"{table}.weight"
        return module

    def _once(self, name: str, make: Callable[[], nn.Module]) -> nn.Module:
        module = super()._once(name, make)
        self.names.update((parameter, f"{name}.{part}") for part, parameter in module.named_parameters())
        return module


class FirstRowAttention(Attention):
    """Self-attention; for the first row alone, tokens are mixed before their values are projected.

    Attention's weights add up to 1, so mixing and projecting can change places: `heads` rows go through the value
    projection instead of T. Exact but for rounding.
    """

    def __init__(self, blocks: Blocks, name: str, heads: int) -> None:
        super().__init__(blocks, name, heads)
        size = blocks.model.encoder.hidden_size
        own = torch.eye(heads).repeat_interleave(size // heads, dim=1)
        self.register_buffer("own", own, persistent=False)

    def forward(self, x: Tensor, mask: Tensor, first_only: bool) -> Tensor:
        """All rows, or only the first: [T, H] or [1, H]."""
        if not first_only:
            return super().forward(x, mask, first_only)
        first, inner = x[:1], self.smooth(x)
        query = self._split(self.query(inner[:1])) * (x.shape[-1] // self.heads) ** -0.5
        scores = torch.bmm(query, self._split(self.key(inner)).transpose(1, 2)) + mask
        mixed = torch.mm(scores.softmax(-1).view(self.heads, -1), inner)
        # Row h now holds every head's projection of head h's mixture; only the part of head h itself counts.
        values = (self.value(mixed) * self.own).sum(0, keepdim=True)
        return self.norm(first + self.output(values))
