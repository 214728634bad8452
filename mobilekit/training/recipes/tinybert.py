"""TinyBERT (Jiao et al. 2020): insides first, then answers; on plain text, then on the task's text and variations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mobilekit.errors import InputError
from mobilekit.training.options import option
from mobilekit.training.recipes.distilbert import GeneralOptions, general_settings, require_general
from mobilekit.training.recipes.hinton import SoftOptions, check_soft, soft_stage
from mobilekit.training.recipes.registry import Lesson, Recipe, register

if TYPE_CHECKING:
    from mobilekit.models.model import Model
    from mobilekit.text.data.rows import Row, TextRow
    from mobilekit.training.features import Features
    from mobilekit.training.objectives.observed import Observed
    from mobilekit.training.settings import Settings
    from mobilekit.training.stages import Stage


@dataclass(frozen=True)
class TinyBertOptions(SoftOptions, GeneralOptions):
    """There: general stage 3 epochs, insides 20 (10 where data are many), answers 3; temperature 1, no labels."""

    temperature: float = option(1.0, "How far answers are softened, in training, on both sides.")
    soft: float = option(1.0, "Share of the loss against the teacher; the rest is against the labels.", least=0, most=1)
    inner_epochs: int = option(3, "Passes over the task's text for the insides; 0: none.", least=0)
    inner_rate: float = option(2e-4, "The highest learning rate there.", least=1e-9)
    embedding: float = option(1.0, "Weight of the embeddings.", least=0)
    attention: float = option(1.0, "Weight of the attention scores.", least=0)
    hidden: float = option(1.0, "Weight of the hidden states.", least=0)
    layer_map: str = option("", "The teacher's layer for each of the student's, such as 1,3,5.  [spread]")
    copies: int = option(20, "Variations of each of the task's texts; 0: none.", least=0)
    probability: float = option(0.4, "Share of words that are replaced in a variation.", least=0, most=1)
    candidates: int = option(15, "Words out of which a replacement is drawn.", least=1)
    at_once: float = option(0.15, "Share of words masked at once when replacements are looked for.", least=0, most=1)
    glove: str = option("", "File of word vectors, for words of several pieces.  [the teacher's table]")
    augmented: str = option("", "File with the variations: written if it is not there, else read.")


def _check(lesson: Lesson) -> None:
    from mobilekit.training.layers import read_map
    from mobilekit.training.teachers import require_layers, require_same_ids

    options = lesson.options
    if (options.general_epochs or options.inner_epochs) and not (
        options.embedding + options.attention + options.hidden
    ):
        raise InputError("recipe tinybert: --embedding, --attention and --hidden are all 0: nothing is left to learn.")
    if lesson.teachers:
        check_soft(lesson, "tinybert")
    if len(lesson.teachers) > 1:
        raise InputError("recipe tinybert: takes one teacher; several are hinton's.")
    require_general(lesson, "tinybert", words=False)
    for teacher in (*lesson.teachers, *([lesson.general] if lesson.general else [])):
        require_same_ids(lesson.student, teacher, "tinybert")
        require_layers(lesson.student, teacher, "tinybert")
        read_map(options.layer_map, lesson.student.config.layers, teacher.config.layers)
        ours, theirs = lesson.student.config.heads, teacher.config.heads
        if options.attention and ours != theirs:
            raise InputError(
                f"recipe tinybert: student {lesson.student.name} has {ours} attention heads, teacher {teacher.name} "
                f"{theirs}, and their scores are compared head by head; --attention 0 leaves them out."
            )
    if lesson.teachers and options.copies:
        _check_augmentation(lesson)


def _check_augmentation(lesson: Lesson) -> None:
    if lesson.options.glove and not Path(lesson.options.glove).is_file():
        raise InputError(f"{lesson.options.glove}: not found; --glove takes a file of word vectors.")
    if lesson.student.head.task != "sequence-classification":
        raise InputError("recipe tinybert: varies the words of labelled texts, not of tagged ones; --copies 0.")
    if lesson.options.augmented and _augmented(lesson).is_file():
        from mobilekit.training.augmentation.store import require_origin

        require_origin(_augmented(lesson), _origin(lesson))
        return
    if lesson.general is None or lesson.general.head.task != "fill-mask":
        raise InputError(
            "recipe tinybert: variations of the text need --general-teacher with a fill-mask head (mobilekit pretrain "
            "--head-only makes one); --copies 0 leaves them out."
        )


def _general(lesson: Lesson) -> Sequence[Stage]:
    general = lesson.general
    if not lesson.options.general_epochs or general is None:
        return []
    settings = general_settings(lesson)

    def features() -> Sequence[Features]:
        from mobilekit.training.passages import PassageFeatures, Texts

        return PassageFeatures(Texts(lesson.student, lesson.texts, settings.length, lesson.folder))

    return [_inner_stage(lesson, general, "insides, plain text", settings, features)]


def _task(lesson: Lesson) -> Sequence[Stage]:
    options, stages = lesson.options, []
    if options.inner_epochs:
        settings = replace(lesson.settings, epochs=options.inner_epochs, learning_rate=options.inner_rate)

        def features() -> Sequence[Features]:
            from mobilekit.training.features import encode_rows

            return encode_rows(lesson.student, _varied(lesson), settings.length)

        stages.append(_inner_stage(lesson, lesson.teachers[0], "insides", settings, features))
    return [*stages, soft_stage(lesson, lambda: _varied(lesson))]


def _inner_stage(
    lesson: Lesson, teacher: Model, name: str, settings: Settings, features: Callable[[], Sequence[Features]]
) -> Stage:
    from mobilekit.training.layers import read_map
    from mobilekit.training.objectives.mimicry import Mimicry, Weights
    from mobilekit.training.stages import Stage

    options = lesson.options
    layers = read_map(options.layer_map, lesson.student.config.layers, teacher.config.layers)
    weights = Weights(options.embedding, options.attention, options.hidden)
    return Stage(
        name,
        lambda: Mimicry(lesson.student, teacher, features(), layers, weights),
        _observed(lesson, teacher),
        settings,
    )


def _observed(lesson: Lesson, teacher: Model) -> Observed:
    """The student with its projections, which are learned on plain text and kept for the task."""
    from mobilekit.training.objectives.observed import Observed, Projections

    size, wide = lesson.student.config.hidden_size, teacher.config.hidden_size
    if size != wide and "projections" not in lesson.memory:
        lesson.memory["projections"] = Projections(size, wide, lesson.settings.seed)
    return Observed(lesson.student.module, lesson.memory.get("projections"), answers=False)


def _varied(lesson: Lesson) -> Sequence[Row]:
    """The task's rows and their variations, which are made once and kept in a file."""
    if not lesson.options.copies:
        return lesson.rows
    if "rows" not in lesson.memory:
        from accelerate import PartialState

        from mobilekit.training.augmentation.store import read_rows, write_rows

        file, origin = _augmented(lesson), _origin(lesson)
        with PartialState().local_main_process_first():
            if not file.is_file():
                write_rows(file, _augment(lesson), origin)
        lesson.memory["rows"] = [*lesson.rows, *read_rows(file, origin)]
    rows: Sequence[Row] = lesson.memory["rows"]
    return rows


def _augmented(lesson: Lesson) -> Path:
    given: str = lesson.options.augmented
    return Path(given) if given else lesson.folder / "augmented.jsonl"


def _origin(lesson: Lesson) -> Mapping[str, str]:
    """What variations are made of, as far as it is known where they are only read."""
    from mobilekit.training.identity import file_digest, rows_digest, weights_digest

    options, words = lesson.options, lesson.general
    how = [options.copies, options.probability, options.candidates, options.at_once]
    origin = {"rows": rows_digest(lesson.rows), "options": str(how)}
    if words is not None:
        origin["words"] = weights_digest(words)
        origin["vectors"] = file_digest(Path(options.glove)) if options.glove else "table"
    return origin


def _augment(lesson: Lesson) -> list[TextRow]:
    from mobilekit.text.data.rows import TextRow
    from mobilekit.training.augmentation.augment import Augmentation, augment
    from mobilekit.training.augmentation.neighbours import GloveNeighbours, TableNeighbours

    options, words = lesson.options, lesson.general
    assert words is not None
    neighbours = GloveNeighbours(Path(options.glove)) if options.glove else TableNeighbours(words)
    how = Augmentation(options.copies, options.probability, options.candidates, options.at_once)
    rows = [row for row in lesson.rows if isinstance(row, TextRow)]
    return augment(rows, words, neighbours, how, lesson.settings.length, lesson.settings.seed, lesson.report)


register(
    Recipe(
        "tinybert",
        "embeddings, attention and hidden states of the teacher, then its answers; on varied text",
        "Jiao et al. 2020",
        TinyBertOptions,
        _check,
        _task,
        _general,
        layers="mapped",
    )
)
