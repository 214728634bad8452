"""Soft targets (Hinton, Vinyals & Dean 2015, section 2), from one teacher or several, beside the labels."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from mobilekit.errors import InputError
from mobilekit.models.model import Model
from mobilekit.text.data.rows import Row
from mobilekit.training.features import IGNORED, Features, collate, encode_rows
from mobilekit.training.kept import Kept, Put
from mobilekit.training.losses import task_loss
from mobilekit.training.predict import batches_by_length


def soft_cross_entropy(logits: Tensor, teachers: Tensor, temperature: float) -> Tensor:
    """Cross-entropy with the teachers' mean softened probabilities, times temperature squared, summed over rows.

    logits: [rows, labels]; teachers: [teachers, rows, labels]. The factor keeps the gradient's size when the
    temperature changes (there, section 2). The divergence from the teachers has the same gradient.
    """
    target = (teachers / temperature).softmax(-1).mean(0)
    return -(target * (logits / temperature).log_softmax(-1)).sum() * temperature**2


def soft_binary(logits: Tensor, teachers: Tensor, temperature: float) -> Tensor:
    """The same for labels of which several may hold: a softened sigmoid each, averaged over labels."""
    target = (teachers / temperature).sigmoid().mean(0)
    loss = functional.binary_cross_entropy_with_logits(logits / temperature, target, reduction="none")
    return loss.mean(-1).sum() * temperature**2


def matched_logits(logits: Tensor, teachers: Tensor, temperature: float, centred: bool = True) -> Tensor:
    """Half the squared error of centred logits, summed over rows and averaged over labels.

    What soft targets become at high temperatures (there, section 2.1, equation 4). centred: False where each label
    stands alone, as of several that may hold.
    """
    error = logits - teachers.mean(0)
    if centred and error.shape[-1] > 1:
        # What all logits have in common says nothing of one label of many; a value alone (regression) says everything.
        error = error - error.mean(-1, keepdim=True)
    return error.square().mean(-1).sum() / 2


class Answers:
    """What teachers answer to rows: computed once, kept on disk, and compared with a student's logits.

    soft: the share of the loss against the teachers; the rest is against the labels. match: probabilities or logits.
    Answers of texts are one row of labels, of sentences in words one a word (found by characters, so that tokenizers
    may differ), of questions start and end of each token.
    """

    def __init__(
        self,
        student: Model,
        teachers: Sequence[Model],
        rows: Sequence[Row],
        length: int,
        folder: Path,
        temperature: float,
        soft: float,
        match: str,
    ) -> None:
        self.features = encode_rows(student, rows, length)
        self.lengths = [len(each.ids) for each in self.features]
        self._head, self._temperature, self._soft = student.head, temperature, soft
        self._hard = task_loss(student.head)
        self._compare: Callable[[Tensor, Tensor, float], Tensor] = soft_cross_entropy
        if match == "logits":
            self._compare = matched_logits
        if student.head.task == "sequence-classification" and student.head.problem_type == "multi_label_classification":
            alone = functools.partial(matched_logits, centred=False)
            self._compare = alone if match == "logits" else soft_binary
        self._words = student.head.task == "token-classification"
        self._kept = [
            _kept(teacher, rows, length, self._rows(rows), folder / f"teacher-{i}.f32")
            for i, teacher in enumerate(teachers)
        ]

    def _rows(self, rows: Sequence[Row]) -> list[int]:
        if self._words:
            return [len(row.words) for row in rows]  # type: ignore[union-attr]
        return self.lengths if self._head.per_token else [1] * len(rows)

    def count(self, indices: Sequence[int]) -> float:
        """Targets of these inputs."""
        return float(sum(self.features[i].count for i in indices))

    def loss(self, logits: Tensor, target: Tensor, mask: Tensor, indices: Sequence[int]) -> Tensor:
        """Summed over the targets. logits: the student's, target and mask: of the same batch."""
        hard = self._hard(logits, target, mask)
        if self._head.task == "question-answering":
            soft = self._spans(logits, indices)
        else:
            rows = logits[target != IGNORED] if self._words else logits
            taught = self._taught(indices).to(logits.device)
            if self._words:
                # A word that one of the teachers does not read is learnt from its label alone.
                answered = ~taught.isnan().any(-1).any(0)
                rows, taught = rows[answered], taught[:, answered]
            soft = self._compare(rows, taught, self._temperature)
        return self._soft * soft + (1 - self._soft) * hard

    def _taught(self, indices: Sequence[int]) -> Tensor:
        """[teachers, rows, labels], NaN where a teacher says nothing."""
        own = [(kept, i) for kept in self._kept for i in indices]
        found = [kept[i][self.features[i].words] if self._words else kept[i] for kept, i in own]
        return torch.from_numpy(np.concatenate(found)).unflatten(0, (len(self._kept), -1))

    def _spans(self, logits: Tensor, indices: Sequence[int]) -> Tensor:
        """Start and end are distributions over an input's own tokens; the mean of both, as for labels."""
        total = logits.new_zeros(())
        for row, i in enumerate(indices):
            taught = np.stack([kept[i].T for kept in self._kept])
            given = logits[row, : self.lengths[i]].T
            total = total + self._compare(given, torch.from_numpy(taught).to(logits.device), self._temperature) / 2
        return total


class Soft:
    """The loss of a student's answers alone: Hinton's distillation."""

    def __init__(self, student: Model, answers: Answers) -> None:
        self._config, self._answers = student.config, answers
        self.lengths = answers.lengths

    def count(self, indices: Sequence[int]) -> float:
        """Targets of these inputs."""
        return self._answers.count(indices)

    def loss(self, module: nn.Module, indices: Sequence[int], device: torch.device) -> Tensor:
        """Summed over the targets."""
        batch = collate([self._answers.features[i] for i in indices], self._config)
        batch = {name: values.to(device) for name, values in batch.items()}
        target = batch.pop("target")
        return self._answers.loss(module(**batch).float(), target, batch["attention_mask"], indices)


def _kept(teacher: Model, rows: Sequence[Row], length: int, sizes: Sequence[int], file: Path) -> Kept:
    def compute(put: Put) -> None:
        features = encode_rows(teacher, rows, length)
        module = teacher.module.eval()
        with torch.no_grad():
            for indices, batch in batches_by_length(teacher, features):
                found = module(**batch).float().cpu().numpy()
                for i, values in zip(indices, found, strict=True):
                    put(i, _own(values, features[i], sizes[i], teacher))

    return Kept(file, sizes, len(teacher.head.labels), compute)


def _own(values: NDArray[np.float32], features: Features, size: int, teacher: Model) -> NDArray[np.float32]:
    """The rows of one input. Words that the teacher does not read are NaN; raises InputError when an answer is."""
    own = values[: len(features.ids)] if teacher.head.per_token else values[None]
    if not np.isfinite(own).all():
        raise InputError(f"teacher {teacher.name}: answers NaN or infinity; its weights are broken.")
    if teacher.head.task == "token-classification":
        words = np.full((size, own.shape[1]), np.nan, np.float32)
        words[features.words] = own[features.target != IGNORED]
        return words
    missing = size - len(own)
    return np.concatenate([own, np.zeros((missing, own.shape[1]), np.float32)]) if missing else own
