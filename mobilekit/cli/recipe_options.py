"""Options that recipes and students declare, as options of the command line."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import Field, fields
from typing import Any

import click

from mobilekit.training.options import choices_of
from mobilekit.training.recipes.registry import recipes
from mobilekit.training.students.registry import StudentOptions

Command = Callable[..., Any]
_TYPES: Mapping[str, type] = {"int": int, "float": float, "str": str}


def recipe_options(command: Command) -> Command:
    """Adds the options of all recipes; the command gets those that were given by name, as `options`."""
    found: dict[str, tuple[Field[Any], dict[str, Any]]] = {}
    for name, recipe in recipes().items():
        for each in fields(recipe.options):
            found.setdefault(each.name, (each, {}))[1][name] = each.default
    return _with(command, "options", {name: (each, _usual(usual)) for name, (each, usual) in found.items()})


def student_options(command: Command) -> Command:
    """Adds the options of students made from a teacher; the command gets `making`, a `StudentOptions`."""
    given = {each.name: (each, str(each.default) if each.default else "") for each in fields(StudentOptions)}

    @functools.wraps(command)
    def wrapped(**values: Any) -> Any:
        return command(making=StudentOptions(**values.pop("making")), **values)

    return _with(wrapped, "making", given)


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
        kind = _TYPES[str(each.type)]
        option = click.option(f"--{name.replace('_', '-')}", name, type=kind, help=about, metavar=_metavar(each))
        wrapped = option(wrapped)
    return wrapped


def _metavar(each: Field[Any]) -> str | None:
    return "|".join(choices_of(each)) or None
