"""One run a folder."""

from __future__ import annotations

import contextlib
import fcntl
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mobilekit.errors import InputError

if TYPE_CHECKING:
    from accelerate import Accelerator

_LOCK = ".lock"


@contextlib.contextmanager
def work_folder(folder: Path, accelerator: Accelerator, resume: bool, force: bool) -> Iterator[None]:
    """Hold a folder for this run, and empty it unless the run goes on (`resume`). Of many processes the first does.

    It is removed when the block ends well. Raises InputError when another run holds it, or when an ended one could
    still go on from there (`force`: begin anew all the same).
    """
    with in_use(folder) if accelerator.is_main_process else contextlib.nullcontext():
        if accelerator.is_main_process and not resume:
            if not force and next(folder.glob("**/checkpoint"), None) is not None:
                raise InputError(f"{folder}: a run was ended there; --resume goes on with it, --force begins anew.")
            _empty(folder)
        accelerator.wait_for_everyone()
        yield
        accelerator.wait_for_everyone()
        if accelerator.is_main_process:
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Hold a folder for this run, or raise InputError when another run holds it; a killed one lets go by itself."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(f"{folder}: another run is using it; wait for it, or choose another --out.") from error
        yield


def _empty(folder: Path) -> None:
    for left in folder.iterdir():
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left)
        elif left.name != _LOCK:
            left.unlink()
