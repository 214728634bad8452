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
from mobilekit.staging import sweep

if TYPE_CHECKING:
    from accelerate import Accelerator

# In every folder of a run, so that nothing else is ever emptied.
_MARK = ".mobilekit-run"


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
    _require_own(folder)
    if resume and not _has_checkpoint(folder):
        raise InputError(f"{folder}: no checkpoint to go on from; start without --resume.")
    with in_use(folder):
        if not resume:
            if _has_checkpoint(folder) and not force:
                raise InputError(f"{folder}: a run was ended there; --resume goes on with it, --force begins anew.")
            # Also where nothing can be gone on with: what a killed run kept there is of other data, maybe.
            _empty(folder)
            (folder / _MARK).touch()
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


def _require_own(folder: Path) -> None:
    """Raise InputError for a folder that is not a run's: what is in it is somebody's."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InputError(f"{folder}: is a link or a file, and runs keep their checkpoints there; remove it.")
    if folder.is_dir() and not (folder / _MARK).is_file() and any(folder.iterdir()):
        raise InputError(f"{folder}: is not of a run, which would keep its checkpoints there; remove it, or move it.")


def _has_checkpoint(folder: Path) -> bool:
    # Killed between two renames, a run has left the older one under another name.
    for left in list(folder.glob("**/.checkpoint.old-*")):
        sweep(left.parent / "checkpoint")
    return any(next(folder.glob(f"**/{name}"), None) is not None for name in ("checkpoint", "done.json"))


def _empty(folder: Path) -> None:
    for left in folder.iterdir():
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left)
        else:
            left.unlink()
