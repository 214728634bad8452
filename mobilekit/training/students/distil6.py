"""`distil6`: six of the teacher's layers. Of a BERT it is a DistilBERT (Sanh et al. 2019, section 3): no token types,
no pooler."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mobilekit.training.students.registry import StudentKind, StudentOptions, register

if TYPE_CHECKING:
    import torch

    from mobilekit.models.model import Model

LAYERS = 6


def _make(teacher: Model, options: StudentOptions, seed: int, counts: torch.Tensor | None = None) -> Model:
    """Row 0 of the token types is added to every position, which is what a single text always had. Other families than
    BERT keep their own layout, and an ALBERT its sharing."""
    import torch

    from mobilekit.models.families.bert import is_plain
    from mobilekit.training.students.copying import choose_layers, copy_head, copy_layers, student_of

    old = teacher.config
    count = options.depth or LAYERS
    layers = choose_layers(options.layers or "spaced", old.layers, count)
    fold = teacher.family in ("bert", "mobilekit") and is_plain(old) and not old.position_offset
    # Where layers do not fall into the teacher's groups, and where each is a group of its own, none are shared.
    apart = count % old.groups != 0 or old.groups == old.layers
    groups, sharing = (1, "none") if apart else (old.groups, old.sharing)
    config = replace(old, layers=count, groups=groups, sharing=sharing, token_types=0 if fold else old.token_types)
    student = student_of(teacher, config, "distilbert" if fold else teacher.family, f"distil{count}", seed)
    source, target = teacher.module.encoder, student.module.encoder
    if layers is None:
        return student
    tables = {name: value.clone() for name, value in source.embeddings.state_dict().items()}
    types = tables.pop("token_type.weight") if fold and old.token_types else None
    if types is not None:
        tables["position.weight"] += types[0]
    with torch.no_grad():
        target.embeddings.load_state_dict(tables)
    copy_layers(source, target, layers)
    copy_head(teacher, student)
    return student


register(StudentKind("distil6", "six of the teacher's layers; of a BERT, a DistilBERT", _make))
