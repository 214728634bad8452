"""`mobilekit list`."""

from __future__ import annotations

import click

from mobilekit.cli.options import as_json, print_json, print_table
from mobilekit.errors import unknown

_KINDS = ("models", "targets", "schemes")


@click.command()
@click.argument("kind", metavar="models|targets|schemes")
@as_json
def command(kind: str, as_json: bool) -> None:
    """List models, targets or schemes.

    \b
    Example:
      mobilekit list schemes
    """
    if kind not in _KINDS:
        raise unknown("list", kind, _KINDS)
    rows = {"models": _models, "targets": _targets, "schemes": _schemes}[kind]()
    if as_json:
        print_json(rows)
        return
    print_table([column.replace("_", " ") for column in rows[0]], [list(row.values()) for row in rows], left=9)


def _models() -> list[dict[str, str]]:
    from mobilekit.models.builtin import builtins

    return [{"model": name, "about": found.about} for name, found in builtins().items()]


def _targets() -> list[dict[str, str]]:
    from export.registry import targets

    return [
        {"target": name, "file": found.suffix, "schemes": ", ".join(found.schemes), "extra": found.extra}
        for name, found in targets().items()
    ]


def _schemes() -> list[dict[str, str]]:
    from export.registry import targets
    from mobilekit.compression.schemes.registry import schemes

    return [
        {
            "scheme": name,
            "about": found.about,
            **{target: "yes" if name in about.schemes else "no" for target, about in targets().items()},
            "minimum_ios": str(found.minimum_ios),
        }
        for name, found in schemes().items()
    ]
