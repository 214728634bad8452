"""One run a folder: who holds it, what run it is of, where the run's output goes, and what it may replace there."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mobilekit.errors import InputError
from mobilekit.models.checkpoint import CONFIG_FILE
from mobilekit.staging import disk_errors, refuse_existing, sweep
from mobilekit.training.identity import Identity

if TYPE_CHECKING:
    from accelerate import Accelerator

# In every folder of a run, so that nothing else is ever emptied; it says what run that is. Whatever else lies there is
# of this run and no other, so that what was computed for it once can be taken as it is.
_MARK, _FORMAT = ".mobilekit-run", "mobilekit-run-1"
# A file, since file systems that several machines share lock no folders.
_LOCK = ".mobilekit-lock"


@dataclass(frozen=True)
class Place:
    """Where a run writes. resume: whether it goes on with one that was ended. force: whether one that was ended may be
    thrown away. replaces: whether `out` may be replaced."""

    out: Path
    resume: bool
    force: bool
    replaces: bool

    @property
    def work(self) -> Path:
        """Where checkpoints are until the run is done."""
        return _work(self.out)


def claim(out: Path, resume: bool, force: bool) -> Place:
    """The place of a run; a run that goes on may replace what it was begun with --force to replace.

    Raises InputError when `out` is in the way.
    """
    begun = resume and bool(_read_mark(_work(out)).get("replaces"))
    if resume and not begun and out.exists() and _work(out).is_dir():
        raise InputError(
            f"{out}: exists already, and the run that would go on was begun without --force; move it away, or begin "
            "anew with --force."
        )
    refuse_existing(out, force or begun, CONFIG_FILE)
    return Place(out, resume, force, force or begun)


@contextlib.contextmanager
def work_folder(place: Place, accelerator: Accelerator, identity: Identity) -> Iterator[None]:
    """Hold a run's folder, and empty it unless the run goes on. Of many processes the first does.

    It is removed when the block ends well, and when it ends before there is anything to go on from. Raises InputError
    when another run holds it, when there is nothing to resume, when the run that would go on is not the one of
    `identity`, or when an ended run could still go on from there (`place.force`: begin anew all the same).
    """
    if not accelerator.is_main_process:
        accelerator.wait_for_everyone()
        yield
        accelerator.wait_for_everyone()
        return
    folder = place.work
    _require_own(folder)
    if place.resume and not _has_checkpoint(folder):
        raise InputError(f"{folder}: no checkpoint to go on from; start without --resume.")
    with in_use(folder):
        if not place.resume and not place.force and _has_checkpoint(folder):
            raise InputError(f"{folder}: a run was ended there; --resume goes on with it, --force begins anew.")
        if place.resume:
            _require_same(place, identity)
        try:
            if not place.resume:
                _begin(place, identity)
            accelerator.wait_for_everyone()
            yield
            accelerator.wait_for_everyone()
        except BaseException:
            if not _has_checkpoint(folder):
                _remove(folder)
            raise
        _remove(folder)


def _begin(place: Place, identity: Identity) -> None:
    """Empty the folder, also of what cannot be gone on with: it may be of other data. Then mark it."""
    with disk_errors(place.work):
        _empty(place.work)
        content = {"format": _FORMAT, "replaces": place.replaces, "run": identity.to_dict()}
        (place.work / _MARK).write_text(json.dumps(content, indent=1, sort_keys=True), encoding="utf-8")


def _require_same(place: Place, identity: Identity) -> None:
    """Raise InputError when the run that was ended is another one, saying what changed."""
    anew = "or begin anew with --force"
    content = _read_mark(place.work)
    try:
        parts, asked = identity.changes(content["run"])
        known = content["format"] == _FORMAT
    except (LookupError, TypeError, AttributeError):
        known = False
    if not known:
        raise InputError(f"{place.work}: was begun by another version of mobilekit; go on with that, {anew}.")
    if parts:
        changes = "; ".join([*parts, *asked][:5])
        raise InputError(f"{place.work}: the run was begun with something else: {changes}; give it the same, {anew}.")
    if asked:
        raise InputError(
            f"{place.work}: the run was begun with other settings ({'; '.join(asked[:5])}); use those, {anew}."
        )


def _work(out: Path) -> Path:
    return out.parent / f"{out.name}.training"


def _read_mark(folder: Path) -> dict[str, Any]:
    """What a run's folder says; nothing where it has no mark, or another version's."""
    try:
        content = json.loads((folder / _MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


@contextlib.contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Hold a folder for this run, or raise InputError when another run holds it; a killed one lets go by itself."""
    held = _lock(folder)
    try:
        yield
    finally:
        (folder / _LOCK).unlink(missing_ok=True)
        os.close(held)


def _lock(folder: Path) -> int:
    while True:
        with disk_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            held = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(held), (folder / _LOCK).stat()):
                return held
        except FileNotFoundError:
            # Whoever held it has just removed it: another try.
            pass
        except BlockingIOError as error:
            os.close(held)
            raise InputError(f"{folder}: another run is using it; wait for it, or choose another --out.") from error
        except OSError as error:
            os.close(held)
            reason = f"cannot be locked: {error.strerror}"
            raise InputError(f"{folder}: {reason}; choose an --out on another disk.") from error
        os.close(held)


def _require_own(folder: Path) -> None:
    """Raise InputError for a folder that is not a run's: what is in it is somebody's."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InputError(f"{folder}: is a link or a file, and runs keep their checkpoints there; remove it.")
    if folder.is_dir() and not (folder / _MARK).is_file() and any(left.name != _LOCK for left in folder.iterdir()):
        raise InputError(f"{folder}: is not of a run, which would keep its checkpoints there; remove it, or move it.")


def _has_checkpoint(folder: Path) -> bool:
    # Killed between two renames, a run has left the older one under another name.
    for left in list(folder.glob("**/.checkpoint.old-*")):
        sweep(left.parent / "checkpoint")
    return any(next(folder.glob(f"**/{name}"), None) is not None for name in ("checkpoint", "done.json"))


def _empty(folder: Path) -> None:
    """Remove everything but the mark and the lock: a folder that is half empty is a run's still."""
    for left in folder.iterdir():
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left)
        elif left.name not in (_MARK, _LOCK):
            left.unlink()


def _remove(folder: Path) -> None:
    with contextlib.suppress(OSError):
        _empty(folder)
        for name in (_MARK, _LOCK):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
