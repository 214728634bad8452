"""One run a folder."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from mobilekit.errors import InputError


@contextlib.contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Hold a folder for this run, or raise InputError when another run holds it; a killed one lets go by itself."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(f"{folder}: another run is using it; wait for it, or choose another --out.") from error
        yield
