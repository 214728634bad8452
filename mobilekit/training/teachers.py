"""What a teacher has to be before it may teach."""

from __future__ import annotations

from collections.abc import Sequence

from mobilekit.errors import InputError
from mobilekit.models.config import HeadConfig
from mobilekit.models.model import Model
from mobilekit.models.rehead import with_labels
from mobilekit.text.data.rows import TextData
from mobilekit.text.same_ids import same_ids
from mobilekit.training.guessing import as_guessing
from mobilekit.training.predict import predict


def in_order(teacher: Model, head: HeadConfig) -> Model:
    """A teacher of the same labels in another order, in the order of `head`; any other one as it is."""
    theirs, ours = teacher.head.labels, head.labels
    if teacher.head.task != head.task or theirs == ours or sorted(theirs) != sorted(ours) or not ours:
        return teacher
    return with_labels(teacher, ours)


def require_labels(teachers: Sequence[Model], head: HeadConfig) -> None:
    """Raise InputError for a teacher that answers something else than the data ask."""
    for teacher in teachers:
        theirs = teacher.head
        if theirs.task == head.task == "sequence-classification" and theirs.problem_type != head.problem_type:
            raise InputError(
                f"teacher {teacher.name}: was trained for {theirs.problem_type}, and the data are "
                f"{head.problem_type}; take a teacher of such data, or say with --problem-type what they are."
            )
        # A value has no name that would matter: `value` here, `LABEL_0` in checkpoints of others.
        regression = head.task == "sequence-classification" and head.problem_type == "regression"
        same = len(theirs.labels) == len(head.labels) if regression else theirs.labels == head.labels
        if theirs.task != head.task or not same:
            raise InputError(
                f"teacher {teacher.name}: its labels ({', '.join(theirs.labels) or 'none'}) are not the data's "
                f"({', '.join(head.labels)}); fine-tune it on them first: mobilekit train."
            )


def require_same_ids(student: Model, teacher: Model, recipe: str, texts: Sequence[str] = ()) -> None:
    """Raise InputError when the two do not make the same ids of a text, for a recipe that compares token by token.

    texts: some of those that will be read.
    """
    if student.prefix != teacher.prefix or not same_ids(student.tokenizer, teacher.tokenizer, texts):
        raise InputError(
            f"recipe {recipe}: student {student.name} and teacher {teacher.name} do not have one vocabulary and one "
            "prefix, and it compares them token by token; take a student made from the teacher (distil6, tiny4, "
            "albert), or recipe hinton."
        )


def require_same_cut(student: Model, teacher: Model, recipe: str, length: int) -> None:
    """Raise InputError when long inputs would be cut at different places, for answers that are compared token by
    token."""
    ours, theirs = (min(length, model.tokenizer.max_length) for model in (student, teacher))
    if ours != theirs:
        raise InputError(
            f"recipe {recipe}: of {length} ids student {student.name} reads at most {ours}, teacher {teacher.name} "
            f"{theirs}, and answers are compared token by token; give --length {min(ours, theirs)}."
        )


def require_read(student: Model, teacher: Model, recipe: str, length: int) -> None:
    """Raise InputError when a teacher cannot read all that is cut to the student's length."""
    ours, theirs = min(length, student.tokenizer.max_length), teacher.config.max_tokens
    if ours > theirs:
        raise InputError(
            f"recipe {recipe}: student {student.name} reads {ours} ids, teacher {teacher.name} at most {theirs}, and "
            f"it compares them token by token; give --length {theirs}."
        )


def require_same_words(student: Model, teacher: Model, recipe: str) -> None:
    """Raise InputError when the two do not give scores to the same words."""
    ours, theirs = student.config.vocab_size, teacher.config.vocab_size
    if ours != theirs:
        raise InputError(
            f"recipe {recipe}: student {student.name} has embeddings for {ours} tokens, teacher {teacher.name} for "
            f"{theirs}, and what they say of each is compared; take a student made from the teacher, or --soft-words 0."
        )


def require_embedding_width(student: Model, teacher: Model, recipe: str) -> None:
    """Raise InputError when embeddings cannot be compared as they are."""
    ours, theirs = student.config.embedding_size, teacher.config.embedding_size
    if ours != theirs:
        raise InputError(
            f"recipe {recipe}: the embeddings of student {student.name} are {ours} wide, those of teacher "
            f"{teacher.name} {theirs}, and it compares them as they are; take --cosine-layer last, or --cosine 0."
        )


def embeddings_learn(student: Model) -> bool:
    """Whether embeddings are trained, or stay as they are."""
    return any(parameter.requires_grad for parameter in student.module.encoder.embeddings.parameters())


def require_same_width(student: Model, teacher: Model, recipe: str) -> None:
    """Raise InputError when hidden states cannot be compared as they are."""
    ours, theirs = student.config.hidden_size, teacher.config.hidden_size
    if ours != theirs:
        raise InputError(
            f"recipe {recipe}: student {student.name} is {ours} wide, teacher {teacher.name} {theirs}, and it compares "
            "their states as they are; recipe tinybert learns a map between them."
        )


def require_layers(student: Model, teacher: Model, recipe: str) -> None:
    """Raise InputError when a student has more layers than its teacher."""
    ours, theirs = student.config.layers, teacher.config.layers
    if ours > theirs:
        raise InputError(
            f"recipe {recipe}: student {student.name} has {ours} layers, teacher {teacher.name} {theirs}; a student "
            "may not be deeper than its teacher."
        )


def require_better_than_guessing(teacher: Model, judging: TextData, length: int) -> None:
    """Raise InputError for a teacher that is no better than who guesses (see `as_guessing`)."""
    said = as_guessing(teacher.head, judging, *predict(teacher, judging.rows, length))
    if said is not None:
        raise InputError(
            f"teacher {teacher.name}: {said}; fine-tune it first (mobilekit train), or distil from it --anyway."
        )
