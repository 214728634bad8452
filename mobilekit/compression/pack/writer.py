"""Writing packs: files cut into segments, each coded as is smallest; the directory in front."""

from __future__ import annotations

import hashlib
import shutil
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from mobilekit.compression.pack.book import Book
from mobilekit.compression.pack.codings import Encoded, smallest
from mobilekit.compression.pack.directory import LANE_BITS, Directory, PackedFile, PackedSegment, Stream, written
from mobilekit.compression.pack.segments import WINDOW, Segment, segments

Report = Callable[[int], None]
Values = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]


@dataclass(frozen=True)
class Figure:
    """What became of one plane of one segment. start: of the segment in its file; length: bytes of the plane."""

    file: str
    start: int
    length: int
    planes: int
    plane: int
    encoded: Encoded

    @property
    def packed(self) -> int:
        """Bytes of its coded streams."""
        return len(self.encoded.data) + (len(self.encoded.escaped.data) if self.encoded.escaped else 0)

    def to_dict(self) -> dict[str, str | int | float]:
        """For JSON. entropy_bytes: what its values need at least, each for itself."""
        return {
            "file": self.file,
            "start": self.start,
            "bytes": self.length,
            "planes": self.planes,
            "plane": self.plane,
            "coding": self.encoded.name,
            "packed_bytes": self.packed,
            "entropy_bytes": round(self.encoded.entropy / 8, 1),
        }


@dataclass(frozen=True)
class Packed:
    """What was written: bytes of the pack and of its directory, and figures by plane."""

    directory: Directory
    size: int
    directory_size: int
    figures: tuple[Figure, ...]


@dataclass
class Books:
    """Different books in the order of their first use."""

    books: list[Book] = field(default_factory=list)
    numbers: dict[tuple[object, ...], int] = field(default_factory=dict)

    def number(self, book: Book) -> int:
        """The number of a book, which is kept if it is new."""
        key = (book.width, book.group, book.escape, book.values.tobytes(), book.lengths.tobytes())
        if key not in self.numbers:
            self.numbers[key] = len(self.books)
            self.books.append(book)
        return self.numbers[key]


def write_pack(
    files: Iterable[tuple[str, Path]], out: Path, report: Report = lambda more: None, lane: int = 1 << LANE_BITS
) -> Packed:
    """Write a pack of files (name in the pack, path; names sorted by their bytes) to `out`.

    report: is told how many more bytes are done. `out` with `.data` behind it is written and removed on the way. Raises
    TooLargeError where the files are more than a pack can hold.
    """
    books, packed = Books(), []
    figures: list[Figure] = []
    data = out.with_name(f"{out.name}.data")
    with data.open("wb") as coded:
        for name, path in files:
            file, found = _write_file(name, path, coded, books, lane, report)
            packed.append(file)
            figures += found
    directory = Directory(lane, tuple(books.books), tuple(packed))
    head = written(directory)
    with out.open("wb") as target, data.open("rb") as coded:
        target.write(head)
        shutil.copyfileobj(coded, target)
    data.unlink()
    return Packed(directory, len(head) + directory.data_size, len(head), tuple(figures))


def _write_file(
    name: str, path: Path, coded: BinaryIO, books: Books, lane: int, report: Report
) -> tuple[PackedFile, list[Figure]]:
    digest, size = hashlib.sha256(), 0
    found: list[PackedSegment] = []
    figures: list[Figure] = []
    with path.open("rb") as file:
        while window := file.read(WINDOW):
            digest.update(window)
            values = np.frombuffer(window, np.uint8)
            for segment in segments(values):
                encoded = _planes(values[segment.start : segment.end], segment, lane)
                found.append(
                    PackedSegment(segment.end - segment.start, tuple(stream_of(e, books, coded.write) for e in encoded))
                )
                figures += [
                    Figure(name, size + segment.start, length, len(encoded), k, plane)
                    for k, (length, plane) in enumerate(zip(found[-1].plane_sizes(), encoded, strict=True))
                ]
                report(segment.end - segment.start)
            size += len(window)
    return PackedFile(name, size, digest.digest(), tuple(found)), figures


def _planes(data: Values, segment: Segment, lane: int) -> list[Encoded]:
    """The planes of a segment, coded; one plane where that is no larger."""
    whole = [smallest(data, segment.width, lane)]
    if segment.planes == 1 or data.size < segment.planes:
        return whole
    apart = [smallest(np.ascontiguousarray(data[k :: segment.planes]), 8, lane) for k in range(segment.planes)]
    return min(whole, apart, key=lambda planes: sum(plane.cost + 9 for plane in planes))


def stream_of(encoded: Encoded, books: Books, write: Callable[[bytes], object]) -> Stream:
    """The directory's entry of coded bytes, which are written, those of escapes behind them."""
    write(encoded.data)
    made = Stream(encoded.coding, len(encoded.data), zlib.crc32(encoded.data))
    if encoded.book is None:
        return made
    made = replace(made, book=books.number(encoded.book))
    if encoded.escaped is None:
        return made
    return replace(made, escapes=encoded.escapes, escaped=stream_of(encoded.escaped, books, write))
