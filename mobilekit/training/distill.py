"""`distill`: a student learns from a teacher by a recipe, and is held against it and against learning alone."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mobilekit.errors import InputError
from mobilekit.models.checkpoint import CONFIG_FILE
from mobilekit.models.model import Model
from mobilekit.models.rehead import with_head
from mobilekit.models.save import save_model
from mobilekit.staging import staged
from mobilekit.text.data.rows import TextRow
from mobilekit.training.features import encode_rows
from mobilekit.training.identity import Identity, model_part, texts_part
from mobilekit.training.lengths import require_room_for
from mobilekit.training.lock import claim, work_folder
from mobilekit.training.loop import Outcome
from mobilekit.training.objectives.supervised import Supervised
from mobilekit.training.optimize import make_accelerator
from mobilekit.training.options import make_options
from mobilekit.training.recipes.registry import Lesson, Recipe, recipe
from mobilekit.training.report import Figures, figures
from mobilekit.training.settings import Settings
from mobilekit.training.stages import Judge, Stage, run_stage
from mobilekit.training.teachers import in_order, require_better_than_guessing
from mobilekit.training.train import Splits, freeze_part, head_for, judge_for, parts_of, pooling_name, set_dropout

if TYPE_CHECKING:
    from accelerate import Accelerator

REPORT_FILE = "distill.json"
Report = Callable[[str], None]
# A stage in its folder, with what judges it.
Run = Callable[[Stage, Path, Judge | None], Outcome]


@dataclass(frozen=True)
class Distilled:
    """The student, the figures of the teachers, of the same student that learnt alone (where asked for), and of the
    student, in this order; and what each stage came to by name."""

    student: Model
    rows: tuple[Figures, ...]
    stages: Mapping[str, Outcome]


@dataclass(frozen=True)
class Teaching:
    """How a student is taught.

    options: the recipe's own, by name. general, texts: a teacher that is not fine-tuned and the plain text it teaches
    on, for recipes that begin so. mean: as of `head_for`. freeze: "embeddings" stay as they are.
    anyway: also by a teacher that is no better than guessing. alone: whether the same student is also trained without
    a teacher, for the report.
    """

    recipe: str = "hinton"
    options: Mapping[str, Any] = field(default_factory=dict)
    general: Model | None = None
    texts: Sequence[TextRow] = ()
    mean: bool | None = None
    freeze: str = ""
    anyway: bool = False
    alone: bool = True


def distill(
    student: Model,
    teachers: Sequence[Model],
    splits: Splits,
    out: Path,
    settings: Settings | None = None,
    teaching: Teaching = Teaching(),
    *,
    resume: bool = False,
    force: bool = False,
    report: Report = lambda text: None,
) -> Distilled:
    """Teach `student` and write it to `out`, with the report in `distill.json`.

    What is computed on the way is in `OUT.training` until the run is done; `resume` goes on from there. Raises
    InputError when data, models and recipe do not fit, when there is nothing to judge by, when a teacher is no better
    than always giving the commonest answer, or as `train` does of the folder.
    """
    settings, how = settings or Settings(), recipe(teaching.recipe)
    place = claim(out, resume, force)
    if splits.test is None and splits.dev is None:
        raise InputError("distilling needs dev or test data to judge teacher and student by.")
    if not teachers:
        raise InputError("no teacher given.")
    lesson = _lesson(student, teachers, splits, settings, teaching, how, place.work, report)
    how.check(lesson)
    accelerator = make_accelerator(settings.precision)
    identity = _identity(student, lesson, splits, teaching)
    with work_folder(place, accelerator, identity):
        run = functools.partial(run_stage, resume=resume, about={"run": identity.digest()}, report=report)
        made = _teach(lesson, splits, teaching, how, accelerator, run)
        if accelerator.is_main_process:
            with staged(out, place.replaces, CONFIG_FILE) as folder:
                made.student.notes += save_model(made.student, folder)
                (folder / REPORT_FILE).write_text(_json(made, splits, lesson, teaching), encoding="utf-8")
    return made


def _lesson(
    student: Model,
    teachers: Sequence[Model],
    splits: Splits,
    settings: Settings,
    teaching: Teaching,
    how: Recipe,
    work: Path,
    report: Report,
) -> Lesson:
    head = head_for(student, splits.train, teaching.mean)
    fresh = student if head == student.head else with_head(student, head, settings.seed)
    set_dropout(fresh, settings.dropout)
    if teaching.freeze == "encoder":
        raise InputError("freeze: a student whose encoder stays as it is learns next to nothing; freeze embeddings.")
    freeze_part(fresh, teaching.freeze)
    for model in (fresh, *teachers):
        require_room_for(model, (splits.train, splits.dev, splits.test), settings.length)
    options = make_options(how.options, teaching.options, f"recipe {how.name}")
    taught, rows = [in_order(teacher, head) for teacher in teachers], splits.train.rows
    return Lesson(
        fresh, taught, rows, settings, work, options, general=teaching.general, texts=teaching.texts, report=report
    )


def _identity(student: Model, lesson: Lesson, splits: Splits, teaching: Teaching) -> Identity:
    """What tells this run from others."""
    lesson.report("reading the text")
    asked = {
        "verb": "distill",
        "recipe": teaching.recipe,
        "options": asdict(lesson.options),
        "settings": lesson.settings.to_dict(),
        "pooling": pooling_name(teaching.mean),
        "freeze": teaching.freeze,
        "alone": teaching.alone,
    }
    parts = parts_of(splits)
    parts["student"] = model_part(f"student {student.name}", student, made=True)
    for i, teacher in enumerate(lesson.teachers, 1):
        parts[f"teacher {i}"] = model_part(f"teacher {teacher.name}", teacher)
    if lesson.general is not None:
        parts["general teacher"] = model_part(f"general teacher {lesson.general.name}", lesson.general)
    if lesson.texts:
        parts["texts"] = texts_part("the texts", lesson.texts)
    return Identity(asked, parts)


def _teach(
    lesson: Lesson, splits: Splits, teaching: Teaching, how: Recipe, accelerator: Accelerator, run: Run
) -> Distilled:
    judging, settings, student = splits.test or splits.dev, lesson.settings, lesson.student
    assert judging is not None
    if lesson.general is not None:
        # Text is varied with it before any stage asks it.
        lesson.general.module.to(accelerator.device)
    for teacher in lesson.teachers:
        teacher.module.to(accelerator.device)
        if not teaching.anyway:
            lesson.report("measuring the teacher")
            require_better_than_guessing(teacher, splits.dev or judging, settings.length)
    # Made now: what is wrong with their text must not show when the student alone has been trained.
    stages = [*(how.general(lesson) if how.general else ()), *how.task(lesson)]
    measured = [(teacher.name, teacher, 0.0) for teacher in lesson.teachers]
    if teaching.alone:
        single = copy.deepcopy(student)
        outcome = _run(_alone(single, lesson), 0, single, splits, lesson, run)
        measured.append(("the student alone", single, outcome.seconds))
    outcomes: dict[str, Outcome] = {}
    for i, stage in enumerate(stages, 1):
        outcomes[stage.name] = _run(stage, i, student, splits, lesson, run)
    measured.append(("the student", student, sum(outcome.seconds for outcome in outcomes.values())))
    lesson.report("measuring")
    for _, model, _ in measured:
        model.module.to(accelerator.device)
    rows = figures(measured, judging.rows, settings.length) if accelerator.is_main_process else ()
    return Distilled(student, rows, outcomes)


def _alone(single: Model, lesson: Lesson) -> Stage:
    def objective() -> Supervised:
        return Supervised(single, encode_rows(single, lesson.rows, lesson.settings.length))

    return Stage("alone", objective, single.module, lesson.settings, judged=True)


def _run(stage: Stage, number: int, student: Model, splits: Splits, lesson: Lesson, run: Run) -> Outcome:
    folder = lesson.folder / f"stage-{number}"
    judge = judge_for(student, splits, lesson.settings) if stage.judged else None
    return run(stage, folder, judge)


def _json(made: Distilled, splits: Splits, lesson: Lesson, teaching: Teaching) -> str:
    from accelerate import PartialState

    from mobilekit.host import versions

    judging = splits.test or splits.dev
    assert judging is not None
    content = {
        "recipe": teaching.recipe,
        "options": asdict(lesson.options),
        "general_teacher": None if lesson.general is None else lesson.general.name,
        "frozen": teaching.freeze or None,
        "pooling": "mean" if made.student.head.mean else "family",
        "settings": lesson.settings.to_dict(),
        "data": {
            "train": splits.train.name,
            "texts": len(lesson.texts),
            "judged_on": judging.name,
            "rows": len(judging.rows),
        },
        "rows": [asdict(row) for row in made.rows],
        "stages": {name: outcome.summary() for name, outcome in made.stages.items()},
        "processes": PartialState().num_processes,
        "versions": {name: version for name, version in versions().items() if version},
    }
    return json.dumps(content, indent=1, sort_keys=True) + "\n"
