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
    known = students()
    if name not in known:
        changed = [n for n, value in vars(options).items() if value != getattr(StudentOptions(), n)]
        if changed:
            raise InputError(
                f"--{changed[0].replace('_', '-')} is for students that are made from a teacher "
                f"({', '.join(known)}); '{name}' is what it is."
            )
        if "/" not in name and name not in builtin.names() and not Path(name).exists():
            raise unknown("student", name, [*known, *builtin.names(), "a folder", "a hub id"])
        return load_backbone(name)
    if teacher is None:
        raise InputError(f"student '{name}' is made from a teacher; name it with --teacher.")
    chosen = options if options.layers else replace(options, layers=layers if name == "distil6" else "")
    return known[name].make(teacher, chosen, seed, _counts(teacher, texts))


def _counts(teacher: Model, texts: Sequence[TextRow]) -> torch.Tensor | None:
    """How often each token occurs; tokens that never do count a little, so that they keep a meaning."""
    if not texts:
        return None
    counts = np.full(teacher.config.vocab_size, 0.1)
    for row in texts:
        np.add.at(counts, teacher.tokenizer.encode(teacher.prefix + row.text).ids, 1)
    return torch.from_numpy(counts)
