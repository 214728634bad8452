"""A decoder of packs written from docs/pack-format.md alone: plain Python, nothing of mobilekit, slow and strict."""

from __future__ import annotations

import hashlib
import unicodedata
import zlib
from collections.abc import Iterator
from dataclasses import dataclass


class RefusedError(Exception):
    """A pack is damaged, or declares what it may not."""


def require(condition: bool, what: str) -> None:
    if not condition:
        raise RefusedError(what)


class Bytes:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        require(self.at + size <= len(self.data), "cut off")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")


@dataclass
class Book:
    width: int
    group: int
    escape: int
    values: list[int]
    lengths: list[int]

    @property
    def radix(self) -> int:
        return len(self.values) + self.escape


@dataclass
class Stream:
    length: int
    coding: int
    size: int
    crc: int
    book: Book | None = None
    escapes: Stream | None = None


@dataclass
class File:
    name: str
    size: int
    sha256: bytes
    segments: list[tuple[int, list[Stream]]]


def unpack(pack: bytes) -> dict[str, bytes]:
    """Names and bytes of the files in a pack; raises RefusedError."""
    lane, coded, body, total, sha256 = read_header(pack)
    directory = Bytes(inflate(coded, body))
    books, number = directory.number(2), directory.number(4)
    require(books <= 16384 and 1 <= number <= 4096, "too many books or files")
    found = [read_book(directory) for _ in range(books)]
    files = [read_file(directory, found) for _ in range(number)]
    require(directory.at == len(directory.data), "bytes behind the directory")
    check_names([file.name for file in files])
    require(sum(len(file.segments) for file in files) <= 65536, "too many segments")
    require(sum(file.size for file in files) == total, "files do not add up")
    lines = "".join(f"{file.sha256.hex()}  {file.name}\n" for file in files)
    require(hashlib.sha256(lines.encode()).digest() == sha256, "another sha256")
    data = Bytes(pack[68 + len(coded) :])
    unpacked = {file.name: read_data(file, data, lane) for file in files}
    require(data.at == len(data.data), "bytes behind the data")
    return unpacked


def read_header(pack: bytes) -> tuple[int, bytes, int, int, bytes]:
    head = Bytes(pack)
    require(head.take(8) == bytes.fromhex("894d4b500d0a1a0a"), "no pack")
    version, lane, zero = head.number(2), head.number(1), head.number(1)
    body, size, crc, total, sha256 = head.number(4), head.number(4), head.number(4), head.number(8), head.take(32)
    require(zlib.crc32(pack[:64]) == head.number(4), "header altered")
    require(version == 1 and 6 <= lane <= 12 and zero == 0 and body <= 16777216, "header beyond the limits")
    coded = head.take(size)
    require(zlib.crc32(coded) == crc, "directory altered")
    return 1 << lane, coded, body, total, sha256


def read_book(directory: Bytes) -> Book:
    width, group, escape = (directory.number(1) for _ in range(3))
    require(width in (6, 8) and group in (1, 2, 4, 8) and escape < 2, "unknown book")
    bitmap = directory.number((1 << width) // 8)
    values = [value for value in range(1 << width) if bitmap >> value & 1]
    symbols = (len(values) + escape) ** group
    require(len(values) > 0 and symbols <= 4096, "too many symbols")
    lengths = [0]
    if symbols > 1:
        halves = [half for byte in directory.take(-(-symbols // 2)) for half in (byte & 15, byte >> 4)]
        lengths = halves[:symbols]
        require(sum(2**-length for length in lengths if length) == 1, "incomplete code")
    return Book(width, group, escape, values, lengths)


def read_file(directory: Bytes, books: list[Book]) -> File:
    name = directory.take(directory.number(2))
    try:
        text = name.decode()
    except UnicodeDecodeError as error:
        raise RefusedError("a name is not UTF-8") from error
    size, sha256, number = directory.number(8), directory.take(32), directory.number(4)
    segments = []
    for _ in range(number):
        length, planes = directory.number(4), directory.number(1)
        require(planes in (1, 2, 4) and planes <= length <= 4194304, "segment beyond the limits")
        sizes = [-(-(length - k) // planes) for k in range(planes)]
        segments.append((length, [read_stream(directory, books, n) for n in sizes]))
    require(sum(length for length, _ in segments) == size, "segments do not add up")
    return File(text, size, sha256, segments)


def read_stream(directory: Bytes, books: list[Book], length: int, inner: bool = False) -> Stream:
    coding, size, crc = directory.number(1), directory.number(4), directory.number(4)
    require(coding <= 2 and size <= length and (coding > 0 or size == length), "stream beyond the limits")
    stream = Stream(length, coding, size, crc)
    if coding == 2:
        number = directory.number(2)
        require(number < len(books), "no such book")
        stream.book = books[number]
        if stream.book.escape:
            require(not inner, "escapes of escapes")
            escapes = directory.number(4)
            require(escapes <= -(-8 * length // stream.book.width), "too many escapes")
            stream.escapes = read_stream(directory, books, escapes, inner=True)
    return stream


def check_names(names: list[str]) -> None:
    seen: dict[str, str] = {}
    files: set[str] = set()
    for name in names:
        parts = name.split("/")
        require(not any(part in ("", ".", "..") for part in parts), "name leaves the folder")
        control = [c for c in name if ord(c) < 0x20 or 0x7F <= ord(c) <= 0x9F or c in "\u2028\u2029"]
        require("\\" not in name and ":" not in name and not control, "name with an odd character")
        require(len(name.encode()) <= 1024 and all(len(part.encode()) <= 255 for part in parts), "name too long")
        for i in range(len(parts)):
            path = "/".join(parts[: i + 1])
            folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
            require(seen.setdefault(folded, path) == path and folded not in files, "names clash")
        files.add(folded)
    order = [name.encode() for name in names]
    require(order == sorted(set(order)), "names do not ascend")


def read_data(file: File, data: Bytes, lane: int) -> bytes:
    content = bytearray()
    for length, streams in file.segments:
        segment = bytearray(length)
        for k, stream in enumerate(streams):
            segment[k :: len(streams)] = read_plane(stream, data, lane)
        content += segment
    require(hashlib.sha256(content).digest() == file.sha256, "file with another sha256")
    return bytes(content)


def read_plane(stream: Stream, data: Bytes, lane: int) -> bytes:
    coded = data.take(stream.size)
    require(zlib.crc32(coded) == stream.crc, "data altered")
    if stream.coding == 0:
        return coded
    if stream.coding == 1:
        return inflate(coded, stream.length)
    assert stream.book is not None
    escapes = read_plane(stream.escapes, data, lane) if stream.escapes else b""
    return huffman(stream.book, coded, stream.length, lane, escapes)


def inflate(data: bytes, size: int) -> bytes:
    inflater = zlib.decompressobj(-15)
    try:
        found = inflater.decompress(data, size + 1)
    except zlib.error as error:
        raise RefusedError("cannot be inflated") from error
    require(len(found) == size and inflater.eof and not inflater.unused_data, "inflates to another size")
    return found


def huffman(book: Book, coded: bytes, length: int, lane: int, escapes: bytes) -> bytes:
    count = -(-8 * length // book.width)
    indices = [
        symbol // book.radix**k % book.radix
        for symbol in symbols_of(book, coded, -(-count // book.group), lane)
        for k in range(book.group)
    ][:count]
    rest = iter(escapes)
    escape = len(book.values)
    require(indices.count(escape) == len(escapes), "another number of escapes")
    values = [next(rest) if index == escape else book.values[index] for index in indices]
    require(all(value < 1 << book.width for value in values), "escape too large")
    bits = "".join(f"{value:0{book.width}b}"[::-1] for value in values)
    return int(bits[::-1] or "0", 2).to_bytes(-(-len(bits) // 8), "little")[:length]


def symbols_of(book: Book, coded: bytes, count: int, lane: int) -> Iterator[int]:
    codes = codes_of(book)
    data = Bytes(coded)
    sizes = [data.number(2) for _ in range(-(-count // lane))]
    for i, size in enumerate(sizes):
        string = data.take(size)
        bits = [byte >> k & 1 for byte in string for k in range(8)]
        at = 0
        for _ in range(min(lane, count - i * lane)):
            code = ""
            while code not in codes:
                require(at < len(bits), "lane too short")
                code += str(bits[at])
                at += 1
            yield codes[code]
        require(len(bits) - at < 8, "lane too long")
    require(data.at == len(coded), "bytes behind the lanes")


def codes_of(book: Book) -> dict[str, int]:
    if len(book.lengths) == 1:
        return {"": 0}
    codes, code = {}, 0
    for length in range(1, 16):
        for symbol, own in enumerate(book.lengths):
            if own == length:
                codes[f"{code:0{length}b}"] = symbol
                code += 1
        code *= 2
    return codes
