"""What a student is, and the list of those there are."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mobilekit.training.options import check_options, option

if TYPE_CHECKING:
    import torch

    from mobilekit.models.model import Model

SHARINGS = ("none", "attention", "ffn", "all")


@dataclass(frozen=True)
class StudentOptions:
    """How a student is made. 0 and "": the student's, or the recipe's, own."""

    layers: str = option("", "The teacher's layers to begin with: spaced, first, last, mapped, none, or 0,2,4.")
    depth: int = option(0, "How many layers the student has, where its name does not say.", least=0)
    sharing: str = option("all", "What the layers of an albert share.", SHARINGS)
    groups: int = option(1, "Groups of layers that share, of an albert.", least=1)
    embedding_size: int = option(128, "Width of the embeddings of an albert, 0: the teacher's.", least=0)

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True)
class StudentKind:
    """A student by name.

    make: from a teacher, with its head where the layout has the same one. The seed draws what does not come from the
    teacher; counts ([vocabulary] or None) say how often each token occurs in the text that the student will read.
    """

    name: str
    about: str
    make: Callable[[Model, StudentOptions, int, torch.Tensor | None], Model]


_students: dict[str, StudentKind] = {}


def register(student: StudentKind) -> StudentKind:
    """Add a student to the registry."""
    _students[student.name] = student
    return student


@functools.cache
def students() -> Mapping[str, StudentKind]:
    """All students by name: every module of this package may register one."""
    import mobilekit.training.students as package

    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return dict(sorted(_students.items()))
