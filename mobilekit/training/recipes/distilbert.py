"""DistilBERT (Sanh et al. 2019, sections 2 and 3): half the teacher's layers, plain text first, then the task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mobilekit.errors import InputError
from mobilekit.training.options import GENERAL, option
from mobilekit.training.recipes.hinton import SOFTENED, SoftOptions, check_soft, soft_stage
from mobilekit.training.recipes.registry import GENERAL_TEACHER, PLAIN_TEXT, Lesson, Recipe, register

if TYPE_CHECKING:
    from mobilekit.models.model import Model
    from mobilekit.training.settings import Settings
    from mobilekit.training.stages import Stage

COSINE_LAYERS = ("last", "embedding")
_THERE: Mapping[str, Any] = {"part": GENERAL, "where": ("general_epochs",)}


@dataclass(frozen=True)
class GeneralOptions:
    """How long a stage on plain text is."""

    general_epochs: int = option(3, "Passes over the plain text before the task; 0: none.", least=0, part=GENERAL)
    general_rate: float = option(2e-4, "The highest learning rate there.", least=1e-9, **_THERE)
    general_batch: int = option(32, "Inputs a step there.", least=1, **_THERE)


@dataclass(frozen=True)
class DistilBertOptions(SoftOptions, GeneralOptions):
    """The triple loss: soft masked words 5, masked words 2, cosine 1 in the authors' code."""

    temperature: float = option(2.0, SOFTENED, where=("soft_words", "match=probabilities"))
    soft_words: float = option(5.0, "Weight of the teacher's distribution over masked words.", least=0, **_THERE)
    masked_words: float = option(2.0, "Weight of the masked words themselves.", least=0, **_THERE)
    cosine: float = option(1.0, "Weight of the direction of hidden states.", least=0, **_THERE)
    cosine_layer: str = option(
        "last", "Whose states: the last layer's, or the embeddings'.", COSINE_LAYERS, part=GENERAL, where=("cosine",)
    )


def general_settings(lesson: Lesson) -> Settings:
    """The lesson's settings with the length and rate of a stage on plain text."""
    options = lesson.options
    return replace(
        lesson.settings,
        epochs=options.general_epochs,
        learning_rate=options.general_rate,
        batch=options.general_batch,
    )


def require_text(lesson: Lesson, name: str) -> None:
    """Raise InputError when a stage on plain text lacks its text."""
    if not lesson.options.general_epochs:
        return
    if not lesson.texts:
        raise InputError(f"recipe {name}: its stage on plain text needs --text; --general-epochs 0 leaves it out.")
    if not any(row.text.strip() for row in lesson.texts):
        raise InputError(f"recipe {name}: all texts of --text are empty; there is nothing to learn from.")


def require_general(lesson: Lesson, name: str, words: bool) -> Model | None:
    """The teacher of a stage on plain text, None where that is left out.

    Raises InputError when the stage lacks its teacher, its text or (words) a head for masked words.
    """
    if not lesson.options.general_epochs:
        return None
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
    require_text(lesson, name)
    return lesson.general


def _check(lesson: Lesson) -> None:
    if lesson.teachers:
        check_soft(lesson, "distilbert")
    general = require_general(lesson, "distilbert", words=True)
    if general is not None:
        _check_general(lesson, general)


def _check_general(lesson: Lesson, general: Model) -> None:
    from mobilekit.training.teachers import (
        embeddings_learn,
        require_embedding_width,
        require_layers,
        require_read,
        require_same_ids,
        require_same_width,
        require_same_words,
    )

    options, compared = lesson.options, (lesson.student, general, "distilbert")
    require_same_ids(*compared, lesson.some_texts())
    require_read(*compared, lesson.settings.length)
    require_layers(*compared)
    if options.soft_words:
        require_same_words(*compared)
    elif not options.masked_words:
        if not options.cosine:
            raise InputError(
                "recipe distilbert: --soft-words, --masked-words and --cosine are all 0: nothing is left to learn on "
                "plain text; --general-epochs 0 leaves it out."
            )
        if options.cosine_layer == "embedding" and not embeddings_learn(lesson.student):
            raise InputError(
                "recipe distilbert: compares the embeddings alone, and --freeze embeddings keeps them as they are: "
                "nothing is left to learn on plain text; --general-epochs 0 leaves it out."
            )
    if options.cosine and options.cosine_layer == "embedding":
        require_embedding_width(*compared)
    elif options.cosine:
        require_same_width(*compared)


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
        needs=lambda options: frozenset({GENERAL_TEACHER, PLAIN_TEXT} if options.general_epochs else ()),
        chooses=True,
    )
)
