"""Writing a folder or file beside its place and renaming it there, so that it is never half there, whatever happens.

Whoever writes holds a lock on what it writes. A lock ends with its process, so that what nobody holds was left by a
killed run: numbers of processes say nothing, which are used again, and in containers are always the same.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import glob
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from mobilekit.errors import InputError, short

# As long as any number and process id that come behind.
_LONGEST_MARK = "0" * 16
_PARTIAL, _OLD = ".partial-", ".old-"


@contextlib.contextmanager
def staged(folder: Path, force: bool = False, mark: str = "") -> Iterator[Path]:
    """A new folder beside `folder`; it takes the place of `folder` when the block ends well, else it is removed.

    mark: a file that `folder` has to have for `force` to replace it, so that nobody's own folder is lost. Raises
    InputError when `folder` exists and may not be replaced, or when the disk is full or not writable.
    """
    refuse_existing(folder, force, mark)
    with _partial(folder) as beside:
        yield beside
        _replace(beside, folder, force, mark)


@contextlib.contextmanager
def staged_file(file: Path, force: bool = False, mark: bytes = b"") -> Iterator[Path]:
    """A place, alone in a folder beside `file`, for what takes the place of `file` when the block ends well.

    mark: what `file` has to begin with for `force` to replace it. Raises InputError as `staged` does.
    """
    refuse_existing_file(file, force, mark)
    with scratch(file.parent, file.name) as beside:
        yield beside / file.name
        refuse_existing_file(file, force, mark)
        (beside / file.name).replace(file)


@contextlib.contextmanager
def scratch(folder: Path, name: str) -> Iterator[Path]:
    """A folder for intermediate files inside `folder`, removed at the end; the next run removes a killed one's."""
    with _partial(folder / name) as beside:
        yield beside


@contextlib.contextmanager
def _partial(folder: Path) -> Iterator[Path]:
    """A new folder beside `folder`, held while the block lasts and removed at its end, if it is there still."""
    with _parents(folder):
        with disk_errors(folder, every=True):
            sweep(folder)
            beside, held = _new(folder)
        try:
            with disk_errors(folder):
                yield beside
        finally:
            shutil.rmtree(beside, ignore_errors=True)
            _let_go(held)


def _new(folder: Path) -> tuple[Path, int | None]:
    while True:
        beside = _beside(folder, _PARTIAL)
        beside.mkdir()
        try:
            held = _hold(beside)
        except OSError:
            # A file system without locks: there nothing is ever swept.
            return beside, None
        # Else another process swept it before it was held.
        if held is not None:
            return beside, held


def _beside(folder: Path, kind: str) -> Path:
    return folder.with_name(f".{folder.name}{kind}{secrets.token_hex(4)}")


def _hold(folder: Path) -> int | None:
    """Lock a folder; None where another process, or another thread of this one, holds it or has moved it away.

    Raises OSError where it cannot be locked.
    """
    held = None
    try:
        held = os.open(folder, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(held), folder.stat()):
            kept, held = held, None
            return kept
    except (FileNotFoundError, BlockingIOError):
        pass
    finally:
        _let_go(held)
    return None


def _let_go(held: int | None) -> None:
    if held is not None:
        os.close(held)


@contextlib.contextmanager
def _parents(folder: Path) -> Iterator[None]:
    """See that the folders above `folder` are there; those that had to be made and are empty at the end go again."""
    missing: list[Path] = []
    try:
        with disk_errors(folder, every=True):
            missing = [p for p in folder.parents if not p.exists()]
            folder.parent.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        for made in missing:
            with contextlib.suppress(OSError):
                made.rmdir()


def require_space(folder: Path, needed: int) -> None:
    """Raise InputError when the disk of `folder` (which may not exist yet) has less than `needed` bytes free."""
    place = next(p for p in (folder, *folder.absolute().parents) if p.is_dir())
    free = shutil.disk_usage(place).free
    if free < needed:
        raise InputError(
            f"{folder}: the disk has {free / 1e6:.0f} MB free, this needs about {needed / 1e6:.0f} MB; make room or "
            "choose another --out."
        )


def refuse_existing(folder: Path, force: bool, mark: str = "") -> None:
    """Raise InputError when `folder` is in the way: without `force` always, with it where `mark` is missing in it."""
    if folder.name in ("", ".."):
        raise InputError(f"'{folder}': the output needs a folder of its own name.")
    with disk_errors(folder, every=True):
        if folder.is_symlink():
            raise InputError(f"{folder}: is a link; remove it, or choose another output folder.")
        _refuse_long_name(folder)
        if not folder.exists():
            return
        if not folder.is_dir():
            raise InputError(f"{folder}: is a file; choose another output folder.")
        if not force:
            raise InputError(f"{folder}: exists already; --force replaces it.")
        if mark and not (folder / mark).is_file() and any(folder.iterdir()):
            raise InputError(
                f"{folder}: has no {mark}, so mobilekit did not write it, and --force does not replace it; remove it, "
                "or choose another output folder."
            )


def refuse_existing_file(file: Path, force: bool, mark: bytes = b"") -> None:
    """Raise InputError when `file` is in the way: always without `force`, else where it does not begin with `mark`."""
    if file.name in ("", ".."):
        raise InputError(f"'{file}': the output needs a file of its own name.")
    with disk_errors(file, every=True):
        if file.is_symlink():
            raise InputError(f"{file}: is a link; remove it, or choose another output file.")
        if not file.exists():
            return
        if not file.is_file():
            raise InputError(f"{file}: is not a file; choose another output file.")
        if not force:
            raise InputError(f"{file}: exists already; --force replaces it.")
        with file.open("rb") as opened:
            if opened.read(len(mark)) != mark:
                raise InputError(
                    f"{file}: is not of the kind that mobilekit would write there, and --force does not replace it; "
                    "remove it, or choose another output file."
                )


def _refuse_long_name(folder: Path) -> None:
    """Raise InputError where the longer name that a folder has while it is written would be too long: before any
    work."""
    place = next(p for p in folder.absolute().parents if p.is_dir())
    try:
        (place / f".{folder.name}{_PARTIAL}{_LONGEST_MARK}").lstat()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InputError(
                f"{short(folder)}: its name is too long: until all is there, the folder has a longer one; choose a "
                "shorter --out."
            ) from error


def refuse_unwritable(folder: Path) -> None:
    """Raise InputError when `folder`, which may not exist yet, cannot be made or written: before any work."""
    with disk_errors(folder, every=True):
        place = next(p for p in (folder, *folder.parents) if p.exists() or p.is_symlink())
        if not place.is_dir():
            raise InputError(f"{folder}: cannot be written: {place} is a file; choose another --out.")
        if not os.access(place, os.W_OK | os.X_OK):
            raise InputError(f"{folder}: cannot be written: no permission to write to {place}; choose another --out.")


def sweep(folder: Path) -> None:
    """Remove what killed runs have left beside `folder`, and put back what one had just moved away."""
    for kind in (_PARTIAL, _OLD):
        for left in folder.parent.glob(f".{glob.escape(folder.name)}{kind}*"):
            try:
                held = _hold(left)
            except OSError:
                # Who cannot be asked may be alive.
                continue
            if held is None:
                continue
            try:
                if kind == _OLD and not folder.exists():
                    left.rename(folder)
                else:
                    shutil.rmtree(left, ignore_errors=True)
            finally:
                _let_go(held)


def _replace(beside: Path, folder: Path, force: bool, mark: str) -> None:
    refuse_existing(folder, force, mark)
    if not folder.exists():
        beside.rename(folder)
        return
    old, held = _beside(folder, _OLD), None
    # So that nobody puts it back between the two.
    with contextlib.suppress(OSError):
        held = _hold(folder)
    try:
        folder.rename(old)
        beside.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        _let_go(held)


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
            errno.ENAMETOOLONG: "a name in the path is too long",
        }
        if error.errno not in reasons and not every:
            raise
        reason = reasons.get(error.errno or 0, error.strerror)
        raise InputError(f"{folder}: cannot be written: {reason}.") from error
