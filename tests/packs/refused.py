"""Packs that a reader has to refuse. All checksums are right but where that is what is wrong."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mobilekit.compression.pack.codings import DEFLATE, HUFFMAN, RAW, Encoded
from mobilekit.compression.pack.directory import PackedSegment, Stream, directory_bytes
from packs.building import Content, Pack, book, by_hand, coded, one, pack_of, raw, stored, weights

Make = Callable[[], bytes]
_GOOD = one(b"mobilekit", raw(b"mobilekit"))
_DATA = np.array([1, 2, 3, 3] * 50, np.uint8)
_ONE_SEGMENT = struct.pack("<IIB", 1, 9, 1)
_BOOK = book([1, 2, 3], [2, 2, 1])


def _named(*names: str) -> Make:
    return lambda: pack_of(*(Content(name, b"x", [[raw(b"x")]]) for name in names)).to_bytes()


def _bytes(at: int, data: bytes, pack: Pack = _GOOD) -> Make:
    """Bytes of the file are others."""

    def make() -> bytes:
        good = pack.to_bytes()
        at_ = at % len(good)
        return good[:at_] + data + good[at_ + len(data) :]

    return make


def _body(old: bytes, new: bytes, pack: Pack = _GOOD) -> Make:
    """The directory has other bytes somewhere."""

    def make() -> bytes:
        body = directory_bytes(pack.directory)
        assert body.count(old) == 1
        return pack.to_bytes(body.replace(old, new))

    return make


def _stream(stream: Stream, data: bytes = b"mobilekit") -> Make:
    """The one stream of the file is declared so."""
    (file,) = _GOOD.directory.files
    changed = replace(file, segments=(PackedSegment(file.size, (stream,)),))
    return lambda: Pack(replace(_GOOD.directory, files=(changed,)), data).to_bytes()


def _segment(length: int, planes: int) -> Make:
    return _body(struct.pack("<IB", 9, 1), struct.pack("<IB", length, planes))


def _coded(encoded: Encoded, data: np.ndarray = _DATA) -> Make:  # type: ignore[type-arg]
    return lambda: one(data.tobytes(), encoded).to_bytes()


def _lanes(change: Callable[[bytes], bytes]) -> Make:
    encoded = by_hand(_DATA, _BOOK)
    return _coded(replace(encoded, data=change(encoded.data)))


def _moved(data: bytes) -> bytes:
    """A byte of the first lane belongs to the second."""
    first, second = struct.unpack("<HH", data[:4])
    return struct.pack("<HH", first - 1, second + 1) + data[4:]


def _shorter(data: bytes) -> bytes:
    """The last lane has no bytes."""
    sizes = struct.unpack("<4H", data[:8])
    return struct.pack("<4H", *sizes[:3], 0) + data[8 : len(data) - sizes[3]]


def _longer_directory() -> bytes:
    return _GOOD.to_bytes(directory_bytes(_GOOD.directory) + b"\0")


def _book(values: list[int], lengths: list[int], width: int = 8) -> Make:
    encoded = by_hand(_DATA, _BOOK)
    return _coded(replace(encoded, book=book(values, lengths, width=width)))


def _escaping(escapes: int, inner: Encoded, width: int = 8) -> Make:
    encoded = by_hand(_DATA, book([2, 3], [2, 1, 2], escape=True, width=width), inner)
    return _coded(replace(encoded, escapes=escapes))


def _nested() -> bytes:
    inner = by_hand(np.ones(50, np.uint8), book([2], [1, 1], escape=True), raw(b"\1" * 50))
    return _escaping(50, inner)()


def _deflated(data: bytes) -> Make:
    return lambda: one(b"mobilekit" * 9, Encoded(DEFLATE, data)).to_bytes()


def _header(**changes: object) -> Make:
    return lambda: _GOOD.to_bytes(**changes)


def _version_2() -> bytes:
    good = bytearray(_GOOD.to_bytes())
    good[8] = 2
    good[64:68] = struct.pack("<I", zlib.crc32(good[:64]))
    return bytes(good)


def _other_sha256() -> bytes:
    (file,) = _GOOD.directory.files
    return Pack(replace(_GOOD.directory, files=(replace(file, sha256=bytes(32)),)), _GOOD.data).to_bytes()


def _patched_book(at: int, value: int) -> bytes:
    pack = coded(weights(200, 9))
    body = bytearray(directory_bytes(pack.directory))
    body[6 + at] = value
    return pack.to_bytes(bytes(body))


def _large_book() -> bytes:
    pack = coded(np.tile(np.arange(256), 2).astype(np.uint8))
    body = directory_bytes(pack.directory)
    # 256 values in pairs: 32,768 bytes of lengths.
    return pack.to_bytes(body[:7] + b"\2" + body[8:41] + b"\x88" * 20000)


def _large_escape() -> bytes:
    encoded = by_hand(
        np.array([2, 3, 3, 1] * 16, np.uint8), book([2, 3], [2, 1, 2], escape=True, width=6), raw(b"\x41" * 16)
    )
    return one(bytes(48), replace(encoded, escapes=16)).to_bytes()


# Name of the pack -> why it is refused, and its bytes.
REFUSED: dict[str, tuple[str, Make]] = {
    "empty": ("it has no byte", lambda: b""),
    "foreign": ("it does not begin as a pack does", lambda: b"PK\3\4" + bytes(80)),
    "text-mode": ("its line ends were converted", lambda: _GOOD.to_bytes().replace(b"\r\n", b"\n")),
    "newer": ("its version is 2", _version_2),
    "header-flipped": ("a bit of its header is another", _bytes(33, b"\xff")),
    "directory-flipped": ("a bit of its directory is another", _bytes(75, b"\xff")),
    "data-flipped": ("a bit of its data is another", _bytes(-1, b"T")),
    "cut": ("its last byte is missing", lambda: _GOOD.to_bytes()[:-1]),
    "longer": ("it has a byte more", lambda: _GOOD.to_bytes() + b"\0"),
    "lane-bits": ("its lanes have 2^13 symbols", _header(lane_bits=13)),
    "directory-size": ("its directory has another size than declared", _header(body=9)),
    "directory-cut": ("its directory ends too early", lambda: _GOOD.to_bytes(directory_bytes(_GOOD.directory)[:-1])),
    "directory-tail": ("its directory has a byte more", _longer_directory),
    "total-size": ("its files have another size in all", _header(size=10)),
    "total-sha256": ("its sha256 is another one", _header(sha256=bytes(32))),
    "file-sha256": ("a file has another sha256", _other_sha256),
    "no-files": ("it has no files", lambda: _GOOD.to_bytes(struct.pack("<HI", 0, 0), size=0)),
    "many-files": ("it declares 2^32 - 1 files", _body(struct.pack("<HI", 0, 1), struct.pack("<HI", 0, 2**32 - 1))),
    "many-books": ("it declares 65,535 books", _body(struct.pack("<HI", 0, 1), struct.pack("<HI", 65535, 1))),
    "many-segments": ("it declares 2^32 - 1 segments", _body(_ONE_SEGMENT, b"\xff" * 4 + _ONE_SEGMENT[4:])),
    "file-size": ("segments do not fill their file", _body(struct.pack("<Q", 9), struct.pack("<Q", 10))),
    "segment-size": ("a segment is longer than 4 MiB", _segment(2**22 + 1, 1)),
    "segment-empty": ("a segment has no byte", _segment(0, 1)),
    "planes-3": ("a segment has three planes", _segment(9, 3)),
    "planes-0": ("a segment has no plane", _segment(9, 0)),
    "planes-many": ("a segment has more planes than bytes", _segment(1, 2)),
    "coding": ("a stream has an unknown coding", _stream(Stream(3, 9, zlib.crc32(b"mobilekit")))),
    "raw-size": ("a raw stream has another size than its plane", _stream(Stream(RAW, 8, 0))),
    "coded-size": ("a stream is larger than what it decodes to", _stream(Stream(DEFLATE, 10, 0), bytes(10))),
    "no-book": ("a stream has a book that is not there", _stream(Stream(HUFFMAN, 9, 0, 0))),
    "deflate-short": ("a stream inflates to less", _deflated(stored(b"mobilekit" * 8))),
    "deflate-long": ("a stream inflates to more", _deflated(bytes.fromhex("cbcd4fcacc49cdce2cc9a512431100"))),
    "deflate-tail": ("a deflated stream has bytes behind its end", _deflated(stored(b"")[:5] + b"x")),
    "deflate-cut": ("a deflated stream has no end", _deflated(stored(b"mobilekit" * 8)[:40])),
    "deflate-broken": ("a deflated stream is none", _deflated(b"\xff" * 20)),
    "book-incomplete": ("a code is not complete", _book([1, 2, 3], [2, 2, 2])),
    "book-full": ("a code has more codes than there are", _book([1, 2, 3], [1, 1, 1])),
    "book-empty": ("a book has no values", _book([], [])),
    "book-width": ("a book has values of 7 bits", lambda: _patched_book(0, 7)),
    "book-group": ("a book has groups of 3", lambda: _patched_book(1, 3)),
    "book-escape": ("a book has an escape of 2", lambda: _patched_book(2, 2)),
    "book-large": ("a book has 65,536 symbols", _large_book),
    "lanes-cut": ("lanes are shorter than their table says", _lanes(lambda data: data[:-1])),
    "lanes-tail": ("a byte is behind the lanes", _lanes(lambda data: data + b"\0")),
    "lanes-table": ("the table of lanes is cut off", _lanes(lambda data: data[:3])),
    "lane-borders": ("a lane does not end where its symbols do", _lanes(_moved)),
    "lane-short": ("a lane has too few bits", _lanes(_shorter)),
    "escapes-few": ("fewer values escape than declared", _escaping(51, raw(b"\1" * 51))),
    "escapes-more": ("more values escape than declared", _escaping(49, raw(b"\1" * 49))),
    "escapes-many": ("more escapes are declared than there are values", _escaping(201, raw(b"\1" * 201))),
    "escape-large": ("an escape has more bits than values have", _large_escape),
    "escapes-nested": ("escapes have escapes", _nested),
    "name-empty": ("a name is empty", _named("")),
    "name-absolute": ("a name is absolute", _named("/x")),
    "name-parent": ("a name leaves the folder", _named("../x")),
    "name-inner-parent": ("a name leaves a folder", _named("a/../x")),
    "name-dot": ("a part of a name is a dot", _named("./x")),
    "name-slashes": ("a part of a name is empty", _named("a//x")),
    "name-folder": ("a name ends in a slash", _named("x/")),
    "name-drive": ("a name has a drive", _named("c:x")),
    "name-backslash": ("a name has a backslash", _named("..\\x")),
    "name-control": ("a name has a line break", _named("a\nx")),
    "name-nul": ("a name has a NUL", _named("a\0x")),
    "name-long": ("a part of a name has 256 bytes", _named("x" * 256)),
    "name-encoding": ("a name is not UTF-8", _body(b"\4\0file", b"\4\0fil\xff")),
    "names-twice": ("a name is there twice", _named("x", "x")),
    "names-order": ("names do not ascend", _named("b", "a")),
    "names-case": ("names differ by case only", _named("A", "a")),
    "names-folders": ("folders differ by case only", _named("A/x", "a/y")),
    "names-accents": ("names differ in how an accent is written", _named("e\u0301", "\u00e9")),
    "names-file-folder": ("a file is another one's folder", _named("a", "a/x")),
}
