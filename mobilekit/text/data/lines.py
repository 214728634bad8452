"""Lines of a large text file, found by number and not held in memory."""

from __future__ import annotations

import codecs
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import InputError
from mobilekit.reading import read_errors
from mobilekit.text.data.encoding import BOM, not_utf8, require_file

_CHUNK = 2**22


class LineIndex:
    """The lines of a UTF-8 file, which is mapped into memory: what is held are two numbers (16 bytes) a line.

    Lines end with a line feed, or with a carriage return and one; a byte-order mark is left out. The file must not
    change while this is in use. It can be pickled: another process maps the file anew. Raises InputError when the file
    is missing, empty or not UTF-8 (naming line and byte).
    """

    def __init__(self, path: Path) -> None:
        require_file(path)
        self._path = path
        self._map: mmap.mmap | None = None
        with read_errors(path):
            self._starts, self._ends = _find_lines(path)

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, index: int) -> str:
        """Line `index`, from 0, without its line break."""
        return self._bytes(index).decode("utf-8")

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(len(self)))

    def blank(self) -> NDArray[np.bool_]:
        """Which lines are empty or white space, [lines]."""
        blank = self._ends <= self._starts
        if not len(self):
            return blank
        # Few lines begin with a space: only those are looked at one by one.
        first = np.frombuffer(self._mapped(), np.uint8)[np.minimum(self._starts, self._ends[-1] - 1)]
        for i in np.flatnonzero(~blank & ((first <= 0x20) | (first > 0x7F))):
            blank[i] = not self[int(i)].strip()
        return blank

    def _bytes(self, index: int) -> bytes:
        return self._mapped()[self._starts[index] : self._ends[index]]

    def _mapped(self) -> mmap.mmap:
        if self._map is None:
            with read_errors(self._path), self._path.open("rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return self._map

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_map": None}


def _find_lines(path: Path) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First byte of each line, and the one after its last, [lines] each."""
    breaks: list[NDArray[np.int64]] = []
    returns: list[NDArray[np.bool_]] = []
    decoder = codecs.getincrementaldecoder("utf-8")()
    base, last = 0, b""
    with path.open("rb") as file:
        head = file.read(4)
        file.seek(0)
        while chunk := file.read(_CHUNK):
            _check_utf8(decoder, chunk, path, head, base, breaks)
            values = np.frombuffer(last + chunk, np.uint8)
            found = np.flatnonzero(values == 0x0A)
            returns.append((found > 0) & (values[found - 1] == 0x0D))
            breaks.append(found.astype(np.int64) + (base - len(last)))
            base, last = base + len(chunk), chunk[-1:] if chunk[-1:] == b"\r" else b""
        _check_utf8(decoder, b"", path, head, base, breaks)
    stops = np.concatenate(breaks)
    starts = np.concatenate([[len(BOM) if head.startswith(BOM) else 0], stops + 1])
    ends = np.concatenate([stops - np.concatenate(returns), [base]])
    # A line break at the end of the file begins no line.
    size = len(starts) - int(starts[-1] >= base)
    return starts[:size], ends[:size]


def _check_utf8(
    decoder: codecs.IncrementalDecoder, chunk: bytes, path: Path, head: bytes, base: int, breaks: list[Any]
) -> None:
    try:
        decoder.decode(chunk, final=not chunk)
    except UnicodeDecodeError as error:
        # It still held the beginning of a character that the last chunk ended in.
        offset = base - (len(error.object) - len(chunk)) + error.start
        line = 1 + sum(int((b < offset).sum()) for b in breaks) + error.object.count(b"\n", 0, error.start)
        raise not_utf8(path, head, line, offset, error.object[error.start]) from error


def require_rows(path: Path, count: int) -> None:
    """Raise InputError when a file that is not empty held no rows."""
    if count == 0:
        raise InputError(f"{path}: has no rows.")
