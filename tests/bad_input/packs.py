"""Packs: what is packed, what is unpacked, and where to."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

from packs.artifact import fake_artifact
from packs.building import Content, pack_of, raw
from packs.vectors import FOLDER

from bad_input.case import Case, Place, Spoil
from mobilekit.compression.pack.pack import pack as pack_artifact

PACK = "a.mkpack"


def artifact(place: Place) -> Path:
    """An artifact `a`."""
    fake_artifact(place.root / "a", 4000)
    return Path("a")


def packed(place: Place) -> Path:
    """A good pack, and nothing else."""
    pack_artifact(artifact(place), PACK)
    shutil.rmtree(place.root / "a")
    return place.root / PACK


def pack(change: Callable[[Path], object], *more: str) -> Spoil:
    """`pack` of an artifact that `change` has been at."""

    def spoil(place: Place) -> list[str]:
        artifact(place)
        change(place.root / "a")
        return ["pack", "a", *more]

    return spoil


def unpack(change: Callable[[bytes], bytes], *more: str) -> Spoil:
    """`unpack` of a pack with other bytes."""

    def spoil(place: Place) -> list[str]:
        file = packed(place)
        file.write_bytes(change(file.read_bytes()))
        return ["unpack", PACK, *more]

    return spoil


def there(change: Callable[[Path], object], *line: str) -> Spoil:
    """A command line where an artifact `a` and its pack are, and `change` has been at the folder of both."""

    def spoil(place: Place) -> list[str]:
        pack_artifact(artifact(place), PACK)
        change(place.root)
        return list(line)

    return spoil


def refused(name: str) -> Spoil:
    """`unpack` of one of the committed packs that have to be refused."""

    def spoil(place: Place) -> list[str]:
        shutil.copy(FOLDER / f"refused-{name}.mkpack", place.root / PACK)
        return ["unpack", PACK]

    return spoil


def _same(_: object) -> None:
    """Leave all as it is."""


def _flipped(at: int) -> Callable[[bytes], bytes]:
    """A bit at a place (from the end where that is negative) is another."""

    def change(data: bytes) -> bytes:
        place = at % len(data)
        return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]

    return change


def _full_disk(place: Place) -> list[str]:
    packed(place)

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    place.patch.setattr("mobilekit.compression.pack.pack.extract", fail)
    return ["unpack", PACK, "--out", "deep/o"]


def _full_disk_to_pack(place: Place) -> list[str]:
    artifact(place)

    def fail(files: object, out: Path, report: object) -> None:
        out.write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(out))

    place.patch.setattr("mobilekit.compression.pack.writer.write_pack", fail)
    return ["pack", "a", "--out", "deep/p.mkpack"]


def _little_room(place: Place) -> list[str]:
    packed(place)
    place.patch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1000))
    return ["unpack", PACK, "--out", "deep/o"]


def _foreign_content(place: Place) -> list[str]:
    (place.root / PACK).write_bytes(pack_of(Content("x", b"x", [[raw(b"x")]])).to_bytes())
    return ["unpack", PACK]


def _model_to_pack(place: Place) -> list[str]:
    return ["pack", str(place.model())]


def _odd_names(place: Place) -> list[str]:
    from packs.artifact import fake_package

    fake_package(place.root / "a", {"Weights/x": b"1", "weights/x": b"2"})
    return ["pack", "a"]


_AGAIN = "; download or copy it again"

CASES = (
    Case("pack of nothing", lambda _: ["pack"], "Missing argument 'ARTIFACT'"),
    Case("pack of a missing artifact", lambda _: ["pack", "missing"], "missing: no such artifact folder"),
    Case("pack of a model", _model_to_pack, "m: no manifest.json in it; an artifact is a folder that"),
    Case("pack of a model file", pack(_same, "x"), r"unexpected extra argument \(x\)"),
    Case(
        "pack of a file",
        there(_same, "pack", "a/model.tflite"),
        "a/model.tflite: is a file; give the artifact's folder, a",
    ),
    Case(
        "pack of an altered artifact",
        pack(lambda a: (a / "model.tflite").write_bytes(b"x")),
        "a/model.tflite: missing or altered since it was exported; export again",
    ),
    Case(
        "pack of an incomplete artifact",
        pack(lambda a: (a / "tokenizer.json").unlink()),
        "a/tokenizer.json: missing or altered since it was exported; export again",
    ),
    Case(
        "pack of a broken manifest",
        pack(lambda a: (a / "manifest.json").write_bytes(b"{")),
        "a/manifest.json: not readable as JSON",
    ),
    Case(
        "pack of names that clash",
        _odd_names,
        "a: cannot be packed: the names '.*Weights' and '.*weights/weight.bin' clash",
    ),
    Case("pack there already", there(_same, "pack", "a"), "a.mkpack: exists already; --force replaces it"),
    Case(
        "foreign file for a pack",
        pack(lambda a: (a.parent / "thesis").write_text("x"), "--out", "thesis", "--force"),
        "thesis: is not of the kind that mobilekit would write there, .*; remove it, or choose another output file",
    ),
    Case(
        "link for a pack",
        pack(lambda a: (a.parent / PACK).symlink_to("elsewhere"), "--force"),
        "a.mkpack: is a link; remove it, or choose another output file",
    ),
    Case(
        "folder for a pack",
        pack(lambda a: (a.parent / PACK).mkdir(), "--force"),
        "a.mkpack: is not a file; choose another output file",
    ),
    Case("pack into the artifact", pack(_same, "--out", "a/p.mkpack"), "a/p.mkpack: lies in the artifact itself; choo"),
    Case("pack without a name", pack(_same, "--out", ""), "--out: '' is no file's name"),
    Case("pack in /proc", pack(_same, "--out", "/proc/p.mkpack"), "/proc/p.mkpack: cannot be written"),
    Case("pack below a file", pack(_same, "--out", "a/model.tflite/p"), "lies in the artifact itself; choose another"),
    Case("disk full while packing", _full_disk_to_pack, "deep/p.mkpack: cannot be written: the disk is full"),
    # Unpacking.
    Case("unpack of nothing", lambda _: ["unpack"], "Missing argument 'PACK'"),
    Case("unpack of a missing file", lambda _: ["unpack", "x.mkpack"], "x.mkpack: not found; give a file that"),
    Case("unpack of a folder", there(_same, "unpack", "a"), "does not end in .mkpack, so the folder to write has no"),
    Case(
        "unpack of a folder with a name for it",
        there(_same, "unpack", "a", "--out", "b"),
        "a: is not a file; give a file that `mobilekit pack` wrote",
    ),
    Case(
        "unpack of a pipe",
        there(lambda root: os.mkfifo(root / "p.mkpack"), "unpack", "p.mkpack"),
        "p.mkpack: is not a file; give a file that `mobilekit pack` wrote",
    ),
    Case(
        "unpack of a foreign file",
        unpack(lambda _: b"PK\3\4 an archive of another kind" * 9),
        "a.mkpack: not a pack; give a file that `mobilekit pack` wrote",
    ),
    Case("unpack of an empty file", unpack(lambda _: b""), "a.mkpack: not a pack; give a file that"),
    Case("unpack of a pack cut in half", unpack(lambda data: data[: len(data) // 2]), f"a.mkpack: damaged: .*{_AGAIN}"),
    Case("unpack of a pack cut by a byte", unpack(lambda data: data[:-1]), f"instead of [0-9,]+{_AGAIN}"),
    Case("unpack of a header cut off", unpack(lambda data: data[:30]), f"it is cut off in its header{_AGAIN}"),
    Case("unpack of a pack with a tail", unpack(lambda data: data + b"\n"), f"a.mkpack: damaged: it has .*{_AGAIN}"),
    Case("unpack of an altered header", unpack(_flipped(40)), f"damaged: its header is altered{_AGAIN}"),
    Case("unpack of an altered directory", unpack(_flipped(90)), f"damaged: its directory is altered{_AGAIN}"),
    Case("unpack of altered data", unpack(_flipped(-20)), f"damaged: its data are altered before byte .*{_AGAIN}"),
    Case("unpack of a newer version", refused("newer"), "a pack of version 2; this mobilekit reads version 1: upgrade"),
    Case("unpack of another file's content", _foreign_content, "a.mkpack: has no manifest.json in it, so it is no pac"),
    Case("unpack out of the folder", refused("name-parent"), r"damaged: the name '\.\./x' is no path inside a folder"),
    Case("unpack to an absolute name", refused("name-absolute"), "damaged: the name '/x' is no path inside a folder"),
    Case("unpack of names that clash", refused("names-case"), "damaged: the names 'A' and 'a' clash"),
    Case(
        "unpack without a suffix",
        there(lambda root: (root / PACK).rename(root / "download"), "unpack", "download"),
        "download: does not end in .mkpack, so the folder to write has no name; give it with --out",
    ),
    Case("artifact to unpack there already", there(_same, "unpack", PACK), "a: exists already; --force replaces it"),
    Case(
        "foreign folder to unpack to",
        there(
            lambda root: (root / "own").mkdir() or (root / "own" / "x").touch(),
            "unpack",
            PACK,
            "--out",
            "own",
            "-q",
            "--force",
        ),
        "own: has no manifest.json, so mobilekit did not write it, and --force does not replace it",
    ),
    Case(
        "link to unpack to",
        there(lambda root: (root / "link").symlink_to("a"), "unpack", PACK, "--out", "link", "--force"),
        "link: is a link; remove it, or choose another output folder",
    ),
    Case("current folder to unpack to", there(_same, "unpack", PACK, "--out", ".", "--force"), "holds the pack itself"),
    Case("unpack to /proc", there(_same, "unpack", PACK, "--out", "/proc/x"), "/proc/x: cannot be written"),
    Case("disk full while unpacking", _full_disk, "deep/o: cannot be written: the disk is full"),
    Case("little room to unpack", _little_room, "deep/o: the disk has 0 MB free, this needs .*; make room or choose"),
)
