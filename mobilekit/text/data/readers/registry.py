"""What a reader is, and the list of those there are."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mobilekit.errors import InputError
from mobilekit.registry import import_modules
from mobilekit.text.data.request import Request
from mobilekit.text.data.rows import TextData


@dataclass(frozen=True)
class Reader:
    """How files with one of the `suffixes` are read.

    about: one line for lists. task: where two readers share a suffix, the one of the task that was asked for is taken,
    and else the one without a task. columns: whether columns have names, by which a request asks for them.
    """

    name: str
    about: str
    suffixes: tuple[str, ...]
    read: Callable[[Path, Request], TextData]
    task: str | None = None
    columns: bool = True


_readers: dict[str, Reader] = {}


def register(reader: Reader) -> Reader:
    """Add a reader to the registry."""
    _readers[reader.name] = reader
    return reader


@functools.cache
def readers() -> Sequence[Reader]:
    """All readers by name: every module of this package may register one."""
    import mobilekit.text.data.readers as package

    import_modules(package)
    return tuple(_readers[name] for name in sorted(_readers))


def reader_for(path: Path, task: str | None) -> Reader:
    """The reader of this file; raises InputError for a suffix that none has."""
    suffix = path.suffix.lower()
    found = [reader for reader in readers() if suffix in reader.suffixes]
    if not found:
        known = sorted({suffix for reader in readers() for suffix in reader.suffixes})
        raise InputError(
            f"{path}: the kind of file is told by its suffix, one of {', '.join(known)}; rename or convert it."
        )
    return next((reader for reader in found if task is not None and reader.task == task), found[-1])
