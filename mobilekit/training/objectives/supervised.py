"""Training a head on its labels."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from mobilekit.models.model import Model
from mobilekit.training.features import Features, collate
from mobilekit.training.losses import task_loss


class Supervised:
    """The loss of a model's head against the labels of its inputs."""

    def __init__(self, model: Model, features: Sequence[Features]) -> None:
        self._config, self._features, self._loss = model.config, features, task_loss(model.head)
        self.lengths = [len(each.ids) for each in features]

    def count(self, indices: Sequence[int]) -> float:
        """Targets of these inputs."""
        return float(sum(self._features[i].count for i in indices))

    def loss(self, module: nn.Module, indices: Sequence[int], device: torch.device) -> Tensor:
        """Summed over the targets."""
        batch = collate([self._features[i] for i in indices], self._config)
        batch = {name: values.to(device) for name, values in batch.items()}
        target = batch.pop("target")
        return self._loss(module(**batch).float(), target, batch["attention_mask"])
