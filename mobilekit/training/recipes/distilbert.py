"""DistilBERT (Sanh et al. 2019, sections 2 and 3): half the teacher's layers, plain text first, then the task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mobilekit.errors import InputError
from mobilekit.training.options import option
from mobilekit.training.recipes.hinton import SoftOptions, check_soft, soft_stage
from mobilekit.training.recipes.registry import Lesson, Recipe, register

if TYPE_CHECKING:
    from mobilekit.training.settings import Settings
    from mobilekit.training.stages import Stage

COSINE_LAYERS = ("last", "embedding")


@dataclass(frozen=True)
class GeneralOptions:
    """How long a stage on plain text is."""

    general_epochs: int = option(3, "Passes over the plain text before the task; 0: none.", least=0)
    general_rate: float = option(2e-4, "The highest learning rate there.", least=1e-9)
    general_batch: int = option(32, "Inputs a step there.", least=1)


@dataclass(frozen=True)
class DistilBertOptions(SoftOptions, GeneralOptions):
    """The triple loss: soft masked words 5, masked words 2, cosine 1 in the authors' code."""

    soft_words: float = option(5.0, "Weight of the teacher's distribution over masked words.", least=0)
    masked_words: float = option(2.0, "Weight of the masked words themselves.", least=0)
    cosine: float = option(1.0, "Weight of the direction of hidden states.", least=0)
    cosine_layer: str = option("last", "Whose states: the last layer's, or the embeddings'.", COSINE_LAYERS)


def general_settings(lesson: Lesson) -> Settings:
    """The lesson's settings with the length and rate of a stage on plain text."""
    options = lesson.options
    return replace(
        lesson.settings,
        epochs=options.general_epochs,
        learning_rate=options.general_rate,
        batch=options.general_batch,
    )


def require_general(lesson: Lesson, name: str, words: bool) -> None:
    """Raise InputError when a stage on plain text lacks its teacher, its text or (words) a head for masked words."""
    if lesson.options.general_epochs == 0:
        return
    if lesson.general is None:
        raise InputError(
            f"recipe {name}: its stage on plain text needs --general-teacher, a model that is not fine-tuned"
            + (" with a fill-mask head (mobilekit pretrain --head-only makes one)" if words else "")
            + "; --general-epochs 0 leaves the stage out."
        )
    if words and lesson.general.head.task != "fill-mask":
        raise InputError(
            f"general teacher {lesson.general.name}: is a {lesson.general.head.task} model; recipe {name} needs a "
            "fill-mask one: mobilekit pretrain --head-only makes it."
        )
    if not lesson.texts:
        raise InputError(f"recipe {name}: its stage on plain text needs --text; --general-epochs 0 leaves it out.")


def _check(lesson: Lesson) -> None:
    from mobilekit.training.teachers import require_layers, require_same_ids, require_same_width

    if lesson.teachers:
        check_soft(lesson, "distilbert")
    require_general(lesson, "distilbert", words=True)
    if lesson.general is not None:
        require_same_ids(lesson.student, lesson.general, "distilbert")
        require_layers(lesson.student, lesson.general, "distilbert")
        if lesson.options.cosine:
            require_same_width(lesson.student, lesson.general, "distilbert")


def _general(lesson: Lesson) -> Sequence[Stage]:
    from mobilekit.training.objectives.words import Guide, WordWeights
    from mobilekit.training.pretraining import words_stage

    options = lesson.options
    if not options.general_epochs or lesson.general is None:
        return []
    weights = WordWeights(options.masked_words, options.soft_words, options.cosine)
    guide = Guide(lesson.general, options.temperature, options.cosine_layer)
    return [words_stage(lesson, general_settings(lesson), weights, guide)]


def _task(lesson: Lesson) -> Sequence[Stage]:
    return [soft_stage(lesson)]


register(
    Recipe(
        "distilbert",
        "masked words, the teacher's distribution over them and its states' direction on plain text, then its answers",
        "Sanh et al. 2019",
        DistilBertOptions,
        _check,
        _task,
        _general,
    )
)
