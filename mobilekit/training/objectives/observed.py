"""A student with everything that a teacher may look at."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mobilekit.models.model import EncoderWithHead


@dataclass
class Observation:
    """What a pass gave. logits: the head's, None where it was not asked for. hidden: the state before the first layer
    and after each, [batch, length, width], through the projection where there is one. scores: pre-softmax attention
    scores of each layer, mask added, [batch, heads, length, length]."""

    logits: Tensor | None
    hidden: tuple[Tensor, ...]
    scores: tuple[Tensor, ...]


class Projections(nn.Module):
    """Learned maps to a wider teacher: one for the embeddings, one for the states of all layers (Jiao et al. 2020,
    section 3.1)."""

    def __init__(self, size: int, wide: int, seed: int) -> None:
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.embedding = nn.Linear(size, wide, bias=False)
            self.hidden = nn.Linear(size, wide, bias=False)

    def forward(self, hidden: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Each [batch, length, size] -> [batch, length, wide]; the first is the embeddings' output."""
        return (self.embedding(hidden[0]), *(self.hidden(state) for state in hidden[1:]))


class Observed(nn.Module):
    """What is trained where a recipe looks inside: the student, and projections that are thrown away at the end.

    answers: whether the head is asked. One module with one forward, so that it can be spread over processes.
    """

    def __init__(self, module: EncoderWithHead, projections: Projections | None = None, answers: bool = True) -> None:
        super().__init__()
        self.module, self.projections, self.answers = module, projections, answers
        # Without answers there is no use for the head.
        self.partly_used = not answers

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        token_type_ids: Tensor | None = None,
        asked: Tensor | None = None,
    ) -> Observation:
        """asked: bool [batch, length]; the head then reads those tokens alone, and logits are [asked, size]."""
        out = self.module.encoder(input_ids, attention_mask, token_type_ids, intermediate=True)
        states = out.last if asked is None else out.last[asked]
        logits = self.module.head(states, attention_mask).float() if self.answers else None
        hidden = out.hidden if self.projections is None else self.projections(out.hidden)
        return Observation(logits, hidden, out.scores)
