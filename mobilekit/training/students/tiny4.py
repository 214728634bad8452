"""`tiny4`: four layers, half as wide as the teacher's: in the manner of TinyBERT's smaller one (Jiao et al. 2020,
section 4.2), with sizes that phones' kernels like (312 and 1,200 are no multiples of 16 or 64)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mobilekit.errors import InputError
from mobilekit.training.students.registry import StudentKind, StudentOptions, register

if TYPE_CHECKING:
    import torch

    from mobilekit.models.model import Model

LAYERS = 4


def _make(teacher: Model, options: StudentOptions, seed: int, counts: torch.Tensor | None = None) -> Model:
    """Embeddings are the teacher's in half as many directions; layers are fresh: none of the teacher's fits."""
    import torch

    from mobilekit.models.families.bert import is_plain
    from mobilekit.training.students.copying import student_of
    from mobilekit.training.students.factorise import factorise

    old = teacher.config
    if options.layers not in (None, "none"):
        raise InputError("student tiny4 is narrower than its teacher and cannot begin with its layers; leave --layers.")
    if not is_plain(old):
        raise InputError(
            f"teacher {teacher.name}: a tiny4 is made of embeddings as wide as the layers, each with weights of its "
            f"own, and this {teacher.family} has others; take distil6."
        )
    if old.hidden_size % (2 * old.heads):
        raise InputError(f"teacher {teacher.name}: width {old.hidden_size} with {old.heads} heads cannot be halved.")
    size = old.hidden_size // 2
    config = replace(
        old,
        layers=options.depth or LAYERS,
        hidden_size=size,
        embedding_size=size,
        intermediate_size=old.intermediate_size // 2,
    )
    student = student_of(teacher, config, teacher.family, "tiny4", seed)
    if options.layers == "none":
        return student
    embeddings = student.module.encoder.embeddings
    with torch.no_grad():
        for name, table in factorise(teacher.module.encoder.embeddings, size, counts).tables.items():
            getattr(embeddings, name).weight.copy_(table)
    return student


register(
    StudentKind(
        "tiny4", "four fresh layers half as wide as the teacher's, with its attention heads", _make, counts=True
    )
)
