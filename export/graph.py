"""The graph that is traced for a phone: batch 1, two-dimensional states, attention as 3-D `bmm`.

It is equal to `mobilekit.models.encoder` on the same weights and computes less: where the head reads the first
token only, the last layer computes that row alone. Exporters give it `Blocks`: how a weight becomes a module.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from export.blocks import Blocks, FeedForward
from export.tops import make_top
from mobilekit.artifact import PREDICT_MASK
from mobilekit.compression.compressed import CompressedModel
from mobilekit.models.tasks import TASKS

# Added to the scores of padding: exp(-1e4) is 0 in float32 and in float16, and -1e4 is finite in both.
MASK_VALUE = -1e4
INPUT_NAMES = ("input_ids", "attention_mask", "token_type_ids", PREDICT_MASK)


class EncoderGraph(nn.Module):
    """input_ids, attention_mask, token_type_ids, predict_mask: int32 [1, length] -> {"embedding" | "logits": float32}.

    The output is [1, size], or [1, length, size] from heads that read every token. token_type_ids is left out where
    the encoder has less than two token types, predict_mask where the head does not ask for one token.
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
        self.top = make_top(blocks)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        token_type_ids: Tensor | None = None,
        predict_mask: Tensor | None = None,
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
        return {self.head.output_name: self.top(x, keep if predict_mask is None else predict_mask.to(torch.float32))}

    def positions(self, input_ids: Tensor) -> Tensor:
        """Position rows of the tokens [length, E]; override where a graph takes more than one length."""
        return self.position


def position_rows(model: CompressedModel, length: int) -> Tensor:
    """The rows of the position table that `length` tokens take, float32 [length, E]."""
    return torch.from_numpy(model.position_rows(length).astype(np.float32))


def input_names(model: CompressedModel) -> tuple[str, ...]:
    """Names of the graph's inputs, in order."""
    left_out = set() if model.encoder.reads_token_types else {"token_type_ids"}
    left_out |= set() if TASKS[model.head.task].asks_token else {PREDICT_MASK}
    return tuple(name for name in INPUT_NAMES if name not in left_out)


def example_inputs(model: CompressedModel, length: int) -> dict[str, Tensor]:
    """Example inputs for tracing, int32 [1, length] each, by name."""
    names = input_names(model)
    made = {name: torch.zeros(1, length, dtype=torch.int32) for name in names}
    made["input_ids"] = (torch.arange(length, dtype=torch.int32) % model.encoder.vocab_size)[None]
    made["attention_mask"] = torch.ones(1, length, dtype=torch.int32)
    return made
