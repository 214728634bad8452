"""Writing a folder beside its place and renaming it there, so that it is never half there, whatever happens."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from mobilekit.errors import InputError

_PARTIAL, _OLD = ".partial-", ".old-"
# Threads of one process write side by side too.
_numbers = itertools.count()


@contextlib.contextmanager
def staged(folder: Path, force: bool = False) -> Iterator[Path]:
    """A new folder beside `folder`; it takes the place of `folder` when the block ends well, else it is removed.

    Raises InputError when `folder` exists and `force` is false, or when the disk is full or not writable.
    """
    refuse_existing(folder, force)
    with disk_errors(folder, every=True):
        folder.parent.mkdir(parents=True, exist_ok=True)
        sweep(folder)
        beside = folder.with_name(f".{folder.name}{_PARTIAL}{next(_numbers)}-{os.getpid()}")
        beside.mkdir()
    try:
        with disk_errors(folder):
            yield beside
            _replace(beside, folder, force)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


@contextlib.contextmanager
def scratch(folder: Path, name: str) -> Iterator[Path]:
    """A folder for intermediate files inside `folder`, removed at the end; the next run removes a killed one's."""
    place = folder / name
    with disk_errors(place, every=True):
        folder.mkdir(parents=True, exist_ok=True)
        sweep(place)
        beside = folder / f".{name}{_PARTIAL}{next(_numbers)}-{os.getpid()}"
        beside.mkdir()
    try:
        with disk_errors(place):
            yield beside
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def require_space(folder: Path, needed: int) -> None:
    """Raise InputError when the disk of `folder` (which may not exist yet) has less than `needed` bytes free."""
    place = next(p for p in (folder, *folder.absolute().parents) if p.is_dir())
    free = shutil.disk_usage(place).free
    if free < needed:
        raise InputError(
            f"{folder}: the disk has {free / 1e6:.0f} MB free, this needs about {needed / 1e6:.0f} MB; make room or "
            "choose another --out."
        )


def refuse_existing(folder: Path, force: bool) -> None:
    """Raise InputError when `folder` is in the way: a file, or a folder without `force`."""
    if folder.is_file():
        raise InputError(f"{folder}: is a file; choose another output folder.")
    if folder.exists() and not force:
        raise InputError(f"{folder}: exists already; --force replaces it.")


def sweep(folder: Path) -> None:
    """Remove what killed runs have left beside `folder`, and put back what one had just moved away."""
    for kind in (_PARTIAL, _OLD):
        for left in folder.parent.glob(f".{folder.name}{kind}*"):
            owner = left.name.rsplit("-", 1)[-1]
            if owner.isdigit() and _alive(int(owner)):
                continue
            if kind == _OLD and not folder.exists():
                left.rename(folder)
            else:
                shutil.rmtree(left, ignore_errors=True)


def _replace(beside: Path, folder: Path, force: bool) -> None:
    if not folder.exists():
        beside.rename(folder)
        return
    refuse_existing(folder, force)
    old = folder.with_name(f".{folder.name}{_OLD}{next(_numbers)}-{os.getpid()}")
    folder.rename(old)
    beside.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@contextlib.contextmanager
def disk_errors(folder: Path, every: bool = False) -> Iterator[None]:
    """Turn what the disk refuses (full, read-only, no permission) into an InputError about `folder`.

    every: any other OSError too, where nothing but `folder` can be at fault.
    """
    try:
        yield
    except OSError as error:
        reasons = {
            errno.ENOSPC: "the disk is full",
            errno.EDQUOT: "the disk quota is used up",
            errno.EACCES: "no permission to write there",
            errno.EPERM: "no permission to write there",
            errno.EROFS: "the file system is read-only",
            errno.ENOTDIR: "a part of the path is a file",
            errno.EEXIST: "a part of the path is a file",
        }
        if error.errno not in reasons and not every:
            raise
        reason = reasons.get(error.errno or 0, error.strerror)
        raise InputError(f"{folder}: cannot be written: {reason}.") from error
