"""`mobilekit list`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mobilekit.cli.options import as_json, print_json, print_table
from mobilekit.errors import unknown

if TYPE_CHECKING:
    from export.registry import Target

_KINDS = ("models", "families", "tasks", "targets", "schemes", "recipes", "students", "peers")


@click.command()
@click.argument("kind", metavar="|".join(_KINDS))
@as_json
def command(kind: str, as_json: bool) -> None:
    """List built-in models, families, tasks of heads, targets, schemes, recipes, students, or peers of `bench`.

    \b
    Example:
      mobilekit list schemes
    """
    if kind not in _KINDS:
        raise unknown("list", kind, _KINDS)
    made = {"models": _models, "families": _families, "tasks": _tasks, "targets": _targets, "schemes": _schemes}
    made |= {"recipes": _recipes, "students": _students, "peers": _peers}
    rows = made[kind]()
    if as_json:
        print_json(rows)
        return
    print_table([column.replace("_", " ") for column in rows[0]], [list(row.values()) for row in rows], left=9)


def _models() -> list[dict[str, str]]:
    from mobilekit.models.builtin import builtins

    return [{"model": name, "about": found.about} for name, found in builtins().items()]


def _families() -> list[dict[str, str]]:
    from mobilekit.models.families.registry import families

    return [
        {"family": name, "classes": f"{family.class_name}..." if family.class_name else "mobilekit's own"}
        for name, family in families().items()
    ]


def _tasks() -> list[dict[str, str]]:
    from mobilekit.models.tasks import TASKS

    return [{"task": name, "class": f"...{task.suffix}", "about": task.about} for name, task in TASKS.items()]


def _recipes() -> list[dict[str, str]]:
    from mobilekit.training.recipes.registry import recipes

    return [{"recipe": name, "about": found.about, "source": found.source} for name, found in recipes().items()]


def _students() -> list[dict[str, str]]:
    from mobilekit.training.students.registry import students

    return [{"student": name, "about": found.about} for name, found in students().items()]


def _peers() -> list[dict[str, str]]:
    from benchmarks.peers.registry import peers

    return [{"peer": name, "tool": found.tool, "about": found.about} for name, found in peers().items()]


def _targets() -> list[dict[str, str]]:
    from export.registry import targets

    return [
        {"target": name, "file": found.suffix, "schemes": ", ".join(found.schemes), "extra": found.extra}
        for name, found in targets().items()
    ]


def _held(scheme: str, target: Target) -> str:
    if scheme in target.schemes:
        return "yes"
    return f"no: {target.refused[scheme]}" if scheme in target.refused else "no"


def _schemes() -> list[dict[str, str]]:
    from export.registry import targets
    from mobilekit.compression.schemes.registry import schemes

    return [
        {
            "scheme": name,
            "about": found.about,
            **{target: _held(name, about) for target, about in targets().items()},
            "minimum_ios": str(found.minimum_ios),
            "options_in_plans": ", ".join(f"{o} {allowed[0]} to {allowed[-1]}" for o, allowed in found.options.items()),
        }
        for name, found in schemes().items()
    ]
