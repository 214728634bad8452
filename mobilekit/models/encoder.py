"""The encoder as a torch module: batched, trainable, with every intermediate value on request.

One module covers the post-norm BERT layouts: embedding size E apart from hidden size H (Lan et al. 2020, section
3.1), layers that share attention, feed-forward or both (section 4.6), optional token types. The phone's graph is
`export.graph`; both give the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mobilekit.models.activations import FUNCTIONS
from mobilekit.models.config import EncoderConfig


@dataclass(frozen=True)
class EncoderOutput:
    """What an encoder computes.

    last: [batch, length, H]. embeddings: output of the embedding norm, [batch, length, E]. hidden: the state before
    the first layer and after each, [batch, length, H] (when asked). scores: pre-softmax attention scores of each
    layer, mask added, [batch, heads, length, length] (when asked).
    """

    last: Tensor
    embeddings: Tensor
    hidden: tuple[Tensor, ...] = ()
    scores: tuple[Tensor, ...] = ()


class Embeddings(nn.Module):
    """Token, position and type rows, summed and normalised."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        width = config.embedding_size
        self.token = nn.Embedding(config.vocab_size, width)
        self.position = nn.Embedding(config.max_positions, width)
        self.token_type = nn.Embedding(config.token_types, width) if config.token_types else None
        self.norm = nn.LayerNorm(width, eps=config.norm_eps)
        self.projection = nn.Linear(width, config.hidden_size) if config.projected else None
        self.dropout = nn.Dropout(config.dropout)
        # Rows are counted from the first token, padding or not: padding comes after the text.
        self.offset = config.position_offset

    def forward(self, input_ids: Tensor, token_type_ids: Tensor | None) -> Tensor:
        """[batch, length] -> [batch, length, E], before the projection."""
        x = self.token(input_ids) + self.position.weight[self.offset : self.offset + input_ids.shape[1]]
        if self.token_type is not None:
            x = x + self.token_type(torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids)
        return self.dropout(self.norm(x))


class Attention(nn.Module):
    """Multi-head self-attention with its residual and norm."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        size = config.hidden_size
        self.query, self.key = nn.Linear(size, size), nn.Linear(size, size)
        self.value, self.output = nn.Linear(size, size), nn.Linear(size, size)
        self.norm = nn.LayerNorm(size, eps=config.norm_eps)
        self.dropout = nn.Dropout(config.dropout)
        self.heads = config.heads

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """x [batch, length, H], mask [batch, 1, 1, length] additive -> (x, scores)."""
        query, key, value = self._split(self.query(x)), self._split(self.key(x)), self._split(self.value(x))
        scores = torch.matmul(query, key.transpose(-1, -2)) * query.shape[-1] ** -0.5 + mask
        mixed = torch.matmul(self.dropout(scores.softmax(-1)), value).transpose(1, 2).flatten(2)
        return self.norm(x + self.dropout(self.output(mixed))), scores

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class FeedForward(nn.Module):
    """Two linear maps with an activation between, residual and norm."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.up = nn.Linear(config.hidden_size, config.intermediate_size)
        self.down = nn.Linear(config.intermediate_size, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.norm_eps)
        self.dropout = nn.Dropout(config.dropout)
        self.activation = FUNCTIONS[config.activation]

    def forward(self, x: Tensor) -> Tensor:
        """[batch, length, H] -> the same shape."""
        return self.norm(x + self.dropout(self.down(self.activation(self.up(x)))))


class Layer(nn.Module):
    """One layer; its parts may belong to another layer as well."""

    def __init__(self, attention: Attention, ffn: FeedForward) -> None:
        super().__init__()
        self.attention, self.ffn = attention, ffn


class Encoder(nn.Module):
    """A BERT-family encoder; `named_parameters` gives each unique tensor once, under the layer that owns it."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings = Embeddings(config)
        layers: list[Layer] = []
        for i in range(config.layers):
            owner, other = config.attention_of(i), config.ffn_of(i)
            attention = Attention(config) if owner == i else layers[owner].attention
            layers.append(Layer(attention, FeedForward(config) if other == i else layers[other].ffn))
        self.layers = nn.ModuleList(layers)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        intermediate: bool = False,
    ) -> EncoderOutput:
        """Encode a batch.

        input_ids, attention_mask (1 for tokens, 0 for padding; None: all tokens), token_type_ids (None: all 0):
        integer [batch, length]. intermediate: also return hidden states and scores.
        """
        embeddings = self.embeddings(input_ids, token_type_ids)
        x = embeddings if self.embeddings.projection is None else self.embeddings.projection(embeddings)
        keep = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        mask = additive_mask(keep, x.dtype)
        hidden, scores = [x], []
        for layer in self.layers:
            assert isinstance(layer, Layer)
            x, score = layer.attention(x, mask)
            x = layer.ffn(x)
            if intermediate:
                hidden.append(x)
                scores.append(score)
        return EncoderOutput(x, embeddings, tuple(hidden) if intermediate else (), tuple(scores))


def additive_mask(keep: Tensor, dtype: torch.dtype) -> Tensor:
    """[batch, length], 1 for tokens and 0 for padding -> what is added to scores, [batch, 1, 1, length]."""
    return (1.0 - keep[:, None, None, :].to(dtype)) * -1e4


def initialise(module: nn.Module, deviation: float) -> None:
    """Fresh weights as BERT has them: normal with the given deviation, biases 0, norms 1 and 0 (Devlin 2019)."""
    for child in module.modules():
        if isinstance(child, nn.Linear | nn.Embedding):
            nn.init.normal_(child.weight, std=deviation)
        if isinstance(child, nn.Linear) and child.bias is not None:
            nn.init.zeros_(child.bias)
        if isinstance(child, nn.LayerNorm):
            nn.init.ones_(child.weight)
            nn.init.zeros_(child.bias)
