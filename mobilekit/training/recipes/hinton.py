"""Knowledge distillation (Hinton, Vinyals & Dean 2015, section 2): soft targets from one teacher or several.

Teacher and student may differ in everything but the labels: only answers are compared, of texts, of the words of a
sentence, or (with one vocabulary) where an answer begins and ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mobilekit.errors import InputError
from mobilekit.training.options import TASK, check_options, option
from mobilekit.training.recipes.registry import Lesson, Recipe, register

if TYPE_CHECKING:
    from mobilekit.text.data.rows import Row
    from mobilekit.training.objectives.soft import Answers
    from mobilekit.training.stages import Stage

MATCHES = ("probabilities", "logits")
SOFTENED = "How far answers are softened, in training, on both sides."
SHARE = "Share of the loss against the teacher; the rest is against the labels."
TASKS = ("sequence-classification", "token-classification", "question-answering")


@dataclass(frozen=True)
class SoftOptions:
    """How answers are compared."""

    temperature: float = option(2.0, SOFTENED, where=("match=probabilities",))
    soft: float = option(0.9, SHARE, least=0, most=1, part=TASK)
    match: str = option(
        "probabilities",
        "What of the answers: probabilities, or logits (squared error).",
        MATCHES,
        part=TASK,
        where=("soft",),
    )

    def __post_init__(self) -> None:
        check_options(self)
        if not 0.01 <= self.temperature <= 1000:
            raise InputError(f"temperature is {self.temperature}; it has to be above 0, from 0.01 to 1000.")


def check_soft(lesson: Lesson, name: str) -> None:
    """Raise InputError when answers of these models cannot be compared."""
    from mobilekit.training.teachers import require_labels, require_same_cut, require_same_ids

    head = lesson.student.head
    if head.task not in TASKS:
        raise InputError(f"recipe {name}: is for {', '.join(TASKS)}, not for {head.task}.")
    if head.problem_type == "regression" and lesson.options.match == "probabilities" and head.task == TASKS[0]:
        raise InputError(f"recipe {name}: a regression has no probabilities; use --match logits.")
    require_labels(lesson.teachers, head)
    if head.task == "question-answering":
        for teacher in lesson.teachers:
            require_same_ids(lesson.student, teacher, name, lesson.some_texts())
            require_same_cut(lesson.student, teacher, name, lesson.settings.length)


def ask(lesson: Lesson, rows: Sequence[Row]) -> Answers:
    """What the lesson's teachers answer to rows, to be compared as its options say."""
    from mobilekit.training.objectives.soft import Answers

    lesson.report("asking the teacher")
    options, length = lesson.options, lesson.settings.length
    compared = (options.temperature, options.soft, options.match)
    return Answers(lesson.student, lesson.teachers, rows, length, lesson.folder, *compared)


def soft_stage(lesson: Lesson, rows: Callable[[], Sequence[Row]] | None = None) -> Stage:
    """The stage that learns the teachers' answers: the last one of most recipes. rows: other ones than the lesson's."""
    from mobilekit.training.objectives.soft import Soft
    from mobilekit.training.stages import Stage

    def objective() -> Soft:
        return Soft(lesson.student, ask(lesson, lesson.rows if rows is None else rows()))

    return Stage("answers", objective, lesson.student.module, lesson.settings, judged=True)


def _check(lesson: Lesson) -> None:
    check_soft(lesson, "hinton")


def _task(lesson: Lesson) -> Sequence[Stage]:
    return [soft_stage(lesson)]


register(
    Recipe(
        "hinton",
        "the teacher's softened answers beside the labels; any teacher, any student",
        "Hinton, Vinyals & Dean 2015",
        SoftOptions,
        _check,
        _task,
        student="minilm-l6",
    )
)
