"""`albert`: one set of weights for all layers, and narrow embeddings (Lan et al. 2020, sections 3.1 and 4.6)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mobilekit.errors import InputError
from mobilekit.training.students.registry import StudentKind, StudentOptions, register

if TYPE_CHECKING:
    import torch

    from mobilekit.models.encoder import Encoder
    from mobilekit.models.model import Model

SIZE = 128
OPTIONS = ("layers", "depth", "sharing", "groups", "embedding_size")


def _make(teacher: Model, options: StudentOptions, seed: int, counts: torch.Tensor | None = None) -> Model:
    """As deep as the teacher. Embeddings are factorised; weights that layers share begin as the mean of the teacher's
    layers that they stand for, or (`layers`) as chosen ones."""
    from mobilekit.training.students.copying import copy_head, student_of

    old = teacher.config
    _require_whole(teacher)
    size = old.hidden_size if options.embedding_size == 0 else options.embedding_size or SIZE
    if size > old.hidden_size:
        raise InputError(f"embedding-size is {size}; at most the teacher's, {old.hidden_size}.")
    sharing = options.sharing or "all"
    if sharing == "none" and options.groups is not None:
        raise InputError("groups are of layers that share; with --sharing none leave out --groups.")
    config = replace(
        old,
        layers=options.depth or old.layers,
        embedding_size=size,
        projection=size != old.hidden_size,
        sharing=sharing,
        groups=options.groups or 1,
        token_types=max(1, old.token_types),
        # The paper trains it without (section 4.8).
        dropout=0.0,
    )
    student = student_of(teacher, config, "albert", "albert", seed)
    if options.layers != "none":
        _embed(teacher.module.encoder, student.module.encoder, counts)
        _fill(teacher.module.encoder, student.module.encoder, options.layers or "mean")
        copy_head(teacher, student)
    return student


def _require_whole(teacher: Model) -> None:
    """Raise InputError for a teacher that is an ALBERT, or has narrow embeddings already."""
    config = teacher.config
    if config.sharing != "none" or (config.projected and teacher.family == "albert"):
        raise InputError(f"teacher {teacher.name} is an ALBERT already; distil6 makes a shallower one of it.")
    if config.projected:
        raise InputError(
            f"teacher {teacher.name}: its embeddings, {config.embedding_size} wide, are not those of its layers, "
            f"{config.hidden_size} wide, and albert makes such ones of whole ones; distil6 keeps them as they are."
        )


def _embed(teacher: Encoder, student: Encoder, counts: torch.Tensor | None) -> None:
    import torch

    from mobilekit.training.students.factorise import factorise

    ours, theirs = student.embeddings, teacher.embeddings
    with torch.no_grad():
        if ours.token_type is not None and theirs.token_type is None:
            ours.token_type.weight.zero_()
        if ours.projection is None:
            ours.load_state_dict(theirs.state_dict(), strict=False)
            return
        factors = factorise(theirs, student.config.embedding_size, counts)
        for name, table in factors.tables.items():
            getattr(ours, name).weight.copy_(table)
        ours.projection.weight.copy_(factors.projection)
        ours.projection.bias.copy_(factors.bias)


def _fill(teacher: Encoder, student: Encoder, text: str) -> None:
    """Each part of each layer: the mean of the teacher's layers for which it stands."""
    import torch

    from mobilekit.training.students.copying import choose_layers

    count = student.config.layers
    mean = text == "mean"
    layers = choose_layers("spaced" if mean else text, teacher.config.layers, count, "mean, ")
    assert layers is not None
    for part, owner_of in (("attention", student.config.attention_of), ("ffn", student.config.ffn_of)):
        for owner in sorted({owner_of(i) for i in range(count)}):
            members = [layers[i] for i in range(count) if owner_of(i) == owner]
            states: list[dict[str, Any]] = [getattr(teacher.layers[i], part).state_dict() for i in members]
            chosen = states if mean else states[:1]
            averaged = {name: torch.stack([s[name] for s in chosen]).mean(0) for name in states[0]}
            getattr(student.layers[owner], part).load_state_dict(averaged)


register(StudentKind("albert", "one set of weights for all layers, embeddings 128 wide", _make, OPTIONS, counts=True))
