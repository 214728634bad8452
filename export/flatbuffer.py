"""A reader of FlatBuffers tables by slot number: enough to walk a file without its generated code."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_I32, _U16, _U32, _F32 = (struct.Struct(f"<{kind}") for kind in "iHIf")


class Table:
    """A table at a position of a buffer; slots count the fields of its schema from 0, a union takes two.

    Broken offsets raise struct.error, ValueError or IndexError.
    """

    def __init__(self, data: memoryview, position: int) -> None:
        if not 0 <= position < len(data):
            raise ValueError(f"a table at {position} is outside of the buffer")
        self._data, self._at = data, position
        self._slots = position - _I32.unpack_from(data, position)[0]
        self._slots_size = _U16.unpack_from(data, self._slots)[0]

    def _field(self, slot: int) -> int | None:
        entry = 4 + 2 * slot
        if entry >= self._slots_size:
            return None
        offset: int = _U16.unpack_from(self._data, self._slots + entry)[0]
        return self._at + offset if offset else None

    def _target(self, slot: int) -> int | None:
        field = self._field(slot)
        return None if field is None else field + _U32.unpack_from(self._data, field)[0]

    def position(self, slot: int) -> int | None:
        """Where in the buffer a field stands, None where it is left out."""
        return self._field(slot)

    def number(self, slot: int, kind: str = "I") -> int:
        """An integer of the struct module's `kind`, 0 where the field is left out."""
        field = self._field(slot)
        return 0 if field is None else int(struct.unpack_from(f"<{kind}", self._data, field)[0])

    def real(self, slot: int) -> float:
        """A float32, 0 where the field is left out."""
        field = self._field(slot)
        return 0.0 if field is None else float(_F32.unpack_from(self._data, field)[0])

    def table(self, slot: int) -> Table | None:
        """The table that a field points to."""
        target = self._target(slot)
        return None if target is None else Table(self._data, target)

    def string(self, slot: int) -> str:
        """A string, empty where the field is left out."""
        return bytes(self.numbers(slot, np.dtype(np.uint8))).decode()

    def numbers(self, slot: int, dtype: np.dtype) -> NDArray[np.generic]:
        """A vector of numbers; empty where the field is left out."""
        start = self._target(slot)
        if start is None:
            return np.zeros(0, dtype)
        return np.frombuffer(self._data, dtype, _U32.unpack_from(self._data, start)[0], start + 4)

    def integers(self, slot: int) -> list[int]:
        """A vector of 32-bit integers."""
        return [int(value) for value in self.numbers(slot, np.dtype("<i4"))]

    def tables(self, slot: int) -> Iterator[Table]:
        """A vector of tables."""
        start = self._target(slot)
        if start is None:
            return
        for i in range(_U32.unpack_from(self._data, start)[0]):
            field = start + 4 + 4 * i
            yield Table(self._data, field + _U32.unpack_from(self._data, field)[0])


def root(data: memoryview, identifier: bytes) -> Table:
    """The root table of a buffer whose file identifier has to be `identifier`."""
    if bytes(data[4:8]) != identifier:
        raise ValueError(f"its identifier is {bytes(data[4:8])!r}, not {identifier!r}")
    return Table(data, _U32.unpack_from(data)[0])
