"""The heads of the traced graph: what turns the last states [T, H] into the one output."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from export.blocks import Blocks
from mobilekit.models.activations import FUNCTIONS


def mean_of_tokens(x: Tensor, keep: Tensor) -> Tensor:
    """States [T, H], keep [1, T] (1 for tokens, 0 for padding) -> [1, H].

    Weights first, then the sum: a sum of 512 states need not fit float16, their mean does.
    """
    return torch.mm(keep / keep.sum(-1, keepdim=True), x)


class MeanClassifier(nn.Module):
    """Mean over kept tokens, classifier: states [T, H] -> logits [1, labels]."""

    def __init__(self, blocks: Blocks) -> None:
        super().__init__()
        self.classifier = blocks.linear("head.classifier")

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        """Logits before softmax or sigmoid."""
        return self.classifier(mean_of_tokens(x, keep))


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
            x = mean_of_tokens(x, keep)
        for dense, activation in zip(self.dense, self.activations, strict=True):
            x = activation(dense(x))
        if self.normalize:
            # A floor that float16 can hold, far below the length of any real embedding.
            x = x / torch.sqrt((x * x).sum(-1, keepdim=True)).clamp_min(1e-6)
        return x


class TokenOutputs(nn.Module):
    """A linear map of every token: states [T, H] -> logits [1, T, labels]."""

    def __init__(self, blocks: Blocks) -> None:
        super().__init__()
        self.outputs, self.smooth = blocks.linear("head.outputs"), blocks.smooth("head")

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        """Logits of all tokens, padding too."""
        logits = self.outputs(self.smooth(x))
        return logits.view(1, logits.shape[0], logits.shape[1])


class FillMask(nn.Module):
    """The asked token's state alone, dense, activation, norm, decoder: states [T, H] -> logits [1, vocabulary].

    One row goes through the decoder: all T of them would cost more than the encoder itself, and no app reads them.
    """

    def __init__(self, blocks: Blocks) -> None:
        super().__init__()
        head = blocks.model.head
        self.transform, self.smooth = blocks.linear("head.transform"), blocks.smooth("head")
        self.norm = blocks.norm("head.norm")
        self.decoder = blocks.tied("head.decoder", "embeddings.token") if head.tied else blocks.linear("head.decoder")
        self.activation = FUNCTIONS[head.activation]

    def forward(self, x: Tensor, asked: Tensor) -> Tensor:
        """asked: [1, T], 1 for the token that is asked for, 0 for all others."""
        row = torch.bmm(asked.view(1, 1, -1), x.view(1, x.shape[0], x.shape[1])).view(1, -1)
        return self.decoder(self.norm(self.activation(self.transform(self.smooth(row)))))


def make_top(blocks: Blocks) -> nn.Module:
    """The head that the model's `HeadConfig` describes."""
    made: dict[str, type[nn.Module]] = {
        "sentence-embedding": SentenceEmbedding,
        "sequence-classification": Classifier,
        "token-classification": TokenOutputs,
        "question-answering": TokenOutputs,
        "fill-mask": FillMask,
    }
    head = blocks.model.head
    return MeanClassifier(blocks) if head.mean else made[head.task](blocks)
