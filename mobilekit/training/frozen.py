"""Training a head alone: the encoder's states are computed once and kept on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from mobilekit.models.heads import mean_of_tokens
from mobilekit.models.model import Model
from mobilekit.training.features import Features, collate
from mobilekit.training.losses import task_loss

_BATCH = 64


class Frozen:
    """The loss of the head (the module that is trained) on states of an encoder that stays as it is.

    States lie in a file under `folder`, float32: one row an input where the head reads one (the first token's, or the
    mean), else a row for each token. They are those of evaluation: without dropout in the encoder.
    """

    def __init__(self, model: Model, features: Sequence[Features], folder: Path) -> None:
        self._config, self._features, self._head = model.config, features, model.head
        self._loss = task_loss(model.head)
        self.lengths = [len(each.ids) for each in features]
        rows = self.lengths if model.head.per_token else [1] * len(features)
        self._starts = np.concatenate([[0], np.cumsum(rows)])
        shape = (int(self._starts[-1]), model.config.hidden_size)
        folder.mkdir(parents=True, exist_ok=True)
        self._states = np.memmap(folder / "states.f32", np.float32, "w+", shape=shape)
        self._compute(model)

    def count(self, indices: Sequence[int]) -> float:
        """Targets of these inputs."""
        return float(sum(self._features[i].count for i in indices))

    def loss(self, module: nn.Module, indices: Sequence[int], device: torch.device) -> Tensor:
        """Summed over the targets; `module` is the head."""
        batch = collate([self._features[i] for i in indices], self._config)
        mask = batch["attention_mask"] if self._head.per_token else torch.ones(len(indices), 1, dtype=torch.int64)
        states = torch.zeros(*mask.shape, self._config.hidden_size)
        for row, i in enumerate(indices):
            own = torch.from_numpy(np.array(self._states[self._starts[i] : self._starts[i + 1]]))
            states[row, : len(own)] = own
        logits = module(states.to(device), mask.to(device)).float()
        return self._loss(logits, batch["target"].to(device), mask.to(device))

    def _compute(self, model: Model) -> None:
        model.module.eval()
        device = next(model.module.parameters()).device
        order = sorted(range(len(self._features)), key=lambda i: -self.lengths[i])
        with torch.no_grad():
            for start in range(0, len(order), _BATCH):
                indices = order[start : start + _BATCH]
                batch = collate([self._features[i] for i in indices], self._config)
                batch.pop("target")
                batch = {name: values.to(device) for name, values in batch.items()}
                self._keep(indices, model.module.encoder(**batch).last, batch["attention_mask"])

    def _keep(self, indices: Sequence[int], states: Tensor, mask: Tensor) -> None:
        if not self._head.per_token:
            states = mean_of_tokens(states, mask)[:, None] if self._head.mean else states[:, :1]
        for i, own in zip(indices, states.float().cpu().numpy(), strict=True):
            self._states[self._starts[i] : self._starts[i + 1]] = own[: self._starts[i + 1] - self._starts[i]]
