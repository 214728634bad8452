"""`distill`: a student learns from a teacher by a recipe, and is held against it and against learning alone."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mobilekit.errors import InputError
from mobilekit.evaluation.intervals import Interval, bootstrap
from mobilekit.evaluation.metrics import metrics_for
from mobilekit.models.cost import multiply_adds
from mobilekit.models.model import Model
from mobilekit.models.rehead import with_head
from mobilekit.models.save import save_model
from mobilekit.staging import refuse_existing, staged
from mobilekit.training.features import encode_rows
from mobilekit.training.lock import in_use
from mobilekit.training.loop import Loop, Objective, Outcome
from mobilekit.training.predict import predict
from mobilekit.training.recipes.registry import Lesson, recipe
from mobilekit.training.settings import Settings
from mobilekit.training.supervised import Supervised
from mobilekit.training.train import Splits, head_for, judge_for, set_dropout

REPORT_FILE = "distill.json"
COST_LENGTH = 128
Report = Callable[[str], None]


@dataclass(frozen=True)
class Figures:
    """One model on the judging data. retained: its share of the teacher's main figure, with a 95 % interval."""

    name: str
    values: dict[str, float]
    retained: float
    interval: Interval
    parameters: int
    multiply_adds: int
    seconds: float


@dataclass(frozen=True)
class Distilled:
    """The student, and the figures of the teacher, of the same student that learnt alone, and of the student."""

    student: Model
    rows: tuple[Figures, ...]


@dataclass(frozen=True)
class Teaching:
    """How a student is taught. anyway: also by a teacher that is no better than guessing. alone: whether the same
    student is also trained without a teacher, for the report."""

    recipe: str = "hinton"
    temperature: float = 2.0
    soft: float = 0.9
    match: str = "probabilities"
    mean: bool = False
    anyway: bool = False
    alone: bool = True


def distill(
    student: Model,
    teachers: Sequence[Model],
    splits: Splits,
    out: Path,
    settings: Settings | None = None,
    teaching: Teaching = Teaching(),
    force: bool = False,
    report: Report = lambda text: None,
) -> Distilled:
    """Teach `student` and write it to `out`, with the report in `distill.json`.

    Raises InputError when data and models do not fit, when there is nothing to judge by, or when a teacher is no better
    than always giving the commonest answer.
    """
    settings, judging = settings or Settings(), splits.test or splits.dev
    refuse_existing(out, force)
    if judging is None:
        raise InputError("distilling needs dev or test data to judge teacher and student by.")
    if not teachers:
        raise InputError("no teacher given.")
    head = head_for(student, splits.train, teaching.mean)
    fresh = student if head == student.head else with_head(student, head, settings.seed)
    set_dropout(fresh, settings.dropout)
    work = out.with_name(f"{out.name}.training")
    with in_use(work):
        lesson = Lesson(
            fresh, teachers, splits.train.rows, settings, work, teaching.temperature, teaching.soft, teaching.match
        )
        report("asking the teacher")
        objective = recipe(teaching.recipe).objective(lesson)
        measured = [(t.name, t, 0.0) for t in teachers]
        for teacher in teachers:
            _require_better_than_guessing(teacher, splits, settings, teaching.anyway)
        if teaching.alone:
            single = copy.deepcopy(fresh)
            features = encode_rows(single, splits.train.rows, settings.length)
            outcome = _run(single, Supervised(single, features), splits, settings, work / "alone", report)
            measured.append(("the student alone", single, outcome.seconds))
        outcome = _run(fresh, objective, splits, settings, work / "taught", report)
        measured.append(("the student", fresh, outcome.seconds))
        report("measuring")
        made = Distilled(fresh, _figures(measured, judging.rows, settings))
        with staged(out, force) as folder:
            fresh.notes += save_model(fresh, folder)
            (folder / REPORT_FILE).write_text(_json(made, splits, settings, teaching, outcome), encoding="utf-8")
        shutil.rmtree(work, ignore_errors=True)
    return made


def _run(
    model: Model, objective: Objective, splits: Splits, settings: Settings, folder: Path, report: Report
) -> Outcome:
    return Loop(model.module, objective, settings, folder, judge_for(model, splits, settings), report).run()


def _require_better_than_guessing(teacher: Model, splits: Splits, settings: Settings, anyway: bool) -> None:
    """A student learns nothing from a teacher that was never fine-tuned."""
    judging = splits.dev or splits.test
    if anyway or judging is None or teacher.head.task != "sequence-classification":
        return
    if teacher.head.problem_type != "single_label_classification":
        return
    predictions, references = predict(teacher, judging.rows, settings.length)
    right = float((predictions == references).mean())
    guess = float(np.bincount(references).max() / len(references))
    margin = 2 * (guess * (1 - guess) / len(references)) ** 0.5
    if right <= guess + margin:
        raise InputError(
            f"teacher {teacher.name}: {right:.1%} right on {judging.name}, always giving the commonest label is "
            f"{guess:.1%}; fine-tune it first (mobilekit train), or distil from it --anyway."
        )


def _figures(
    measured: Sequence[tuple[str, Model, float]], rows: Sequence[Any], settings: Settings
) -> tuple[Figures, ...]:
    head = measured[0][1].head
    kind = head.problem_type if head.task == "sequence-classification" else None
    metrics = metrics_for(head.task, kind, len(head.labels))
    answers = [predict(model, rows, settings.length) for _, model, _ in measured]
    base, count = metrics.main.statistic(*answers[0])
    made = []
    for (name, model, seconds), (predictions, references) in zip(measured, answers, strict=True):
        own, _ = metrics.main.statistic(predictions, references)
        interval = bootstrap(lambda drawn, own=own: own(drawn) / max(base(drawn), 1e-9), count)  # type: ignore[misc]
        values = dict(metrics.scores(predictions, references).values)
        everything = np.arange(count)
        parameters = sum(p.numel() for p in model.module.parameters())
        made.append(
            Figures(
                name,
                values,
                own(everything) / max(base(everything), 1e-9),
                interval,
                parameters,
                multiply_adds(model.config, COST_LENGTH),
                seconds,
            )
        )
    return tuple(made)


def _json(made: Distilled, splits: Splits, settings: Settings, teaching: Teaching, outcome: Outcome) -> str:
    from mobilekit.host import versions

    judging = splits.test or splits.dev
    assert judging is not None
    content = {
        "teaching": asdict(teaching),
        "settings": settings.to_dict(),
        "data": {"train": splits.train.name, "judged_on": judging.name, "rows": len(judging.rows)},
        "rows": [asdict(row) for row in made.rows],
        "epochs": outcome.epochs,
        "versions": {name: version for name, version in versions().items() if version},
    }
    return json.dumps(content, indent=1, sort_keys=True) + "\n"
