"""The graph that is traced for a phone: batch 1, two-dimensional states, attention as 3-D `bmm`.

It is equal to `mobilekit.models.encoder` on the same weights and computes less: where the head reads the first
token only, the last layer computes that row alone. Exporters give it `Blocks`: how a weight becomes a module.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from mobilekit.compression.compressed import CompressedModel
from mobilekit.compression.records import Record
from mobilekit.models.activations import FUNCTIONS

# Added to the scores of padding: exp(-1e4) is 0 in float32 and in float16, and -1e4 is finite in both.
MASK_VALUE = -1e4
INPUT_NAMES = ("input_ids", "attention_mask", "token_type_ids")


class Linear(nn.Module):
    """x [rows, in] -> [rows, out] with the decoded weight."""

    def __init__(self, weight: Record, bias: Record | None) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.from_numpy(weight.decode()), requires_grad=False)
        values = None if bias is None else torch.from_numpy(bias.decode())
        self.bias = None if values is None else nn.Parameter(values, requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        """Affine map."""
        return functional.linear(x, self.weight, self.bias)


class Embedding(nn.Module):
    """ids int32 [length] -> rows [length, E] of the decoded table."""

    def __init__(self, table: Record) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.from_numpy(table.decode()), requires_grad=False)

    def forward(self, ids: Tensor) -> Tensor:
        """Look rows up."""
        return functional.embedding(ids, self.weight)


class Norm(nn.Module):
    """Layer normalisation over the last axis."""

    def __init__(self, weight: Record, bias: Record, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.from_numpy(weight.decode()), requires_grad=False)
        self.bias = nn.Parameter(torch.from_numpy(bias.decode()), requires_grad=False)
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Normalise, then scale and shift."""
        return functional.layer_norm(x, (self.weight.shape[0],), self.weight, self.bias, self.eps)


class Smooth(nn.Module):
    """x times a multiplier a channel, before linear maps whose weights were divided by it."""

    def __init__(self, multiplier: Record) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.from_numpy(multiplier.decode()), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        """Scale each channel."""
        return x * self.weight


class AddRow(nn.Module):
    """x plus the one row of a table."""

    def __init__(self, table: Record) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.from_numpy(table.decode()), requires_grad=False)

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
        return self._once(name, lambda: self.make_linear(self._record(name, "weight"), self._optional(name, "bias")))

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


class EncoderGraph(nn.Module):
    """input_ids, attention_mask, token_type_ids: int32 [1, length] -> {"embedding" | "logits": float32 [1, size]}.

    token_type_ids is left out where the encoder has less than two token types.
    """

    position: Tensor

    def __init__(self, blocks: Blocks, length: int) -> None:
        super().__init__()
        config, head = blocks.model.encoder, blocks.model.head
        self.config, self.head, self.length = config, head, length
        self.token = blocks.embedding("embeddings.token")
        self.token_type = blocks.embedding("embeddings.token_type") if config.reads_token_types else None
        self.only_type = blocks.row("embeddings.token_type") if config.token_types == 1 else nn.Identity()
        self.register_buffer("position", position_rows(blocks.model, length))
        self.norm = blocks.norm("embeddings.norm")
        self.projection = blocks.linear("embeddings.projection") if config.projected else None
        self.attention = nn.ModuleList(
            blocks.attention(f"layers.{config.attention_of(i)}.attention") for i in range(config.layers)
        )
        self.ffn = nn.ModuleList(
            FeedForward(blocks, f"layers.{config.ffn_of(i)}.ffn", config.activation) for i in range(config.layers)
        )
        self.top = _top(blocks)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None
    ) -> dict[str, Tensor]:
        """Run the encoder and its head."""
        x = self.token(input_ids[0]) + self.positions(input_ids)
        if self.token_type is not None and token_type_ids is not None:
            x = x + self.token_type(token_type_ids[0])
        x = self.norm(self.only_type(x))
        if self.projection is not None:
            x = self.projection(x)
        keep = attention_mask.to(torch.float32)
        # A view and not [None]: ExecuTorch's delegate takes the one and not the other.
        mask = ((1.0 - keep) * MASK_VALUE).view(1, 1, -1)
        for i, (attention, ffn) in enumerate(zip(self.attention, self.ffn, strict=True)):
            last = i == self.config.layers - 1
            x = ffn(attention(x, mask, last and self.head.reads_first_token))
        return {self.head.output_name: self.top(x, keep)}

    def positions(self, input_ids: Tensor) -> Tensor:
        """Position rows of the tokens [length, E]; override where a graph takes more than one length."""
        return self.position


class Classifier(nn.Module):
    """First token, dense, activation, classifier: states [1, H] -> logits [1, labels]."""

    def __init__(self, blocks: Blocks) -> None:
        super().__init__()
        self.pooler, self.classifier = blocks.linear("head.pooler"), blocks.linear("head.classifier")
        self.smooth = blocks.smooth("head")
        self.activation = FUNCTIONS[blocks.model.head.activation]

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        """Logits before softmax or sigmoid."""
        return self.classifier(self.activation(self.pooler(self.smooth(x))))


class SentenceEmbedding(nn.Module):
    """Mean over kept tokens or first token, dense layers, unit length: states [T, H] -> [1, size]."""

    def __init__(self, blocks: Blocks) -> None:
        super().__init__()
        head = blocks.model.head
        self.mean, self.normalize = head.pooling == "mean", head.normalize
        self.dense = nn.ModuleList(blocks.linear(f"head.dense.{i}") for i in range(len(head.dense)))
        self.activations = [FUNCTIONS[d.activation] for d in head.dense]

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        """keep: [1, T], 1 for tokens, 0 for padding."""
        if self.mean:
            # Weights first, then the sum: a sum of 512 states need not fit float16, their mean does.
            x = torch.mm(keep / keep.sum(-1, keepdim=True), x)
        for dense, activation in zip(self.dense, self.activations, strict=True):
            x = activation(dense(x))
        if self.normalize:
            # A floor that float16 can hold, far below the length of any real embedding.
            x = x / torch.sqrt((x * x).sum(-1, keepdim=True)).clamp_min(1e-6)
        return x


def position_rows(model: CompressedModel, length: int) -> Tensor:
    """The rows of the position table that `length` tokens take, float32 [length, E]."""
    return torch.from_numpy(model.position_rows(length).astype(np.float32))


def input_names(model: CompressedModel) -> tuple[str, ...]:
    """Names of the graph's inputs, in order."""
    return INPUT_NAMES if model.encoder.reads_token_types else INPUT_NAMES[:2]


def example_inputs(model: CompressedModel, length: int) -> dict[str, Tensor]:
    """Example inputs for tracing, int32 [1, length] each, by name."""
    names = input_names(model)
    made = {name: torch.zeros(1, length, dtype=torch.int32) for name in names}
    made["input_ids"] = (torch.arange(length, dtype=torch.int32) % model.encoder.vocab_size)[None]
    made["attention_mask"] = torch.ones(1, length, dtype=torch.int32)
    return made


def _top(blocks: Blocks) -> nn.Module:
    return Classifier(blocks) if blocks.model.head.task == "sequence-classification" else SentenceEmbedding(blocks)
