"""Options that recipes and students declare, as options of the command line."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import Field, fields
from typing import Any

import click

from mobilekit.training.options import GENERAL, choices_of, may_read
from mobilekit.training.recipes.distilbert import GeneralOptions
from mobilekit.training.recipes.registry import Recipe, recipes
from mobilekit.training.students.registry import StudentOptions

Command = Callable[..., Any]
_TYPES: Mapping[str, type] = {"int": int, "float": float, "str": str}


def recipe_options(command: Command) -> Command:
    """Adds the options of all recipes; the command gets those that were given by name, as `options`."""
    return _with(command, "options", _found(recipes(), lambda kind, name: True))


def text_recipe_options(command: Command) -> Command:
    """The same for stages on plain text alone, whose length and rate are the command's own."""
    own = {each.name for each in fields(GeneralOptions)}

    def is_read(kind: type, name: str) -> bool:
        return name not in own and may_read(kind, name, GENERAL)

    learning = {name: recipe for name, recipe in recipes().items() if recipe.general is not None}
    return _with(command, "options", _found(learning, is_read))


def student_options(command: Command) -> Command:
    """Adds the options of students made from a teacher; the command gets `making`, a `StudentOptions`."""

    @functools.wraps(command)
    def wrapped(**values: Any) -> Any:
        return command(making=StudentOptions(**values.pop("making")), **values)

    return _with(wrapped, "making", {each.name: (each, "") for each in fields(StudentOptions)})


def _found(among: Mapping[str, Recipe], wanted: Callable[[type, str], bool]) -> dict[str, tuple[Field[Any], str]]:
    """Options by name, and what each is in which recipe."""
    found: dict[str, tuple[Field[Any], dict[str, Any]]] = {}
    for name, recipe in among.items():
        for each in (each for each in fields(recipe.options) if wanted(recipe.options, each.name)):
            found.setdefault(each.name, (each, {}))[1][name] = each.default
    return {name: (each, _usual(usual)) for name, (each, usual) in found.items()}


def _usual(usual: Mapping[str, Any]) -> str:
    """Recipes and what the option is there: one value where all agree."""
    values = {str(value) for value in usual.values()}
    if len(values) == 1:
        return f"{', '.join(usual)}: {values.pop()}" if values != {""} else ", ".join(usual)
    return ", ".join(f"{name}: {value}" for name, value in usual.items())


def _with(command: Command, argument: str, given: Mapping[str, tuple[Field[Any], str]]) -> Command:
    @functools.wraps(command)
    def wrapped(**values: Any) -> Any:
        own = {name: values.pop(name) for name in given}
        return command(**{argument: {n: v for n, v in own.items() if v is not None}}, **values)

    for name, (each, usual) in reversed(list(given.items())):
        about = each.metadata["about"] + (f"  [{usual}]" if usual else "")
        kind = _TYPES[str(each.type).removesuffix(" | None")]
        option = click.option(f"--{name.replace('_', '-')}", name, type=kind, help=about, metavar=_metavar(each))
        wrapped = option(wrapped)
    return wrapped


def _metavar(each: Field[Any]) -> str | None:
    return "|".join(choices_of(each)) or None
