"""Pre-trained distillation (Turc et al. 2019): a small student learns masked words, then the teacher's answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mobilekit.training.recipes.distilbert import GeneralOptions, general_settings, require_text
from mobilekit.training.recipes.hinton import SoftOptions, check_soft, soft_stage
from mobilekit.training.recipes.registry import PLAIN_TEXT, Lesson, Recipe, register

if TYPE_CHECKING:
    from mobilekit.training.stages import Stage


@dataclass(frozen=True)
class PretrainedOptions(SoftOptions, GeneralOptions):
    """Masked words alone, then soft targets."""


def _check(lesson: Lesson) -> None:
    if lesson.teachers:
        check_soft(lesson, "pretrained")
    require_text(lesson, "pretrained")


def _general(lesson: Lesson) -> Sequence[Stage]:
    from mobilekit.training.objectives.words import WordWeights
    from mobilekit.training.pretraining import words_stage

    if not lesson.options.general_epochs:
        return []
    return [words_stage(lesson, general_settings(lesson), WordWeights())]


def _task(lesson: Lesson) -> Sequence[Stage]:
    return [soft_stage(lesson)]


register(
    Recipe(
        "pretrained",
        "masked words on plain text without a teacher, then the teacher's answers",
        "Turc et al. 2019",
        PretrainedOptions,
        _check,
        _task,
        _general,
        student="tiny4",
        needs=lambda options: frozenset({PLAIN_TEXT} if options.general_epochs else ()),
        chooses=True,
    )
)
