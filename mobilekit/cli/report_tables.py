"""How tables of reports are shown on the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from mobilekit.cli.options import print_table

if TYPE_CHECKING:
    from benchmarks.reports.tables import Table


def show_tables(tables: Iterable[Table]) -> None:
    """Each table under its title, and its remarks."""
    from benchmarks.reports.texts import plain

    for table in tables:
        click.echo(plain(table.title))
        print_table(*table.terminal())
        for remark in table.said():
            click.echo(remark)
        click.echo()
