"""The committed packs: written anew alike, unpacked by ours and by the document's decoder, and refused by both."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest
from packs import plain
from packs.good import GOOD
from packs.refused import REFUSED
from packs.vectors import FOLDER, vectors

from mobilekit.compression.pack.codings import HUFFMAN
from mobilekit.compression.pack.directory import Directory, Stream
from mobilekit.compression.pack.reader import extract, opened
from mobilekit.errors import InputError

DOCUMENT = Path(__file__).parents[3] / "docs" / "pack-format.md"


def unpacked(pack: Path, folder: Path) -> dict[str, bytes]:
    with opened(pack) as (file, directory):
        extract(file, directory, folder)
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def directory_of(name: str) -> Directory:
    with opened(FOLDER / f"{name}.mkpack") as (_, directory):
        return directory


def test_vectors_are_what_the_script_writes() -> None:
    made = vectors()
    assert {p.name for p in FOLDER.iterdir()} == set(made)
    for name, data in made.items():
        assert (FOLDER / name).read_bytes() == data, name


@pytest.mark.parametrize("name", GOOD)
def test_both_decoders_give_the_same_files(name: str, tmp_path: Path) -> None:
    pack = FOLDER / f"{name}.mkpack"
    files = unpacked(pack, tmp_path)
    assert files == plain.unpack(pack.read_bytes())
    (entry,) = (e for e in json.loads((FOLDER / "vectors.json").read_text("utf-8"))["packs"] if e["pack"] == pack.name)
    assert {file["name"]: file["sha256"] for file in entry["files"]} == {
        file: hashlib.sha256(data).hexdigest() for file, data in files.items()
    }
    assert all(file["hex"] is None or bytes.fromhex(file["hex"]) == files[file["name"]] for file in entry["files"])


@pytest.mark.parametrize("name", REFUSED)
def test_both_decoders_refuse(name: str, tmp_path: Path) -> None:
    pack = FOLDER / f"refused-{name}.mkpack"
    with pytest.raises(plain.RefusedError):
        plain.unpack(pack.read_bytes())
    with pytest.raises(InputError, match=re.escape(f"{pack}: ")) as caught:
        unpacked(pack, tmp_path)
    assert "\n" not in str(caught.value)


def test_every_case_of_the_format_is_there() -> None:
    streams = [stream for name in GOOD for stream in directory_of(name).streams()]
    books = [book for name in GOOD for book in directory_of(name).books]
    assert {stream.coding for stream in streams} == {0, 1, 2}
    assert {(book.width, book.group) for book in books} >= {(8, 1), (8, 2), (8, 4), (8, 8), (6, 1)}
    assert {book.escape for book in books} == {False, True}
    assert {1, 256} <= {book.values.size for book in books} and max(int(book.lengths.max()) for book in books) == 15
    inner = {s.escaped.coding for s in streams if s.escaped is not None}
    assert {0, HUFFMAN} <= inner
    assert {len(s.streams) for name in GOOD for f in directory_of(name).files for s in f.segments} == {1, 2, 4}
    shared = [s.book for s in directory_of("folder").streams() if s.coding == HUFFMAN]
    assert len(shared) > len(set(shared))


def test_example_in_the_document_is_the_vector() -> None:
    text = DOCUMENT.read_text("utf-8")
    example = text.split("<!-- example -->")[1].split("<!-- end -->")[0]
    found = "".join(re.findall(r"^\| \d+ \| `([0-9A-F ]+)` \|", example, flags=re.MULTILINE)).replace(" ", "")
    assert bytes.fromhex(found) == (FOLDER / "raw.mkpack").read_bytes()


def test_limits_of_the_document_are_the_codes() -> None:
    text = DOCUMENT.read_text("utf-8")
    from mobilekit.compression.pack import book, directory, segments

    numbers = (
        directory.LARGEST_DIRECTORY,
        directory.LARGEST_SEGMENT,
        directory.MOST_BOOKS,
        directory.MOST_FILES,
        directory.MOST_SEGMENTS,
        book.MOST_SYMBOLS,
        segments.WINDOW,
        segments.BLOCK,
    )
    for number in numbers:
        assert f"{number:,}" in text


def test_a_stream_of_escapes_counts_as_a_stream() -> None:
    assert isinstance(next(s for s in directory_of("escapes-raw").streams() if s.escaped is not None).escaped, Stream)
