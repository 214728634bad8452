"""TinyBERT (Jiao et al. 2020, section 3): the student's insides are made those of the teacher."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mobilekit.models.model import Model
from mobilekit.training.features import Features, collate
from mobilekit.training.objectives.observed import Observation

# Of a teacher that has nothing but zeros somewhere.
_LEAST = 1e-12


def state_error(ours: Tensor, theirs: Tensor, mask: Tensor, relative: bool = False) -> Tensor:
    """Mean squared error of states over an input's tokens, summed over inputs (there, equations 8 and 9).

    ours, theirs: [batch, length, H]; mask: [batch, length], 1 for tokens. relative: each input's over the mean square
    of `theirs`.
    """

    def size(states: Tensor) -> Tensor:
        return (states.float().square().mean(-1) * mask).sum(1) / mask.sum(1)

    return _summed(size(ours.float() - theirs.float()), size(theirs), relative)


def score_error(ours: Tensor, theirs: Tensor, mask: Tensor, relative: bool = False) -> Tensor:
    """Mean squared error of attention scores before the softmax over heads and pairs of tokens, summed over inputs
    (there, equation 7). ours, theirs: [batch, heads, length, length]; relative: as above."""
    pairs = mask[:, None, :, None] * mask[:, None, None, :]

    def size(scores: Tensor) -> Tensor:
        return (scores.float() * pairs).square().sum((2, 3)).mean(1) / mask.sum(1).square()

    return _summed(size(ours.float() - theirs.float()), size(theirs), relative)


def _summed(errors: Tensor, sizes: Tensor, relative: bool) -> Tensor:
    return (errors / sizes.clamp_min(_LEAST) if relative else errors).sum()


@dataclass(frozen=True)
class Weights:
    """Of the losses of the insides. relative: whether each error is over the teacher's own mean square there, so that
    layers of small states and scores count as those of large ones do."""

    embedding: float = 1.0
    attention: float = 1.0
    hidden: float = 1.0
    relative: bool = False


class Mimicry:
    """Embeddings, attention scores and hidden states against the teacher's; answers are not asked for.

    The module is an `Observed`. The teacher runs along: what it computes inside is too much to keep.
    """

    def __init__(
        self,
        student: Model,
        teacher: Model,
        features: Sequence[Features],
        layers: Sequence[int],
        weights: Weights = Weights(),
    ) -> None:
        self._config, self._teacher, self._features = student.config, teacher, features
        self._layers, self._weights = tuple(layers), weights
        self.lengths = [len(each.ids) for each in features]

    def count(self, indices: Sequence[int]) -> float:
        """Inputs: each counts alike, however long."""
        return float(len(indices))

    def loss(self, module: nn.Module, indices: Sequence[int], device: torch.device) -> Tensor:
        """Summed over the inputs."""
        features = [self._features[i] for i in indices]
        batch = _moved(collate(features, self._config), device)
        taught = _moved(collate(features, self._teacher.config), device)
        self._teacher.module.to(device).eval()
        with torch.no_grad():
            theirs = self._teacher.module.encoder(**taught, intermediate=True)
        ours: Observation = module(**batch)
        return self._compare(ours, theirs.hidden, theirs.scores, batch["attention_mask"].float())

    def _compare(self, ours: Observation, hidden: Sequence[Tensor], scores: Sequence[Tensor], mask: Tensor) -> Tensor:
        total, weights = torch.zeros((), device=mask.device), self._weights
        relative = weights.relative
        if weights.embedding:
            total = total + weights.embedding * state_error(ours.hidden[0], hidden[0], mask, relative)
        for own, layer in enumerate(self._layers):
            if weights.hidden:
                total = total + weights.hidden * state_error(ours.hidden[own + 1], hidden[layer + 1], mask, relative)
            if weights.attention:
                total = total + weights.attention * score_error(ours.scores[own], scores[layer], mask, relative)
        return total


def _moved(batch: Mapping[str, Tensor], device: torch.device) -> dict[str, Tensor]:
    return {name: values.to(device) for name, values in batch.items() if name != "target"}
