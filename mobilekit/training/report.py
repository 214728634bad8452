"""What came of a distillation: teacher, student alone, student, each held against the teacher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mobilekit.evaluation.intervals import Interval
from mobilekit.evaluation.metrics import metrics_for
from mobilekit.evaluation.retained import retained_share
from mobilekit.models.cost import COST_LENGTH, multiply_adds
from mobilekit.models.model import Model
from mobilekit.training.predict import predict


@dataclass(frozen=True)
class Figures:
    """One model on the judging data. retained: its share of the teacher's main figure, with a 95 % interval; None where
    the teacher's is not above 0, of which there is no share.

    multiply_adds: of the encoder at 128 tokens. seconds: of training.
    """

    name: str
    values: dict[str, float]
    retained: float | None
    interval: Interval | None
    parameters: int
    multiply_adds: int
    seconds: float


def figures(measured: Sequence[tuple[str, Model, float]], rows: Sequence[Any], length: int) -> tuple[Figures, ...]:
    """Figures of (name, model, seconds of training); the first is what the others are held against."""
    head = measured[0][1].head
    kind = head.problem_type if head.task == "sequence-classification" else None
    metrics = metrics_for(head.task, kind, len(head.labels))
    answers = [predict(model, rows, length) for _, model, _ in measured]
    base, count = metrics.main.statistic(*answers[0])
    made = []
    for (name, model, seconds), (predictions, references) in zip(measured, answers, strict=True):
        own, _ = metrics.main.statistic(predictions, references)
        share, interval = retained_share(own, base, count) or (None, None)
        made.append(
            Figures(
                name,
                dict(metrics.scores(predictions, references).values),
                share,
                interval,
                sum(p.numel() for p in model.module.parameters()),
                multiply_adds(model.config, COST_LENGTH),
                seconds,
            )
        )
    return tuple(made)
