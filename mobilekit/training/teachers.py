"""What a teacher has to be before it may teach."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mobilekit.errors import InputError
from mobilekit.models.config import HeadConfig
from mobilekit.models.model import Model
from mobilekit.text.data.rows import TextData
from mobilekit.training.predict import predict

_LEVEL = 0.025


def require_labels(teachers: Sequence[Model], head: HeadConfig) -> None:
    """Raise InputError for a teacher that answers something else than the data ask."""
    for teacher in teachers:
        if (teacher.head.task, teacher.head.labels) != (head.task, head.labels):
            raise InputError(
                f"teacher {teacher.name}: its labels ({', '.join(teacher.head.labels) or 'none'}) are not the data's "
                f"({', '.join(head.labels)}); fine-tune it on them first: mobilekit train."
            )


def require_same_ids(student: Model, teacher: Model, recipe: str) -> None:
    """Raise InputError when the two do not make the same ids of a text, for a recipe that compares token by token."""
    if student.tokenizer.serialized() != teacher.tokenizer.serialized() or student.prefix != teacher.prefix:
        raise InputError(
            f"recipe {recipe}: student {student.name} and teacher {teacher.name} do not have one vocabulary and one "
            "prefix, and it compares them token by token; take a student made from the teacher (distil6, tiny4, "
            "albert), or recipe hinton."
        )


def require_same_width(student: Model, teacher: Model, recipe: str) -> None:
    """Raise InputError when hidden states cannot be compared as they are."""
    ours, theirs = student.config.hidden_size, teacher.config.hidden_size
    if ours != theirs:
        raise InputError(
            f"recipe {recipe}: student {student.name} is {ours} wide, teacher {teacher.name} {theirs}, and it compares "
            "their states as they are; recipe tinybert learns a map between them."
        )


def require_layers(student: Model, teacher: Model, recipe: str) -> None:
    """Raise InputError when a student has more layers than its teacher."""
    ours, theirs = student.config.layers, teacher.config.layers
    if ours > theirs:
        raise InputError(
            f"recipe {recipe}: student {student.name} has {ours} layers, teacher {teacher.name} {theirs}; a student "
            "may not be deeper than its teacher."
        )


def require_better_than_guessing(teacher: Model, judging: TextData, length: int) -> None:
    """Raise InputError for a classifier that is no better than always giving the commonest label."""
    if teacher.head.task != "sequence-classification" or teacher.head.problem_type != "single_label_classification":
        return
    predictions, references = predict(teacher, judging.rows, length)
    right = int((predictions == references).sum())
    guess = float(np.bincount(references).max() / len(references))
    if guess >= 1 or _by_chance(len(references), len(references), guess) > _LEVEL:
        # So few rows, or so few of another label, that not even a perfect teacher could prove itself.
        return
    if _by_chance(right, len(references), guess) > _LEVEL:
        share = right / len(references)
        raise InputError(
            f"teacher {teacher.name}: {share:.1%} right on {judging.name}, always giving the commonest label is "
            f"{guess:.1%}; fine-tune it first (mobilekit train), or distil from it --anyway."
        )


def _by_chance(right: int, count: int, guess: float) -> float:
    """How likely so many right answers are for who is right with probability `guess`."""
    from scipy.stats import binomtest

    return float(binomtest(right, count, guess, alternative="greater").pvalue)
