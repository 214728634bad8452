"""What a recipe is, and the list of those there are."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mobilekit.errors import unknown
from mobilekit.models.model import Model
from mobilekit.text.data.rows import Row
from mobilekit.training.loop import Objective
from mobilekit.training.settings import Settings


@dataclass(frozen=True)
class Lesson:
    """What a recipe works with.

    teachers: fine-tuned, with the labels of the data. rows: to learn from. folder: for what is computed once.
    temperature, soft, match: see `hinton`.
    """

    student: Model
    teachers: Sequence[Model]
    rows: Sequence[Row]
    settings: Settings
    folder: Path
    temperature: float = 2.0
    soft: float = 0.9
    match: str = "probabilities"


@dataclass(frozen=True)
class Recipe:
    """A recipe: `objective` is what the student is trained on. source: the paper."""

    name: str
    about: str
    source: str
    objective: Callable[[Lesson], Objective]


_recipes: dict[str, Recipe] = {}


def register(recipe: Recipe) -> Recipe:
    """Add a recipe to the registry."""
    _recipes[recipe.name] = recipe
    return recipe


@functools.cache
def recipes() -> Mapping[str, Recipe]:
    """All recipes by name: every module of this package may register one."""
    import mobilekit.training.recipes as package

    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return dict(sorted(_recipes.items()))


def recipe(name: str) -> Recipe:
    """The recipe called `name`; raises InputError with a did-you-mean."""
    known = recipes()
    if name not in known:
        raise unknown("recipe", name, known)
    return known[name]
