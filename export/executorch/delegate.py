"""The payload of an XNNPACK delegate: its graph's values, with the constants and scales that they point to.

Slots are those of `backends/xnnpack/serialization/schema.fbs`, file identifier XN01, as executorch 1.5.1 ships it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from export.executorch.program import Place, Program
from export.flatbuffer import Table, root

# magic at 4, header's size, offset and size of the graph, offset and size of constants inside of the payload
_HEADER = struct.Struct("<4sHIIIQ")
_TYPES = {1: "float32", 6: "int8"}  # enum XNNDatatype: fp32 and qcint8
_PLAIN, _QUANTIZED = 1, 2  # union XValueUnion
_PER_CHANNEL = 1  # union XNNQuantParams
_MULTIPLY = 15  # union XNodeUnion
_OUTSIDE = 2**64 - 1  # offset of a constant that is in the program's named data


@dataclass(frozen=True)
class Constant:
    """A constant of the graph; scale: its per-channel float32 scales where it is quantized."""

    dtype: str
    shape: tuple[int, ...]
    place: Place
    scale: Place | None


class Delegate:
    """One delegate's graph."""

    def __init__(self, program: Program, payload: Place) -> None:
        self._program = program
        data = program.bytes_at(payload)
        magic, _, offset, size, constants, _ = _HEADER.unpack_from(data, 4)
        if magic != b"XH00":
            raise ValueError(f"an XNNPACK payload begins with {magic!r}, not b'XH00'")
        self._graph = root(data[offset : offset + size], b"XN01")
        self._inside = payload.offset + constants
        self._places = [self._place(table) for table in self._graph.tables(8)]
        self._values = [_plain(value) for value in self._graph.tables(2)]

    def constants(self) -> Iterator[Constant]:
        """Every constant value."""
        for value, plain in zip(self._graph.tables(2), self._values, strict=True):
            if plain.number(3):
                yield self._constant(value, plain)

    def products(self) -> Iterator[frozenset[int]]:
        """For every product of two of the delegate's arguments: their positions among the arguments."""
        for node in self._graph.tables(1):
            content = node.table(1)
            if node.number(0, "B") == _MULTIPLY and content is not None:
                yield frozenset(self._values[content.number(slot)].number(4) for slot in (0, 1))

    def _constant(self, value: Table, plain: Table) -> Constant:
        code, index = plain.number(0, "h"), plain.number(3)
        if code not in _TYPES:
            raise ValueError(f"an XNNPACK constant has type {code}, which is not read here")
        shape = tuple(int(n) for n in plain.numbers(2, np.dtype("<u4")))
        scale = self._scale(value) if value.number(0, "B") == _QUANTIZED else None
        return Constant(_TYPES[code], shape, self._places[index], scale)

    def _scale(self, value: Table) -> Place:
        quantized = value.table(1)
        parameters = quantized.table(2) if quantized is not None and quantized.number(1, "B") == _PER_CHANNEL else None
        if parameters is None or parameters.number(1, "i") != 0:
            raise ValueError("an XNNPACK weight has no scale for each of its rows")
        return self._places[parameters.number(2)]

    def _place(self, table: Table) -> Place:
        offset, size = table.number(0, "Q"), table.number(1, "Q")
        if offset != _OUTSIDE:
            return Place(self._inside + offset, size)
        named = self._program.named(table.string(2))
        return Place(named.offset, size)


def _plain(value: Table) -> Table:
    content = value.table(1)
    if content is not None and value.number(0, "B") == _QUANTIZED:
        content = content.table(0)
    if content is None:
        raise ValueError("an XNNPACK value is empty")
    return content
