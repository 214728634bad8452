"""Heads: what turns the encoder's states into an answer."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from mobilekit.models.activations import FUNCTIONS
from mobilekit.models.config import EncoderConfig, HeadConfig


class SequenceClassification(nn.Module):
    """First token, dense, activation, classifier: what all families of `transformers` do, under various names.

    Or the mean of all tokens and the classifier alone (`HeadConfig.mean`).
    """

    def __init__(self, encoder: EncoderConfig, head: HeadConfig) -> None:
        super().__init__()
        self.pooler = None if head.mean else nn.Linear(encoder.hidden_size, encoder.hidden_size)
        self.classifier = nn.Linear(encoder.hidden_size, len(head.labels))
        self.dropout = nn.Dropout(encoder.dropout)
        self.activation = FUNCTIONS[head.activation]

    def forward(self, states: Tensor, attention_mask: Tensor) -> Tensor:
        """states [batch, length, H] -> logits [batch, labels]."""
        if self.pooler is None:
            return self.classifier(self.dropout(mean_of_tokens(states, attention_mask)))
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
        x = mean_of_tokens(states, attention_mask) if self.mean else states[:, 0]
        for dense, activation in zip(self.dense, self.activations, strict=True):
            x = activation(dense(x))
        return functional.normalize(x, dim=-1) if self.normalize else x


def mean_of_tokens(states: Tensor, attention_mask: Tensor) -> Tensor:
    """states [batch, length, H] -> [batch, H], padding left out."""
    keep = attention_mask[..., None].to(states.dtype)
    return (states * keep).sum(1) / keep.sum(1).clamp_min(1e-9)


class TokenOutputs(nn.Module):
    """A linear map of every token's state: token classification, and the start and end scores of an answer."""

    def __init__(self, encoder: EncoderConfig, head: HeadConfig) -> None:
        super().__init__()
        self.outputs = nn.Linear(encoder.hidden_size, len(head.labels))
        self.dropout = nn.Dropout(encoder.dropout)

    def forward(self, states: Tensor, attention_mask: Tensor) -> Tensor:
        """states [batch, length, H] -> logits [batch, length, labels]."""
        return self.outputs(self.dropout(states))


class FillMask(nn.Module):
    """Dense, activation, norm, decoder (Devlin et al. 2019, section 3.1): the logits of all words at every token.

    The decoder's weight is the token table where `EncoderWithHead` ties them.
    """

    def __init__(self, encoder: EncoderConfig, head: HeadConfig) -> None:
        super().__init__()
        width = encoder.embedding_size
        self.transform = nn.Linear(encoder.hidden_size, width)
        self.norm = nn.LayerNorm(width, eps=encoder.norm_eps)
        self.decoder = nn.Linear(width, encoder.vocab_size)
        self.activation = FUNCTIONS[head.activation]

    def forward(self, states: Tensor, attention_mask: Tensor) -> Tensor:
        """states [batch, length, H] -> logits [batch, length, vocabulary]."""
        return self.decoder(self.norm(self.activation(self.transform(states))))


def make_head(encoder: EncoderConfig, head: HeadConfig) -> nn.Module:
    """The head that `head` describes."""
    if head.task == "sentence-embedding":
        return SentenceEmbedding(head)
    made: dict[str, type[SequenceClassification | TokenOutputs | FillMask]] = {
        "sequence-classification": SequenceClassification,
        "token-classification": TokenOutputs,
        "question-answering": TokenOutputs,
        "fill-mask": FillMask,
    }
    return made[head.task](encoder, head)
