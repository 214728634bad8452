"""Knowledge distillation (Hinton, Vinyals & Dean 2015, section 2): soft targets from one teacher or several.

Teacher and student may differ in everything but the labels: only answers are compared, of texts, or of the words of a
sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from mobilekit.errors import InputError, unknown
from mobilekit.models.model import Model
from mobilekit.text.data.rows import Row, TokensRow
from mobilekit.training.features import IGNORED, collate, encode_rows
from mobilekit.training.losses import task_loss
from mobilekit.training.predict import outputs
from mobilekit.training.recipes.registry import Lesson, Recipe, register

MATCHES = ("probabilities", "logits")
TASKS = ("sequence-classification", "token-classification")


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


def matched_logits(logits: Tensor, teachers: Tensor, temperature: float) -> Tensor:
    """Half the squared error of centred logits, summed over rows and averaged over labels.

    What soft targets become at high temperatures (there, section 2.1, equation 4).
    """
    error = logits - teachers.mean(0)
    if error.shape[-1] > 1:
        # What all logits have in common says nothing; a value alone (regression) says everything.
        error = error - error.mean(-1, keepdim=True)
    return error.square().mean(-1).sum() / 2


class Hinton:
    """`soft` times the loss against the teachers, the rest against the labels. Teachers run once, at the beginning."""

    def __init__(self, lesson: Lesson) -> None:
        student = lesson.student
        _check(lesson)
        self._lesson, self._config, self._hard = lesson, student.config, task_loss(student.head)
        self._features = encode_rows(student, lesson.rows, lesson.settings.length)
        self._words = student.head.task == "token-classification"
        self.lengths = [len(each.ids) for each in self._features]
        self._teachers = [_answers(teacher, lesson) for teacher in lesson.teachers]
        self._soft = {"logits": matched_logits}.get(lesson.match, soft_cross_entropy)
        if student.head.problem_type == "multi_label_classification" and lesson.match == "probabilities":
            self._soft = soft_binary

    def count(self, indices: Sequence[int]) -> float:
        """Targets of these inputs."""
        return float(sum(self._features[i].count for i in indices))

    def loss(self, module: nn.Module, indices: Sequence[int], device: torch.device) -> Tensor:
        """Summed over the targets."""
        batch = collate([self._features[i] for i in indices], self._config)
        batch = {name: values.to(device) for name, values in batch.items()}
        target = batch.pop("target")
        logits = module(**batch).float()
        hard = self._hard(logits, target, batch["attention_mask"])
        rows = logits[target != IGNORED] if self._words else logits
        kept = [self._features[i].count if self._words else 1 for i in indices]
        places = list(zip(indices, kept, strict=True))
        taught = np.stack([np.concatenate([answers[i][:n] for i, n in places]) for answers in self._teachers])
        soft = self._soft(rows, torch.from_numpy(taught).to(device), self._lesson.temperature)
        return self._lesson.soft * soft + (1 - self._lesson.soft) * hard


def _answers(teacher: Model, lesson: Lesson) -> list[NDArray[np.float32]]:
    """A teacher's logits for each row: [1, labels], or [words, labels]; words that it cut off have none."""
    features = encode_rows(teacher, lesson.rows, lesson.settings.length)
    found = outputs(teacher, features)
    if lesson.student.head.task != "token-classification":
        return [logits[None] for logits in found]
    triples = zip(found, features, lesson.rows, strict=True)
    return [_padded(logits[each.target != IGNORED], row) for logits, each, row in triples]


def _padded(logits: NDArray[np.float32], row: Row) -> NDArray[np.float32]:
    """Uniform answers for words beyond the teacher's own limit."""
    assert isinstance(row, TokensRow)
    missing = len(row.words) - len(logits)
    return np.concatenate([logits, np.zeros((missing, logits.shape[1]), np.float32)])


def _check(lesson: Lesson) -> None:
    head = lesson.student.head
    if head.task not in TASKS:
        raise InputError(f"recipe hinton: is for {' and '.join(TASKS)}, not for {head.task}.")
    if head.problem_type == "regression" and lesson.match == "probabilities" and head.task == TASKS[0]:
        raise InputError("recipe hinton: a regression has no probabilities; use --match logits.")
    if lesson.match not in MATCHES:
        raise unknown("match", lesson.match, MATCHES)
    if not lesson.temperature > 0 or not np.isfinite(lesson.temperature):
        raise InputError(f"temperature is {lesson.temperature}; it has to be above 0.")
    if not 0 <= lesson.soft <= 1:
        raise InputError(f"soft is {lesson.soft}; it is a share, 0 to 1.")
    for teacher in lesson.teachers:
        if (teacher.head.task, teacher.head.labels) != (head.task, head.labels):
            raise InputError(
                f"teacher {teacher.name}: its labels ({', '.join(teacher.head.labels) or 'none'}) are not the data's "
                f"({', '.join(head.labels)}); fine-tune it on them first: mobilekit train."
            )


def _objective(lesson: Lesson) -> Hinton:
    return Hinton(lesson)


register(
    Recipe(
        "hinton",
        "the teacher's softened answers beside the labels; any teacher, any student",
        "Hinton, Vinyals & Dean 2015",
        _objective,
    )
)
