"""One run a folder."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mobilekit.errors import InputError

if TYPE_CHECKING:
    from accelerate import Accelerator


@contextlib.contextmanager
def work_folder(folder: Path, accelerator: Accelerator, resume: bool, force: bool) -> Iterator[None]:
    """Hold a folder for this run, and empty it unless the run goes on (`resume`). Of many processes the first does.

    It is removed when the block ends well, and when it ends before there is anything to go on from. Raises InputError
    when another run holds it, when there is nothing to resume, or when an ended run could still go on from there
    (`force`: begin anew all the same).
    """
    if not accelerator.is_main_process:
        accelerator.wait_for_everyone()
        yield
        accelerator.wait_for_everyone()
        return
    if resume and not _has_checkpoint(folder):
        raise InputError(f"{folder}: no checkpoint to go on from; start without --resume.")
    with in_use(folder):
        if not resume:
            if _has_checkpoint(folder) and not force:
                raise InputError(f"{folder}: a run was ended there; --resume goes on with it, --force begins anew.")
            # Also where nothing can be gone on with: what a killed run kept there is of other data, maybe.
            _empty(folder)
        try:
            accelerator.wait_for_everyone()
            yield
            accelerator.wait_for_everyone()
        except BaseException:
            if not _has_checkpoint(folder):
                shutil.rmtree(folder, ignore_errors=True)
            raise
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Hold a folder for this run, or raise InputError when another run holds it; a killed one lets go by itself."""
    folder.mkdir(parents=True, exist_ok=True)
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(held)
        raise InputError(f"{folder}: another run is using it; wait for it, or choose another --out.") from error
    try:
        yield
    finally:
        os.close(held)


def _has_checkpoint(folder: Path) -> bool:
    return any(next(folder.glob(f"**/{name}"), None) is not None for name in ("checkpoint", "done.json"))


def _empty(folder: Path) -> None:
    for left in folder.iterdir():
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left)
        else:
            left.unlink()
