"""The traced graph in Core ML's forms: a norm that survives float16, and the graph with one input for old systems."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from export.blocks import Blocks, Norm, constant
from export.coreml.levels import UNIT, level_values
from export.graph import EncoderGraph
from mobilekit.compression.compressed import CompressedModel
from mobilekit.compression.records import Clustered, Record

# BERT's 1e-12 is 0 in float16, where a row without variance then divides 0 by 0. 2**-23 is the second smallest
# float16: it shortens a row of variance v by the share 2**-24 / v, which float16's own rounding (2**-11) hides for
# every v above 2**-13. A round 1e-5 would not do: the rows of a real embedding table have variances near 2e-3.
LEAST_EPSILON = 2.0**-23


class LevelLinear(nn.Module):
    """x [rows, in] -> [rows, out] with a clustered weight: the product with its levels, times the scale, plus bias."""

    def __init__(self, weight: Clustered, bias: Record | None) -> None:
        super().__init__()
        self.weight = constant(level_values(weight))
        self.scale = constant(weight.scale[:, 0] * np.float32(UNIT))
        self.bias = None if bias is None else constant(bias.decode())

    def forward(self, x: Tensor) -> Tensor:
        """Affine map."""
        product = functional.linear(x, self.weight) * self.scale
        return product if self.bias is None else product + self.bias


class LevelEmbedding(nn.Module):
    """ids int32 [length] -> rows [length, E] of a clustered table: its levels, times the scale of each row."""

    def __init__(self, table: Clustered) -> None:
        super().__init__()
        self.weight, self.scale = constant(level_values(table)), constant(table.scale * np.float32(UNIT))

    def forward(self, ids: Tensor) -> Tensor:
        """Look rows and scales up."""
        return functional.embedding(ids, self.weight) * functional.embedding(ids, self.scale)


class CoreMLBlocks(Blocks):
    """Modules for a graph that computes in float16 (`half`) or in float32."""

    def __init__(self, model: CompressedModel, half: bool) -> None:
        super().__init__(model)
        self.half = half

    def make_linear(self, weight: Record, bias: Record | None) -> nn.Module:
        """A clustered weight has its scale behind the product."""
        return LevelLinear(weight, bias) if isinstance(weight, Clustered) else super().make_linear(weight, bias)

    def make_embedding(self, table: Record) -> nn.Module:
        """A clustered table has its scale behind the look-up."""
        return LevelEmbedding(table) if isinstance(table, Clustered) else super().make_embedding(table)

    def make_norm(self, weight: Record, bias: Record, eps: float) -> nn.Module:
        """A norm whose epsilon is not 0 in the type that the graph computes in."""
        return Norm(weight, bias, max(eps, LEAST_EPSILON) if self.half else eps)


class IdsGraph(EncoderGraph):
    """input_ids int32 [1, length], any length up to `longest` -> the same outputs as `EncoderGraph`.

    Before iOS 18 only one input of a program may have several shapes. So the mask comes from the ids (padding is
    what equals the padding id) and all token types are 0.
    """

    def __init__(self, blocks: Blocks, longest: int) -> None:
        super().__init__(blocks, longest)
        self.pad_id = blocks.model.encoder.pad_id

    def forward(self, input_ids: Tensor) -> dict[str, Tensor]:  # type: ignore[override]
        """Run the encoder and its head."""
        # A lookup that the converter cannot fold keeps the whole table in the file, as every other target does.
        first_type = input_ids[:, :1] * 0
        return super().forward(input_ids, (input_ids != self.pad_id).to(torch.int32), first_type)

    def positions(self, input_ids: Tensor) -> Tensor:
        """The first rows, as many as there are tokens."""
        return self.position[: input_ids.shape[1]]
