"""What graphs are built of: modules that hold one record each, and `Blocks`, which an exporter overrides."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.ao.quantization.fx import _decomposed  # noqa: F401  (defines the operators of `quantized_decomposed`)
from torch.nn import functional

from mobilekit.compression.activations import LEAST_CODE, MOST_CODE, Activation, Static
from mobilekit.compression.compressed import CompressedModel
from mobilekit.compression.records import Record
from mobilekit.models.activations import FUNCTIONS


def constant(values: NDArray[np.float32]) -> nn.Parameter:
    """Values that are no input of a graph."""
    return nn.Parameter(torch.from_numpy(values), requires_grad=False)


class Linear(nn.Module):
    """x [rows, in] -> [rows, out] with the decoded weight."""

    def __init__(self, weight: Record, bias: Record | None) -> None:
        super().__init__()
        self.weight = constant(weight.decode())
        self.bias = None if bias is None else constant(bias.decode())

    def forward(self, x: Tensor) -> Tensor:
        """Affine map."""
        return functional.linear(x, self.weight, self.bias)


class StaticLinear(Linear):
    """The same map between activations that are rounded to int8 with fixed scales; smoothing comes before it."""

    def __init__(self, weight: Record, bias: Record | None, static: Static) -> None:
        super().__init__(weight, bias)
        self.static = static

    def forward(self, x: Tensor) -> Tensor:
        """Round, map, round."""
        return rounded(super().forward(rounded(x, self.static.input)), self.static.output)


def rounded(x: Tensor, activation: Activation) -> Tensor:
    """x as its int8 codes hold it: the pair of operators that engines look for."""
    form = (activation.scale, activation.zero_point, LEAST_CODE, MOST_CODE, torch.int8)
    codes = torch.ops.quantized_decomposed.quantize_per_tensor(x, *form)
    return torch.ops.quantized_decomposed.dequantize_per_tensor(codes, *form)


class Embedding(nn.Module):
    """ids int32 [length] -> rows [length, E] of the decoded table."""

    def __init__(self, table: Record) -> None:
        super().__init__()
        self.weight = constant(table.decode())

    def forward(self, ids: Tensor) -> Tensor:
        """Look rows up."""
        return functional.embedding(ids, self.weight)


class Norm(nn.Module):
    """Layer normalisation over the last axis."""

    def __init__(self, weight: Record, bias: Record, eps: float) -> None:
        super().__init__()
        self.weight = constant(weight.decode())
        self.bias = constant(bias.decode())
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Normalise, then scale and shift."""
        return functional.layer_norm(x, (self.weight.shape[0],), self.weight, self.bias, self.eps)


class Smooth(nn.Module):
    """x times a multiplier a channel, before linear maps whose weights were divided by it."""

    def __init__(self, multiplier: Record) -> None:
        super().__init__()
        self.weight = constant(multiplier.decode())

    def forward(self, x: Tensor) -> Tensor:
        """Scale each channel."""
        return x * self.weight


class AddRow(nn.Module):
    """x plus the one row of a table."""

    def __init__(self, table: Record) -> None:
        super().__init__()
        self.weight = constant(table.decode())

    def forward(self, x: Tensor) -> Tensor:
        """x [length, E] -> the same shape."""
        return x + self.weight


class Blocks:
    """How weights become modules. An exporter overrides what its engine wants otherwise.

    Modules are made once per tensor name and reused, so that a shared layer stays one module.
    """

    def __init__(self, model: CompressedModel) -> None:
        self.model = model
        self._made: dict[str, nn.Module] = {}

    def linear(self, name: str) -> nn.Module:
        """The linear map whose weight is `name`.weight."""
        return self._once(name, lambda: self._linear(name))

    def _linear(self, name: str) -> nn.Module:
        weight, bias = self._record(name, "weight"), self._optional(name, "bias")
        static = self.model.activations.get(name)
        return self.make_linear(weight, bias) if static is None else self.make_static(weight, bias, static)

    def tied(self, name: str, table: str) -> nn.Module:
        """A linear map whose weight is the table `table`.weight and whose bias is its own, `name`.bias."""
        made = self._once(name, lambda: self.make_linear(self._record(table, "weight"), self._optional(name, "bias")))
        return made

    def embedding(self, name: str) -> nn.Module:
        """The table `name`.weight."""
        return self._once(name, lambda: self.make_embedding(self._record(name, "weight")))

    def row(self, name: str) -> nn.Module:
        """Adds the one row of the table `name`.weight."""
        return self._once(name, lambda: AddRow(self._record(name, "weight")))

    def norm(self, name: str) -> nn.Module:
        """The layer norm `name`."""
        eps = self.model.encoder.norm_eps
        return self._once(name, lambda: self.make_norm(self._record(name, "weight"), self._record(name, "bias"), eps))

    def attention(self, name: str) -> nn.Module:
        """Self-attention `name` of one layer; override to compute it in the engine's form."""
        return Attention(self, name, self.model.encoder.heads)

    def smooth(self, name: str) -> nn.Module:
        """The smoothing before the linear maps of the part `name`; the identity where there is none."""
        record = self._optional(f"{name}.smooth", "weight")
        return nn.Identity() if record is None else self._once(f"{name}.smooth", lambda: Smooth(record))

    def make_linear(self, weight: Record, bias: Record | None) -> nn.Module:
        """Override to write a linear map in the engine's form."""
        return Linear(weight, bias)

    def make_static(self, weight: Record, bias: Record | None, static: Static) -> nn.Module:
        """Override to write a linear map between rounded activations in the engine's form."""
        return StaticLinear(weight, bias, static)

    def make_embedding(self, table: Record) -> nn.Module:
        """Override to write a table in the engine's form."""
        return Embedding(table)

    def make_norm(self, weight: Record, bias: Record, eps: float) -> nn.Module:
        """Override to write a norm in the engine's form."""
        return Norm(weight, bias, eps)

    def _record(self, name: str, part: str) -> Record:
        return self.model.records[f"{name}.{part}"]

    def _optional(self, name: str, part: str) -> Record | None:
        return self.model.records.get(f"{name}.{part}")

    def _once(self, name: str, make: Callable[[], nn.Module]) -> nn.Module:
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]


class Attention(nn.Module):
    """Self-attention of one layer with its residual and norm; states [T, H], mask [1, 1, T] additive."""

    def __init__(self, blocks: Blocks, name: str, heads: int) -> None:
        super().__init__()
        self.query, self.key = blocks.linear(f"{name}.query"), blocks.linear(f"{name}.key")
        self.value, self.output = blocks.linear(f"{name}.value"), blocks.linear(f"{name}.output")
        self.norm, self.smooth = blocks.norm(f"{name}.norm"), blocks.smooth(name)
        self.heads = heads

    def forward(self, x: Tensor, mask: Tensor, first_only: bool) -> Tensor:
        """All rows, or only the first: [T, H] or [1, H]."""
        asked, size = x[:1] if first_only else x, x.shape[-1]
        inner = self.smooth(x)
        query = self._split(self.query(inner[:1] if first_only else inner)) * (size // self.heads) ** -0.5
        key, value = self._split(self.key(inner)), self._split(self.value(inner))
        scores = torch.bmm(query, key.transpose(1, 2)) + mask
        mixed = torch.bmm(scores.softmax(-1), value).transpose(0, 1).reshape(-1, size)
        return self.norm(asked + self.output(mixed))

    def _split(self, x: Tensor) -> Tensor:
        return x.view(x.shape[0], self.heads, -1).transpose(0, 1)


class FeedForward(nn.Module):
    """Feed-forward part of one layer with its residual and norm; states [rows, H]."""

    def __init__(self, blocks: Blocks, name: str, activation: str) -> None:
        super().__init__()
        self.up, self.down = blocks.linear(f"{name}.up"), blocks.linear(f"{name}.down")
        self.norm, self.smooth = blocks.norm(f"{name}.norm"), blocks.smooth(name)
        self.activation = FUNCTIONS[activation]

    def forward(self, x: Tensor) -> Tensor:
        """Row by row."""
        return self.norm(x + self.down(self.activation(self.up(self.smooth(x)))))
