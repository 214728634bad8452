"""Training a head alone: the encoder's states are computed once and kept on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from mobilekit.models.heads import mean_of_tokens
from mobilekit.models.model import Model
from mobilekit.training.features import Features, collate
from mobilekit.training.kept import Kept, Put
from mobilekit.training.losses import task_loss
from mobilekit.training.predict import batches_by_length


class Frozen:
    """The loss of the head (the module that is trained) on states of an encoder that stays as it is.

    States lie in a file under `folder`, float32: one row an input where the head reads one (the first token's, or the
    mean), else a row for each token. They are those of evaluation: without dropout in the encoder.
    """

    def __init__(self, model: Model, features: Sequence[Features], folder: Path) -> None:
        self._model, self._features, self._head = model, features, model.head
        self._loss = task_loss(model.head)
        self.lengths = [len(each.ids) for each in features]
        rows = self.lengths if model.head.per_token else [1] * len(features)
        self._states = Kept(folder / "states.f32", rows, model.config.hidden_size, self._compute)

    def count(self, indices: Sequence[int]) -> float:
        """Targets of these inputs."""
        return float(sum(self._features[i].count for i in indices))

    def loss(self, module: nn.Module, indices: Sequence[int], device: torch.device) -> Tensor:
        """Summed over the targets; `module` is the head."""
        batch = collate([self._features[i] for i in indices], self._model.config)
        mask = batch["attention_mask"] if self._head.per_token else torch.ones(len(indices), 1, dtype=torch.int64)
        states = torch.zeros(*mask.shape, self._model.config.hidden_size)
        for row, i in enumerate(indices):
            own = torch.from_numpy(self._states[i])
            states[row, : len(own)] = own
        logits = module(states.to(device), mask.to(device)).float()
        return self._loss(logits, batch["target"].to(device), mask.to(device))

    def _compute(self, put: Put) -> None:
        module = self._model.module.eval()
        with torch.no_grad():
            for indices, batch in batches_by_length(self._model, self._features):
                states, mask = module.encoder(**batch).last, batch["attention_mask"]
                if not self._head.per_token:
                    states = mean_of_tokens(states, mask)[:, None] if self._head.mean else states[:, :1]
                for i, own in zip(indices, states.float().cpu().numpy(), strict=True):
                    put(i, own[: self.lengths[i]])
