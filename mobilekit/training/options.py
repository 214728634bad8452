"""Options of recipes and students: frozen dataclasses whose fields say what they are, for the command line too."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import Field, field, fields
from typing import Any

from mobilekit.errors import InputError, unknown


def option(
    default: Any, about: str, choices: Sequence[str] = (), least: float | None = None, most: float | None = None
) -> Any:
    """A field of an options dataclass. about: one line of help. least, most: bounds of a number, both allowed."""
    return field(default=default, metadata={"about": about, "choices": tuple(choices), "least": least, "most": most})


def choices_of(each: Field[Any]) -> tuple[str, ...]:
    """What an option's value is one of; empty: anything of its type."""
    return tuple(each.metadata.get("choices", ()))


def check_options(options: Any) -> None:
    """Raise InputError when a value is none of its choices or outside its bounds; called as `__post_init__`."""
    for each in fields(options):
        value, about = getattr(options, each.name), each.metadata
        if choices_of(each) and value not in choices_of(each):
            raise unknown(each.name.replace("_", "-"), str(value), choices_of(each))
        if isinstance(value, float) and not math.isfinite(value):
            raise InputError(f"{each.name.replace('_', '-')} is {value}; it has to be a number.")
        least, most = about.get("least"), about.get("most")
        if (least is not None and value < least) or (most is not None and value > most):
            bounds = f"at least {least:g}" if most is None else f"{least:g} to {most:g}"
            raise InputError(f"{each.name.replace('_', '-')} is {value}; it has to be {bounds}.")


def make_options(kind: type, given: Mapping[str, Any], owner: str) -> Any:
    """Options of a dataclass from what was given by name; raises InputError for names that it does not have."""
    known = {each.name for each in fields(kind)}
    for name in given:
        if name not in known:
            said = ", ".join(f"--{n.replace('_', '-')}" for n in sorted(known)) or "none"
            raise InputError(f"{owner} has no option --{name.replace('_', '-')}; it has: {said}.")
    return kind(**given)
