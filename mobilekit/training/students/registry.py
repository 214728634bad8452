"""What a student is, and the list of those there are."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mobilekit.registry import import_modules
from mobilekit.training.options import check_options, option

if TYPE_CHECKING:
    import torch

    from mobilekit.models.model import Model

SHARINGS = ("none", "attention", "ffn", "all")


@dataclass(frozen=True)
class StudentOptions:
    """How a student is made; None: not said, which is the student's, or the recipe's, own."""

    layers: str | None = option(
        None, "The teacher's layers to begin with: spaced, first, last, mapped, none, 0,2,4, or (albert) mean."
    )
    depth: int | None = option(None, "How many layers the student has, where its name does not say.", least=1)
    sharing: str | None = option(None, "What the layers of an albert share.  [all]", SHARINGS)
    groups: int | None = option(None, "Groups of layers that share, of an albert.  [1]", least=1)
    embedding_size: int | None = option(None, "Width of the embeddings of an albert, 0: the teacher's.  [128]", least=0)

    def __post_init__(self) -> None:
        check_options(self)

    def given(self) -> list[str]:
        """Names of the options that were said."""
        return [name for name, value in vars(self).items() if value is not None]


@dataclass(frozen=True)
class StudentKind:
    """A student by name.

    make: from a teacher, with its head where the layout has the same one. The seed draws what does not come from the
    teacher; counts ([vocabulary] or None) say how often each token occurs in the text that the student will read.
    options: names of the `StudentOptions` that it has. counts: whether it asks how often tokens occur.
    """

    name: str
    about: str
    make: Callable[[Model, StudentOptions, int, torch.Tensor | None], Model]
    options: tuple[str, ...] = ("layers", "depth")
    counts: bool = False


_students: dict[str, StudentKind] = {}


def register(student: StudentKind) -> StudentKind:
    """Add a student to the registry."""
    _students[student.name] = student
    return student


@functools.cache
def students() -> Mapping[str, StudentKind]:
    """All students by name: every module of this package may register one."""
    import mobilekit.training.students as package

    import_modules(package)
    return dict(sorted(_students.items()))
