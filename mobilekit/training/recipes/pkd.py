"""Patient knowledge distillation (BERT-PKD, Sun et al. 2019): answers, and the states on the way to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mobilekit.errors import InputError
from mobilekit.training.options import TASK, option
from mobilekit.training.recipes.hinton import SHARE, SOFTENED, SoftOptions, ask, check_soft
from mobilekit.training.recipes.registry import Lesson, Recipe, register

if TYPE_CHECKING:
    from mobilekit.training.objectives.patient import Patient
    from mobilekit.training.stages import Stage

PATIENCES = ("skip", "last")


@dataclass(frozen=True)
class PatientOptions(SoftOptions):
    """(1 - alpha) CE + alpha soft + beta patient there (equation 8); alpha is `soft` here."""

    temperature: float = option(5.0, SOFTENED, where=("match=probabilities",))
    soft: float = option(0.5, SHARE, least=0, most=1, part=TASK)
    patience: str = option(
        "skip", "The teacher's layers to learn from: skip (every k-th) or last.", PATIENCES, part=TASK, where=("beta",)
    )
    beta: float = option(1.0, "Weight of the patient loss.", least=0, part=TASK)


def _check(lesson: Lesson) -> None:
    from mobilekit.training.teachers import require_layers, require_same_width

    check_soft(lesson, "pkd")
    if lesson.student.head.task != "sequence-classification":
        raise InputError("recipe pkd: compares the states of whole texts, and is for sequence-classification.")
    if len(lesson.teachers) != 1:
        raise InputError("recipe pkd: takes one teacher; several are hinton's.")
    if lesson.student.config.layers < 2:
        raise InputError("recipe pkd: compares all layers but the last, and the student has one; take recipe hinton.")
    require_same_width(lesson.student, lesson.teachers[0], "pkd")
    require_layers(lesson.student, lesson.teachers[0], "pkd")


def _task(lesson: Lesson) -> Sequence[Stage]:
    from mobilekit.training.objectives.observed import Observed
    from mobilekit.training.stages import Stage

    def objective() -> Patient:
        from mobilekit.training.objectives.patient import Patient, patient_layers

        options, teacher, length = lesson.options, lesson.teachers[0], lesson.settings.length
        answers = ask(lesson, lesson.rows)
        layers = patient_layers(options.patience, lesson.student.config.layers, teacher.config.layers)
        return Patient(lesson.student, teacher, answers, lesson.rows, length, lesson.folder, layers, options.beta)

    return [Stage("patient", objective, Observed(lesson.student.module), lesson.settings, judged=True)]


register(
    Recipe(
        "pkd",
        "answers and the states of the text in every layer, at unit length; a student as wide as the teacher",
        "Sun et al. 2019",
        PatientOptions,
        _check,
        _task,
        layers="first",
    )
)
