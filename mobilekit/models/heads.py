"""Heads: what turns the encoder's states into an answer."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from mobilekit.models.activations import FUNCTIONS
from mobilekit.models.config import EncoderConfig, HeadConfig


class SequenceClassification(nn.Module):
    """First token, dense, activation, classifier: what all families of `transformers` do, under various names."""

    def __init__(self, encoder: EncoderConfig, head: HeadConfig) -> None:
        super().__init__()
        self.pooler = nn.Linear(encoder.hidden_size, encoder.hidden_size)
        self.classifier = nn.Linear(encoder.hidden_size, len(head.labels))
        self.dropout = nn.Dropout(encoder.dropout)
        self.activation = FUNCTIONS[head.activation]

    def forward(self, states: Tensor, attention_mask: Tensor) -> Tensor:
        """states [batch, length, H] -> logits [batch, labels]."""
        return self.classifier(self.dropout(self.activation(self.pooler(states[:, 0]))))


class SentenceEmbedding(nn.Module):
    """Mean over tokens or first token, dense layers, unit length, as sentence-transformers stacks them."""

    def __init__(self, head: HeadConfig) -> None:
        super().__init__()
        self.mean, self.normalize = head.pooling == "mean", head.normalize
        self.dense = nn.ModuleList(nn.Linear(d.in_size, d.out_size, bias=d.bias) for d in head.dense)
        self.activations = [FUNCTIONS[d.activation] for d in head.dense]

    def forward(self, states: Tensor, attention_mask: Tensor) -> Tensor:
        """states [batch, length, H], attention_mask [batch, length] -> embeddings [batch, size]."""
        if self.mean:
            keep = attention_mask[..., None].to(states.dtype)
            x = (states * keep).sum(1) / keep.sum(1).clamp_min(1e-9)
        else:
            x = states[:, 0]
        for dense, activation in zip(self.dense, self.activations, strict=True):
            x = activation(dense(x))
        return functional.normalize(x, dim=-1) if self.normalize else x


def make_head(encoder: EncoderConfig, head: HeadConfig) -> nn.Module:
    """The head that `head` describes."""
    if head.task == "sequence-classification":
        return SequenceClassification(encoder, head)
    return SentenceEmbedding(head)
