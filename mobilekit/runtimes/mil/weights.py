"""Core ML's weight file (`weight.bin`): 64-byte records that say type, size and place of a blob.

The format is MILBlob's StorageFormat.hpp: a header (count, version 2), then records, each followed by its data;
everything starts at a multiple of 64. A program names a blob by the offset of its record. Types of less than a byte
fill bytes from their lowest bit on; the record says how many bits at the end belong to no element.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.bitfields import unpack_bits
from mobilekit.compression.nibbles import unpack_nibbles
from mobilekit.errors import ArtifactError

ALIGNMENT = 64
VERSION = 2
SENTINEL = 0xDEADBEEF
HEADER = struct.Struct("<II56x")
RECORD = struct.Struct("<IIQQQ32x")
# Number of a type in a record -> numpy's type, or the name of one that numpy does not have.
BLOB_TYPES = {1: "float16", 2: "float32", 3: "uint8", 4: "int8", 6: "int16", 7: "uint16", 14: "int32", 15: "uint32"}
BLOB_TYPES |= {8: "int4", 9: "uint1", 10: "uint2", 11: "uint4", 12: "uint3", 13: "uint6"}
# Bits of those; their elements take a byte each once they are read.
BITS = {"int4": 4, "uint1": 1, "uint2": 2, "uint4": 4, "uint3": 3, "uint6": 6}


@dataclass(frozen=True)
class Blob:
    """One blob: the number of its type, and its bytes (uint8 [size], a view of the file).

    padding: how many bits of the last byte belong to no element.
    """

    kind: int
    data: NDArray[np.uint8]
    padding: int = 0

    @property
    def dtype(self) -> str:
        """Name of numpy's type; raises ArtifactError for one that mobilekit doesn't read."""
        if self.kind not in BLOB_TYPES:
            raise ArtifactError(f"the weight file holds a blob of type {self.kind}, which mobilekit does not read.")
        return BLOB_TYPES[self.kind]

    def values(self) -> NDArray[Any]:
        """The elements; int4 as int8, uint1 to uint6 as uint8. Raises ArtifactError as above."""
        if self.dtype not in BITS:
            return self.data.view(self.dtype)
        bits = BITS[self.dtype]
        count, left = divmod(8 * self.data.size - self.padding, bits)
        if left:
            raise ArtifactError(f"a blob of {self.dtype} ends with {self.padding} bits of filling, which cannot be.")
        if self.dtype == "int4":
            return unpack_nibbles(self.data, count)
        return unpack_bits(self.data, count, bits)

    def digest(self) -> str:
        """sha256 of the type and the bytes."""
        return hashlib.sha256(bytes([self.kind]) + self.data.tobytes()).hexdigest()


def aligned(size: int) -> int:
    """`size` rounded up to the format's alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT


class WeightFile:
    """A weight file, mapped into memory; raises ArtifactError when it is not one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._bytes: NDArray[np.uint8] = np.memmap(path, dtype=np.uint8, mode="r")
        except (OSError, ValueError) as error:
            raise ArtifactError(f"{path}: cannot be read as a weight file ({error}); export again.") from error
        if self._bytes.size < HEADER.size:
            raise self._broken("it is too short")
        self.count, version = HEADER.unpack(self._bytes[: HEADER.size].tobytes())
        if version != VERSION:
            raise self._broken(f"its version is {version}, not {VERSION}")

    def blob(self, offset: int) -> Blob:
        """The blob whose record stands at `offset`."""
        kind, start, size, padding = self._record(offset)
        return Blob(kind, self._bytes[start : start + size], padding)

    def blobs(self) -> Iterator[Blob]:
        """All blobs in the order of the file, used or not."""
        offset = ALIGNMENT
        for _ in range(self.count):
            kind, start, size, padding = self._record(offset)
            yield Blob(kind, self._bytes[start : start + size], padding)
            offset = aligned(start + size)

    def _record(self, offset: int) -> tuple[int, int, int, int]:
        if offset % ALIGNMENT or not 0 <= offset <= self._bytes.size - RECORD.size:
            raise self._broken(f"there is no record at {offset}")
        sentinel, kind, size, start, padding = RECORD.unpack(self._bytes[offset : offset + RECORD.size].tobytes())
        if sentinel != SENTINEL:
            raise self._broken(f"the record at {offset} has no sentinel")
        if start != offset + RECORD.size:
            raise self._broken(f"the blob of the record at {offset} does not follow it")
        if start + size > self._bytes.size:
            raise self._broken(f"the blob of the record at {offset} reaches beyond the end")
        if padding >= min(8, 8 * size + 1):
            raise self._broken(f"the blob of the record at {offset} ends with {padding} bits of filling")
        return kind, start, size, padding

    def _broken(self, what: str) -> ArtifactError:
        return ArtifactError(f"{self.path}: not an intact weight file ({what}); export again.")
