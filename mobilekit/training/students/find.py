"""A student by name: made from a teacher, or loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from mobilekit.errors import InputError, unknown
from mobilekit.models import builtin
from mobilekit.models.load import load_backbone
from mobilekit.models.model import Model
from mobilekit.text.data.rows import TextRow
from mobilekit.training.options import flag
from mobilekit.training.students.registry import StudentOptions, students


def find_student(
    name: str,
    teacher: Model | None,
    options: StudentOptions,
    layers: str,
    seed: int,
    texts: Sequence[TextRow] = (),
) -> Model:
    """A student of `list students`, made from `teacher`; else a model by built-in name, folder or hub id.

    layers: the teacher's layers that it begins with, where `options` do not say. texts: what it will read.
    Raises InputError when there is no teacher to make it from, and for options that a loaded model cannot have.
    """
    known, said = students(), options.given()
    if name not in known:
        if said:
            raise InputError(
                f"{flag(said[0])} is for students that are made from a teacher ({', '.join(known)}); '{name}' is what "
                "it is."
            )
        if "/" not in name and name not in builtin.names() and not Path(name).exists():
            raise unknown("student", name, [*known, *builtin.names(), "a folder", "a hub id"])
        return load_backbone(name)
    kind = known[name]
    for option in said:
        if option not in kind.options:
            others = ", ".join(each for each, other in known.items() if option in other.options)
            raise InputError(f"student {name} has no option {flag(option)}, which is for {others}; leave it out.")
    if teacher is None:
        raise InputError(f"student '{name}' is made from a teacher; name it with --teacher.")
    chosen = replace(options, layers=layers) if name == "distil6" and options.layers is None and layers else options
    return kind.make(teacher, chosen, seed, _counts(teacher, texts) if kind.counts else None)


def _counts(teacher: Model, texts: Sequence[TextRow]) -> torch.Tensor | None:
    """How often each token occurs; tokens that never do count a little, so that they keep a meaning."""
    if not texts:
        return None
    counts = np.full(teacher.config.vocab_size, 0.1)
    for row in texts:
        np.add.at(counts, teacher.tokenizer.encode(teacher.prefix + row.text).ids, 1)
    return torch.from_numpy(counts)
