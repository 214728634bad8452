"""What a recipe is, and the list of those there are.

Modules of this package are light, so that the command line can list their options at once: what they compute lies in
`mobilekit.training.objectives`, imported when a stage is made.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mobilekit.registry import import_modules, named
from mobilekit.text.data.rows import Row, TextRow, text_of

if TYPE_CHECKING:
    from mobilekit.models.model import Model
    from mobilekit.training.settings import Settings
    from mobilekit.training.stages import Stage

Report = Callable[[str], None]
_SOME = 100
GENERAL_TEACHER, PLAIN_TEXT = "general teacher", "plain text"


@dataclass(frozen=True)
class Lesson:
    """What a recipe works with.

    student: with the head of the data, trained in place. teachers: fine-tuned, with the labels of the data. rows: to
    learn from. general: a teacher that is not fine-tuned, for stages on plain text, or None. texts: that text. folder:
    for what is computed once. options: the recipe's own. held_out: plain text to judge a stage on plain text by.
    memory: what one stage hands on to the next.
    """

    student: Model
    teachers: Sequence[Model]
    rows: Sequence[Row]
    settings: Settings
    folder: Path
    options: Any
    general: Model | None = None
    texts: Sequence[TextRow] = ()
    held_out: Sequence[TextRow] = ()
    report: Report = lambda text: None
    memory: dict[str, Any] = field(default_factory=dict)

    def some_texts(self) -> list[str]:
        """Some of the texts that it learns from, plain ones and the rows'."""
        return [text_of(row) for row in (*self.texts[:_SOME], *self.rows[:_SOME])]


@dataclass(frozen=True)
class Recipe:
    """A recipe. source: the paper. options: its dataclass. student: the usual one's name. layers: which of the
    teacher's layers that begins with (see `choose_layers` in `mobilekit.training.students.copying`).

    check: raises InputError for a lesson that cannot be given, before anything is computed. general: stages on plain
    text, which need no labels (None: it has none). task: stages on the labelled data; the last one's best epoch is the
    result. needs: what its options ask for beside teachers and data, of GENERAL_TEACHER and PLAIN_TEXT. chooses:
    whether held-out plain text chooses the best epoch of its stage on plain text.
    """

    name: str
    about: str
    source: str
    options: type
    check: Callable[[Lesson], None]
    task: Callable[[Lesson], Sequence[Stage]]
    general: Callable[[Lesson], Sequence[Stage]] | None = None
    student: str = "distil6"
    layers: str = "spaced"
    needs: Callable[[Any], frozenset[str]] = lambda options: frozenset()
    chooses: bool = False


_recipes: dict[str, Recipe] = {}


def register(recipe: Recipe) -> Recipe:
    """Add a recipe to the registry."""
    _recipes[recipe.name] = recipe
    return recipe


@functools.cache
def recipes() -> Mapping[str, Recipe]:
    """All recipes by name: every module of this package may register one."""
    import mobilekit.training.recipes as package

    import_modules(package)
    return dict(sorted(_recipes.items()))


def recipe(name: str) -> Recipe:
    """The recipe called `name`; raises InputError with a did-you-mean."""
    return named("recipe", name, recipes())
