"""Patient knowledge distillation (Sun et al. 2019): what a text's state is on its way through the layers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from mobilekit.models.heads import mean_of_tokens
from mobilekit.models.model import Model
from mobilekit.text.data.rows import Row
from mobilekit.training.features import collate, encode_rows
from mobilekit.training.kept import Kept, Put
from mobilekit.training.objectives.observed import Observation
from mobilekit.training.objectives.soft import Answers
from mobilekit.training.predict import batches_by_length


def patient_layers(patience: str, ours: int, theirs: int) -> tuple[int, ...]:
    """The teacher's layer (counted from 1) for each of the student's but its last (there, section 3.2).

    skip: spread over all; last: those before the final one. A student of 6 learns from 2, 4, 6, 8, 10 of 12, or from
    7 to 11: the states that the last layer of each gives are the answers' business.
    """
    if patience == "skip":
        return tuple(i * theirs // ours for i in range(1, ours))
    return tuple(range(theirs - ours + 1, theirs))


def patient_loss(ours: Tensor, theirs: Tensor) -> Tensor:
    """Squared distance of states of unit length, summed over layers and inputs (there, equation 7).

    ours, theirs: [inputs, layers, H].
    """
    return (functional.normalize(ours, dim=-1) - functional.normalize(theirs, dim=-1)).square().sum()


class Patient:
    """Answers beside the labels, and `beta` times the patient loss. The module is an `Observed`.

    A text's state is what the head reads: the first token's, or the mean of all.
    """

    def __init__(
        self,
        student: Model,
        teacher: Model,
        answers: Answers,
        rows: Sequence[Row],
        length: int,
        folder: Path,
        layers: Sequence[int],
        beta: float,
    ) -> None:
        self._config, self._answers, self._beta, self._mean = student.config, answers, beta, student.head.mean
        self._layers = tuple(layers)
        self.lengths = answers.lengths

        def compute(put: Put) -> None:
            _states(teacher, rows, length, self._layers, self._mean, put)

        file = folder / "teacher-states.f32"
        self._kept = Kept(file, [len(self._layers)] * len(rows), teacher.config.hidden_size, compute)

    def count(self, indices: Sequence[int]) -> float:
        """Targets of these inputs."""
        return self._answers.count(indices)

    def loss(self, module: nn.Module, indices: Sequence[int], device: torch.device) -> Tensor:
        """Summed over the inputs."""
        batch = collate([self._answers.features[i] for i in indices], self._config)
        batch = {name: values.to(device) for name, values in batch.items()}
        target, mask = batch.pop("target"), batch["attention_mask"]
        seen: Observation = module(**batch)
        assert seen.logits is not None
        answered = self._answers.loss(seen.logits, target, mask, indices)
        ours = torch.stack([_state(state, mask, self._mean) for state in seen.hidden[1:-1]], 1).float()
        theirs = torch.stack([torch.from_numpy(self._kept[i]) for i in indices]).to(device)
        return answered + self._beta * patient_loss(ours, theirs)


def _state(states: Tensor, mask: Tensor, mean: bool) -> Tensor:
    return mean_of_tokens(states, mask) if mean else states[:, 0]


def _states(teacher: Model, rows: Sequence[Row], length: int, layers: Sequence[int], mean: bool, put: Put) -> None:
    features = encode_rows(teacher, rows, length)
    module = teacher.module.eval()
    with torch.no_grad():
        for indices, batch in batches_by_length(teacher, features):
            hidden = module.encoder(**batch, intermediate=True).hidden
            found = torch.stack([_state(hidden[i], batch["attention_mask"], mean) for i in layers], 1)
            for i, values in zip(indices, found.float().cpu().numpy(), strict=True):
                put(i, values)
