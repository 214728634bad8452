"""Reading packs: everything declared is checked before memory is taken, everything read before it is used."""

from __future__ import annotations

import contextlib
import hashlib
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.entropy import DamagedError
from mobilekit.compression.pack.book import Book
from mobilekit.compression.pack.codings import Part, decoded
from mobilekit.compression.pack.directory import (
    HEADER_SIZE,
    Directory,
    ForeignError,
    PackedFile,
    PackedSegment,
    Stream,
    read_directory,
    read_header,
)
from mobilekit.errors import InputError
from mobilekit.reading import read_errors

# Memory that is taken, more or less. Much at once is faster, since lanes of many segments go in step.
_BATCH = 32 * 2**20

Report = Callable[[int], None]


@contextlib.contextmanager
def opened(pack: Path) -> Iterator[tuple[BinaryIO, Directory]]:
    """A pack whose directory is sound, at the beginning of its data.

    Raises InputError, here and in the block, where it is damaged, cut off or no pack at all.
    """
    with read_errors(pack):
        if not pack.exists():
            raise InputError(f"{pack}: not found; give a file that `mobilekit pack` wrote.")
        # Opening a pipe would wait for ever.
        if not pack.is_file():
            raise InputError(f"{pack}: is not a file; give a file that `mobilekit pack` wrote.")
        file = pack.open("rb")
    try:
        with file:
            yield file, _directory(file)
    except ForeignError as error:
        raise InputError(f"{pack}: {error}.") from error
    except DamagedError as error:
        raise InputError(f"{pack}: damaged: {error}; download or copy it again.") from error


def _directory(file: BinaryIO) -> Directory:
    header = read_header(file.read(HEADER_SIZE))
    size = os.fstat(file.fileno()).st_size
    if HEADER_SIZE + header.coded > size:
        raise DamagedError("it is cut off in its directory")
    directory = read_directory(header, file.read(header.coded))
    expected = HEADER_SIZE + header.coded + directory.data_size
    if size != expected:
        raise DamagedError(f"it has {size:,} bytes instead of {expected:,}")
    return directory


def extract(file: BinaryIO, directory: Directory, folder: Path, report: Report = lambda more: None) -> None:
    """Write the files of an opened pack into an empty folder; report: is told how many more bytes are done.

    Raises DamagedError where data is not what the directory says.
    """
    for entry in directory.files:
        path = folder / entry.name
        path.parent.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        with path.open("xb") as target:
            for batch in _batches(entry, directory.books):
                for data in _segments(batch, file, directory):
                    target.write(data.data)
                    digest.update(data.data)
                    report(data.size)
        if digest.digest() != entry.sha256:
            raise DamagedError(f"'{entry.name}' does not come out as it was packed")


def _batches(entry: PackedFile, books: tuple[Book, ...]) -> Iterator[list[PackedSegment]]:
    """The segments of a file, as many at a time as memory is meant for."""
    batch: list[PackedSegment] = []
    weight = 0
    for segment in entry.segments:
        # Coded and decoded bytes are there twice for a moment, and a decoder's tables take memory too.
        own = 2 * segment.length + sum(2 * s.size + _table_size(s, books) for s in segment.streams)
        if batch and weight + own > _BATCH:
            yield batch
            batch, weight = [], 0
        batch.append(segment)
        weight += own
    if batch:
        yield batch


def _table_size(stream: Stream, books: tuple[Book, ...]) -> int:
    if stream.book < 0:
        return 0
    book = books[stream.book]
    inner = 0 if stream.escaped is None else _table_size(stream.escaped, books)
    return inner + (8 + book.group << int(book.lengths.max()))


def _segments(batch: list[PackedSegment], file: BinaryIO, directory: Directory) -> Iterator[NDArray[np.uint8]]:
    parts = [
        _part(file, stream, size, directory.books)
        for segment in batch
        for stream, size in zip(segment.streams, segment.plane_sizes(), strict=True)
    ]
    planes = iter(decoded(parts, directory.lane))
    for segment in batch:
        number = len(segment.streams)
        if number == 1:
            yield next(planes)
            continue
        data = np.empty(segment.length, np.uint8)
        for k in range(number):
            data[k::number] = next(planes)
        yield data


def _part(file: BinaryIO, stream: Stream, size: int, books: tuple[Book, ...]) -> Part:
    data = file.read(stream.size)
    if zlib.crc32(data) != stream.crc or len(data) != stream.size:
        raise DamagedError(f"its data are altered before byte {file.tell():,}")
    if stream.book < 0:
        return Part(size, stream.coding, data)
    escaped = None if stream.escaped is None else _part(file, stream.escaped, stream.escapes, books)
    return Part(size, stream.coding, data, books[stream.book], stream.escapes, escaped)
