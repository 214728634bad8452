"""What a student takes over from its teacher."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import nn

from mobilekit.errors import InputError
from mobilekit.models.config import EncoderConfig, HeadConfig
from mobilekit.models.encoder import Encoder
from mobilekit.models.families.registry import families
from mobilekit.models.model import Model, Source, fresh_module
from mobilekit.training.layers import read_layers, spread_map


def spaced(teacher: int, student: int) -> tuple[int, ...]:
    """`student` of `teacher` layers, the first and the last among them: 0, 2, 4, 7, 9, 11 of 12 (Sanh et al. 2019)."""
    if student == 1:
        return (0,)
    return tuple(int(i * (teacher - 1) / (student - 1) + 0.5) for i in range(student))


def choose_layers(text: str, teacher: int, student: int, more: str = "") -> tuple[int, ...] | None:
    """The teacher's layers that a student begins with; None: with none. Raises InputError.

    mapped: those that recipe tinybert compares the student's with. more: other names that the student has for some, as
    messages say them.
    """
    if text == "none":
        return None
    if student > teacher and text in ("spaced", "first", "last", "mapped"):
        raise InputError(
            f"the student has {student} layers, its teacher {teacher}: it may not be deeper than the teacher it is "
            "made from."
        )
    named = {"spaced": spaced(teacher, student), "first": tuple(range(student))}
    named |= {"last": tuple(range(teacher - student, teacher)), "mapped": spread_map(student, teacher)}
    if text in named:
        return named[text]
    return read_layers("layers", text, student, teacher, f"{', '.join(named)}, none, {more}or ")


def copy_layers(teacher: Encoder, student: Encoder, layers: tuple[int, ...]) -> None:
    """Put the teacher's `layers` into the student's; of layers that share weights the first one's count."""
    for own, layer in enumerate(layers):
        for part, owner in (("attention", student.config.attention_of(own)), ("ffn", student.config.ffn_of(own))):
            if owner == own:
                source = getattr(teacher.layers[layer], part)
                getattr(student.layers[own], part).load_state_dict(source.state_dict())


def copy_table(source: nn.Embedding, target: nn.Embedding) -> None:
    """Put one table into another of the same shape."""
    with torch.no_grad():
        target.weight.copy_(source.weight)


def student_of(teacher: Model, config: EncoderConfig, family: str, kind: str, seed: int) -> Model:
    """A model of another shape with the teacher's tokenizer, prefix and licence, and fresh weights.

    Its head is the teacher's kind in the layout of `family`.
    """
    head = head_in(teacher.head, family, config)
    name = f"{teacher.name}-{kind}"
    source = Source(f"{teacher.source.id}-{kind}", "", teacher.source.license)
    module = fresh_module(config, head, seed)
    return Model(name, module, head, teacher.tokenizer, source, teacher.prefix, "", family)


def copy_head(teacher: Model, student: Model) -> None:
    """The teacher's head, where the student's is the same in kind and shape; else it stays fresh."""
    if teacher.head != student.head:
        return
    theirs, ours = teacher.module.head.state_dict(), student.module.head.state_dict()
    # A tied decoder is the token table, which is the encoder's business.
    tied = {"decoder.weight"} if student.head.task == "fill-mask" and student.head.tied else set()
    names = [name for name in ours if name not in tied]
    if all(name in theirs and theirs[name].shape == ours[name].shape for name in names):
        student.module.head.load_state_dict({name: theirs[name] for name in names}, strict=False)


def head_in(head: HeadConfig, family: str, config: EncoderConfig) -> HeadConfig:
    """The head with the activation that the classes of a family have."""
    layout = families()[family]
    if head.task == "sequence-classification" and not head.mean:
        return replace(head, activation=layout.head_activation)
    if head.task == "fill-mask":
        return replace(head, activation=layout.word_activation or config.activation)
    return head
