"""Options that several verbs have, spelled once; and how progress and tables are shown."""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from mobilekit.errors import InputError, short

as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON for machines; nothing else on standard output."
)
scheme_option = click.option(
    "--scheme", default="int8", show_default=True, help="How weights are kept: see `list schemes`; or a plan.toml."
)
quiet = click.option("--quiet", "-q", is_flag=True, help="No progress.")


def is_first_process() -> bool:
    """Whether this process shows what came of a run of several."""
    from accelerate import PartialState

    return bool(PartialState().is_main_process)


class Lengths(click.ParamType):
    """`32,128`: numbers with commas between."""

    name = "lengths"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Raise InputError for anything but numbers."""
        if isinstance(value, tuple):
            return value
        parts = [part.strip() for part in str(value).split(",")]
        if not all(re.fullmatch(r"[+-]?[0-9]{1,100}", part) for part in parts):
            raise InputError(f"--lengths '{short(value)}': expected numbers with commas between, such as 32,128.")
        return tuple(int(part) for part in parts)


class Folder(click.ParamType):
    """A path, which may not exist; but something has to be given, and no path has a NUL."""

    name = "folder"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Raise InputError for an empty name, which would mean the current folder, and for a NUL inside."""
        text, what = str(value), "folder"
        if param is not None:
            what = param.opts[0] if isinstance(param, click.Option) else param.human_readable_name
        if not text.strip() or "\0" in text:
            raise InputError(f"{what}: {short(repr(text))} is no {self.name}'s name.")
        return Path(text)


class File(Folder):
    """The same of a file."""

    name = "file"


def print_json(content: Any) -> None:
    """One JSON document on standard output."""
    click.echo(json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False))


def print_table(columns: list[str], rows: list[list[str]], left: int = 1) -> None:
    """A table on standard output; the first `left` columns are text, the others are flush right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for i, column in enumerate(columns):
        # As text: a name may have brackets, which are markup otherwise.
        table.add_column(Text(column), justify="left" if i < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell, overflow="fold") for cell in row))
    # As wide as it comes: a terminal that is narrower wraps lines, and words stay whole.
    Console(width=200, soft_wrap=False).print(table, crop=False)


@contextlib.contextmanager
def progress_lines(shown: bool) -> Iterator[Callable[[str, str], None]]:
    """A function `report(task, text)`: a live line a task on a terminal, plain lines elsewhere, or nothing."""
    if not shown:
        yield lambda task, text: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _plain_lines()
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.fields[name]:<12}", markup=False),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        tasks: dict[str, Any] = {}

        def report(name: str, text: str) -> None:
            if name not in tasks:
                tasks[name] = progress.add_task(text, total=1, name=name)
            progress.update(
                tasks[name],
                description=text,
                completed=int(text.startswith(("written", "failed", "loaded", "compressed"))),
            )

        yield report


def megabytes_done(say: Callable[[str], None]) -> Callable[[int, int], None]:
    """A function `report(more, of)` that is told how many more bytes are done, and of how many, and says so."""
    done = 0

    def report(more: int, of: int) -> None:
        nonlocal done
        before, done = done, done + more
        if done // 10**6 > before // 10**6:
            say(f"step {done // 10**6} of {of // 10**6} MB")

    return report


_PAUSE = 15.0
_STEP = re.compile(r"(.*\bstep) \d+ of ")


def _plain_lines() -> Callable[[str, str], None]:
    started, lock = time.monotonic(), threading.Lock()
    said: dict[str, tuple[str, float]] = {}

    def report(name: str, text: str) -> None:
        # Of lines that only count on (plain text: step 1 of 9, step 2 of 9, ...) one in a while.
        counted, before = _STEP.match(text), said.get(name, ("", 0.0))
        kind = counted[1] if counted else ""
        if counted and kind == before[0] and time.monotonic() - before[1] < _PAUSE:
            return
        said[name] = (kind, time.monotonic())
        # Nobody may be reading any more, and the export is worth more than its progress.
        with lock, contextlib.suppress(BrokenPipeError):
            click.echo(f"{time.monotonic() - started:6.1f} s  {name:<12} {text}", err=True)

    return report
