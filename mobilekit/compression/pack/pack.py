"""`pack` and `unpack`: an artifact's folder as one small file, and back byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mobilekit.artifact import MANIFEST_FILE, Artifact, open_folder
from mobilekit.compression.pack.directory import MAGIC, Directory, TooLargeError
from mobilekit.compression.pack.names import first_fault
from mobilekit.compression.pack.reader import extract, opened
from mobilekit.errors import InputError
from mobilekit.reading import read_errors
from mobilekit.staging import refuse_existing, require_space, staged, staged_file

if TYPE_CHECKING:
    from mobilekit.compression.pack.writer import Packed

SUFFIX = ".mkpack"

Report = Callable[[int, int], None]


def _silent(more: int, of: int) -> None:
    """Report to nobody."""


def pack(
    artifact: Path | str, out: Path | str | None = None, force: bool = False, report: Report = _silent
) -> tuple[Path, Packed]:
    """Pack an artifact's folder into one file; returns where it is and what became of every part.

    out: the file; by default the folder's name with `.mkpack`, beside it. force: replace a pack that is there. report:
    is told how many more bytes are done, and of how many. Raises ArtifactError when the folder is no artifact or was
    altered since it was exported, InputError when `out` cannot be written.
    """
    from mobilekit.compression.pack.writer import write_pack

    found = open_folder(artifact)
    out = Path(out) if out is not None else _beside(found.folder)
    if out.absolute().is_relative_to(found.folder.absolute()):
        raise InputError(f"{out}: lies in the artifact itself; choose another --out.")
    found.refuse_altered()
    with read_errors(found.folder):
        files = sorted(_files(found), key=lambda named: named[0].encode())
        size = sum(path.stat().st_size for _, path in files)
    fault = first_fault(name for name, _ in files)
    if fault is not None:
        raise InputError(f"{found.folder}: cannot be packed: {fault}.")
    with staged_file(out, force, MAGIC) as place:
        # What is coded stands there twice for a moment.
        require_space(out, 2 * size)
        try:
            return out, write_pack(files, place, lambda more: report(more, size))
        except TooLargeError as error:
            raise InputError(f"{found.folder}: cannot be packed: {error}.") from error


def unpack(
    pack: Path | str, out: Path | str | None = None, force: bool = False, report: Report = _silent
) -> tuple[Path, Directory]:
    """Unpack what `pack` wrote into a folder; returns where it is and what was in the pack.

    out: the folder; by default the pack's name without `.mkpack`. force: replace an artifact that is there. report: is
    told how many more bytes are done, and of how many. Raises InputError when the pack is damaged or no pack, and when
    `out` cannot be written; nothing is left then.
    """
    pack = Path(pack)
    out = Path(out) if out is not None else _within(pack)
    with opened(pack) as (file, directory):
        if MANIFEST_FILE not in (entry.name for entry in directory.files):
            raise InputError(f"{pack}: has no {MANIFEST_FILE} in it, so it is no packed artifact.")
        if pack.resolve().is_relative_to(out.resolve()):
            raise InputError(f"{out}: holds the pack itself, which would be lost; choose another --out.")
        refuse_existing(out, force, MANIFEST_FILE)
        with staged(out, force, MANIFEST_FILE) as beside:
            require_space(out, directory.size)
            extract(file, directory, beside, lambda more: report(more, directory.size))
    return out, directory


def _files(artifact: Artifact) -> Iterator[tuple[str, Path]]:
    """Names in the folder, and paths, of all that the manifest speaks of, itself included."""
    for name in (artifact.manifest.content["file"], *artifact.manifest.content["files"], MANIFEST_FILE):
        path = artifact.folder / name
        if path.is_file():
            yield name, path
        else:
            yield from ((f"{name}/{p.relative_to(path).as_posix()}", p) for p in path.rglob("*") if p.is_file())


def _beside(folder: Path) -> Path:
    folder = folder if folder.name not in ("", "..") else folder.absolute().resolve()
    return folder.with_name(f"{folder.name}{SUFFIX}")


def _within(pack: Path) -> Path:
    if pack.suffix != SUFFIX or pack.stem in ("", SUFFIX):
        raise InputError(f"{pack}: does not end in {SUFFIX}, so the folder to write has no name; give it with --out.")
    return pack.with_name(pack.stem)
