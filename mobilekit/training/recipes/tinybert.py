"""TinyBERT (Jiao et al. 2020): insides first, then answers; on plain text, then on the task's text and variations."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mobilekit.errors import InputError
from mobilekit.training.options import TASK, option
from mobilekit.training.recipes.distilbert import GeneralOptions, general_settings, require_general
from mobilekit.training.recipes.hinton import SHARE, SOFTENED, SoftOptions, check_soft, soft_stage
from mobilekit.training.recipes.registry import GENERAL_TEACHER, PLAIN_TEXT, Lesson, Recipe, register

if TYPE_CHECKING:
    from mobilekit.models.model import Model
    from mobilekit.text.data.rows import Row, TextRow
    from mobilekit.training.features import Features
    from mobilekit.training.objectives.observed import Observed
    from mobilekit.training.settings import Settings
    from mobilekit.training.stages import Stage

_INSIDES = ("general_epochs", "inner_epochs")
_VARIED: Mapping[str, Any] = {"part": TASK, "where": ("copies",)}


@dataclass(frozen=True)
class TinyBertOptions(SoftOptions, GeneralOptions):
    """There: general stage 3 epochs, insides 20 (10 where data are many), answers 3; temperature 1, no labels."""

    temperature: float = option(1.0, SOFTENED, where=("match=probabilities",))
    soft: float = option(1.0, SHARE, least=0, most=1, part=TASK)
    inner_epochs: int = option(3, "Passes over the task's text for the insides; 0: none.", least=0, part=TASK)
    inner_rate: float = option(2e-4, "The highest learning rate there.", least=1e-9, part=TASK, where=("inner_epochs",))
    embedding: float = option(1.0, "Weight of the embeddings.", least=0, where=_INSIDES)
    attention: float = option(1.0, "Weight of the attention scores.", least=0, where=_INSIDES)
    hidden: float = option(1.0, "Weight of the hidden states.", least=0, where=_INSIDES)
    errors: str = option(
        "squared",
        "squared, as published, or relative: each over the teacher's mean square in that layer.",
        ("squared", "relative"),
        where=_INSIDES,
    )
    layer_map: str = option(
        "", "The teacher's layer for each of the student's, such as 1,3,5.  [spread]", where=("attention", "hidden")
    )
    copies: int = option(20, "Variations of each of the task's texts; 0: none.", least=0, part=TASK)
    probability: float = option(0.4, "Share of words that are replaced in a variation.", least=0, most=1, **_VARIED)
    candidates: int = option(15, "Words out of which a replacement is drawn.", least=1, **_VARIED)
    at_once: float = option(
        0.15, "Share of words masked at once when replacements are looked for.", least=0, most=1, **_VARIED
    )
    glove: str = option("", "File of word vectors, for words of several pieces.  [the teacher's table]", **_VARIED)
    augmented: str = option("", "File with the variations: written if it is not there, else read.", **_VARIED)


def _check(lesson: Lesson) -> None:
    if lesson.teachers:
        check_soft(lesson, "tinybert")
    if len(lesson.teachers) > 1:
        raise InputError("recipe tinybert: takes one teacher; several are hinton's.")
    general = require_general(lesson, "tinybert", words=False)
    copied = [general] if general else []
    if lesson.options.inner_epochs:
        copied += lesson.teachers
    if copied:
        _check_weights(lesson)
    for teacher in copied:
        _check_teacher(lesson, teacher)
    if lesson.teachers and lesson.options.copies:
        _check_augmentation(lesson)


def _check_weights(lesson: Lesson) -> None:
    from mobilekit.training.teachers import embeddings_learn

    options = lesson.options
    if options.attention or options.hidden:
        return
    if not options.embedding:
        raise InputError("recipe tinybert: --embedding, --attention and --hidden are all 0: nothing is left to learn.")
    if not embeddings_learn(lesson.student):
        raise InputError(
            "recipe tinybert: --attention and --hidden are 0, and --freeze embeddings keeps the embeddings as they "
            "are: nothing is left to learn."
        )


def _check_teacher(lesson: Lesson, teacher: Model) -> None:
    from mobilekit.training.layers import read_map
    from mobilekit.training.teachers import require_layers, require_read, require_same_ids

    options, compared = lesson.options, (lesson.student, teacher, "tinybert")
    require_same_ids(*compared, lesson.some_texts())
    require_read(*compared, lesson.settings.length)
    require_layers(*compared)
    read_map(options.layer_map, lesson.student.config.layers, teacher.config.layers)
    ours, theirs = lesson.student.config.heads, teacher.config.heads
    if options.attention and ours != theirs:
        raise InputError(
            f"recipe tinybert: student {lesson.student.name} has {ours} attention heads, teacher {teacher.name} "
            f"{theirs}, and their scores are compared head by head; --attention 0 leaves them out."
        )


def _check_augmentation(lesson: Lesson) -> None:
    if lesson.student.head.task != "sequence-classification":
        raise InputError("recipe tinybert: varies the words of labelled texts, not of tagged ones; --copies 0.")
    if lesson.options.glove:
        from mobilekit.text.data.encoding import require_file

        require_file(Path(lesson.options.glove))
    file, general = _augmented(lesson), lesson.general
    if lesson.options.augmented and file.is_file():
        lesson.memory["copies"] = _read(lesson)
        return
    if general is None or general.head.task != "fill-mask":
        raise InputError(
            "recipe tinybert: variations of the text need --general-teacher with a fill-mask head (mobilekit pretrain "
            "--head-only makes one); --copies 0 leaves them out."
        )
    if lesson.options.augmented and (file.exists() or not _can_be_made(file)):
        raise InputError(f"{file}: cannot be written; --augmented takes a file, in a folder that can be written to.")
    _check_words(lesson, general)


def _can_be_made(file: Path) -> bool:
    place = next(parent for parent in file.absolute().parents if parent.exists())
    return place.is_dir() and os.access(place, os.W_OK | os.X_OK)


def _check_words(lesson: Lesson, general: Model) -> None:
    """Raise InputError when words that fit cannot be found: what is wrong must not show after hours."""
    from mobilekit.training.augmentation.augment import require_mask
    from mobilekit.training.augmentation.neighbours import GloveNeighbours
    from mobilekit.training.augmentation.words import whole_words

    require_mask(general)
    whole_words(general.tokenizer, general.config.vocab_size)
    if lesson.options.glove:
        # To its end, and again when its turn comes.
        lesson.report(f"reading {lesson.options.glove}")
        GloveNeighbours(Path(lesson.options.glove))


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
    weights = Weights(options.embedding, options.attention, options.hidden, options.errors == "relative")
    return Stage(
        name,
        lambda: Mimicry(lesson.student, teacher, features(), layers, weights),
        _observed(lesson, teacher),
        settings,
    )


def _observed(lesson: Lesson, teacher: Model) -> Observed:
    """The student with its projections, which are learned on plain text and kept for the task's teacher, where that is
    as wide as the general one."""
    from mobilekit.training.objectives.observed import Observed, Projections

    size, wide = lesson.student.config.hidden_size, teacher.config.hidden_size
    projections: dict[int, Projections] = lesson.memory.setdefault("projections", {})
    if size != wide and wide not in projections:
        projections[wide] = Projections(size, wide, lesson.settings.seed)
    return Observed(lesson.student.module, projections.get(wide), answers=False)


def _varied(lesson: Lesson) -> Sequence[Row]:
    """The task's rows and their variations, which are made once and kept in a file."""
    if not lesson.options.copies:
        return lesson.rows
    if "copies" not in lesson.memory:
        from accelerate import PartialState

        from mobilekit.training.augmentation.store import write_rows

        file, origin = _augmented(lesson), _origin(lesson)
        with PartialState().local_main_process_first():
            if not file.is_file():
                write_rows(file, _augment(lesson), origin)
        lesson.memory["copies"] = _read(lesson)
    return [*lesson.rows, *lesson.memory["copies"]]


def _read(lesson: Lesson) -> list[TextRow]:
    from mobilekit.training.augmentation.store import read_rows

    return read_rows(_augmented(lesson), _origin(lesson), lesson.student.head)


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
    from mobilekit.training.optimize import in_bf16

    options, words = lesson.options, lesson.general
    assert words is not None
    neighbours = GloveNeighbours(Path(options.glove)) if options.glove else TableNeighbours(words)
    how = Augmentation(options.copies, options.probability, options.candidates, options.at_once)
    rows = [row for row in lesson.rows if isinstance(row, TextRow)]
    settings, half = lesson.settings, in_bf16(lesson.settings.precision)
    return augment(rows, words, neighbours, how, settings.length, settings.seed, lesson.report, half)


def _needs(options: TinyBertOptions) -> frozenset[str]:
    if options.general_epochs:
        return frozenset({GENERAL_TEACHER, PLAIN_TEXT})
    return frozenset({GENERAL_TEACHER} if options.copies else ())


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
        needs=_needs,
    )
)
