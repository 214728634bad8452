"""Options of recipes and students: frozen dataclasses whose fields say what they are, for the command line too."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import Field, field, fields
from typing import Any

from mobilekit.errors import InputError, unknown

# Of which a recipe may have stages: plain text, and the task's labelled data.
GENERAL, TASK = "general", "task"
_LACKS = {GENERAL: "without plain text", TASK: "without labelled data"}


def option(
    default: Any,
    about: str,
    choices: Sequence[str] = (),
    least: float | None = None,
    most: float | None = None,
    *,
    part: str = "",
    where: Sequence[str] = (),
) -> Any:
    """A field of an options dataclass.

    about: one line of help. least, most: bounds of a number, both allowed. part: the one kind of stages that reads it,
    GENERAL or TASK. where: it changes nothing unless one of these other options is above 0 ("copies"), or is what is
    said ("match=logits"), and is read itself.
    """
    about_it = {"about": about, "choices": tuple(choices), "least": least, "most": most}
    return field(default=default, metadata={**about_it, "part": part, "where": tuple(where)})


def choices_of(each: Field[Any]) -> tuple[str, ...]:
    """What an option's value is one of; empty: anything of its type."""
    return tuple(each.metadata.get("choices", ()))


def check_options(options: Any) -> None:
    """Raise InputError when a value is none of its choices or outside its bounds; called as `__post_init__`."""
    for each in fields(options):
        value, about = getattr(options, each.name), each.metadata
        if value is None:
            continue
        if choices_of(each) and value not in choices_of(each):
            raise unknown(each.name.replace("_", "-"), str(value), choices_of(each))
        if isinstance(value, float) and not math.isfinite(value):
            raise InputError(f"{each.name.replace('_', '-')} is {value}; it has to be a number.")
        least, most = about.get("least"), about.get("most")
        if (least is not None and value < least) or (most is not None and value > most):
            bounds = f"at least {least:g}" if most is None else f"{least:g} to {most:g}"
            raise InputError(f"{each.name.replace('_', '-')} is {value}; it has to be {bounds}.")


def make_options(kind: type, given: Mapping[str, Any], owner: str, parts: Sequence[str] = (GENERAL, TASK)) -> Any:
    """Options of a dataclass from what was given by name, for stages of these parts.

    Raises InputError for names that it does not have, and for those that would change nothing.
    """
    known = {each.name for each in fields(kind)}
    for name in given:
        if name not in known:
            said = ", ".join(map(flag, sorted(known))) or "none"
            raise InputError(f"{owner} has no option {flag(name)}; it has: {said}.")
    made = kind(**given)
    for name in given:
        if reasons := _idle(made, name, parts):
            raise InputError(f"{owner}: {flag(name)} changes nothing {' and '.join(reasons)}; leave it out.")
    return made


def may_read(kind: type, name: str, part: str) -> bool:
    """Whether stages of this part may ever read an option of a dataclass, whatever the others are."""
    about = next(each.metadata for each in fields(kind) if each.name == name)
    others = [condition.partition("=")[0] for condition in about["where"]]
    return about["part"] in ("", part) and (not others or any(may_read(kind, other, part) for other in others))


def flag(name: str) -> str:
    """An option as the command line spells it."""
    return f"--{name.replace('_', '-')}"


def _idle(options: Any, name: str, parts: Sequence[str]) -> list[str]:
    """Why an option changes nothing; nothing where it does."""
    about = next(each.metadata for each in fields(options) if each.name == name)
    if about["part"] and about["part"] not in parts:
        return [_LACKS[about["part"]]]
    reasons: dict[str, None] = {}
    for condition in about["where"]:
        other, _, wanted = condition.partition("=")
        value = getattr(options, other)
        holds = str(value) == wanted if wanted else bool(value)
        more = _idle(options, other, parts) if holds else [f"with {flag(other)} {_plain(value)}"]
        if not more:
            return []
        reasons |= dict.fromkeys(more)
    return list(reasons)


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
