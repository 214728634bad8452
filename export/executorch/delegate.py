"""The payload of an XNNPACK delegate: its graph's values, with the constants and scales that they point to.

Slots are those of `backends/xnnpack/serialization/schema.fbs`, file identifier XN01, as executorch 1.5.1 ships it.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from export.executorch.program import Place, Program, TensorValue
from export.flatbuffer import Table, root
from mobilekit.compression.activations import Activation, Static

# magic at 4, header's size, offset and size of the graph, offset and size of constants inside of the payload
_HEADER = struct.Struct("<4sHIIIQ")
# enum XNNDatatype: fp32, qcint8, qcint32, qcint4, qbint4
_TYPES = {1: "float32", 6: "int8", 7: "int32", 8: "int4", 10: "int4"}
_FIXED = 3  # of the same: qint8, one scale for all of a tensor
_PLAIN, _QUANTIZED = 1, 2  # union XValueUnion
_PER_CHANNEL, _PER_TENSOR, _PER_GROUP = 1, 2, 4  # union XNNQuantParams
_LINEAR, _MULTIPLY = 2, 15  # union XNodeUnion
# By the same union, what takes values apart and puts them together again: slots of the inputs, slot of the output.
# Add, transpose, multiply, subtract, floor, reshape, concatenate.
_SLOTS = {1: ((0, 1), 2), 5: ((2,), 3), _MULTIPLY: ((0, 1), 2), 16: ((0, 1), 2), 17: ((0,), 1), 20: ((2,), 3)}
_SLOTS |= {32: ((1, 2), 5)}
_OUTSIDE = 2**64 - 1  # offset of a constant that is in the program's named data


@dataclass(frozen=True)
class Constant:
    """A constant of the graph; scale: the scales of its rows or groups where it is quantized. activations: fixed scales
    of what linear maps with it read and give.

    dtype: int4 is two codes a byte, the first in the low half, each plus 8.
    """

    dtype: str
    shape: tuple[int, ...]
    place: Place
    scale: TensorValue | None
    activations: frozenset[Static] = frozenset()


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
        static = self._static()
        for i, (value, plain) in enumerate(zip(self._graph.tables(2), self._values, strict=True)):
            if plain.number(3):
                yield replace(self._constant(value, plain), activations=frozenset(static[i]))

    def _static(self) -> defaultdict[int, set[Static]]:
        """By the number of a weight, the fixed scales around linear maps with it."""
        values = list(self._graph.tables(2))
        found: defaultdict[int, set[Static]] = defaultdict(set)
        for node in self._graph.tables(1):
            content = node.table(1)
            if node.number(0, "B") != _LINEAR or content is None:
                continue
            given, weight, made = (content.number(slot) for slot in (0, 1, 3))
            if self._values[given].number(0, "h") == _FIXED:
                found[weight].add(Static(_activation(values[given]), _activation(values[made])))
        return found

    def products(self, arguments: frozenset[int]) -> Iterator[frozenset[int]]:
        """For every product of two of the given arguments, which may have been taken apart and put together before:
        their positions among the delegate's arguments."""
        # Which of them each value is made of.
        made: dict[int, frozenset[int]] = {}

        def sources(index: int) -> frozenset[int]:
            return made.get(index, arguments & {self._values[index].number(4)})

        for node in self._graph.tables(1):
            kind, content = node.number(0, "B"), node.table(1)
            if content is None or kind not in _SLOTS:
                continue
            slots, output = _SLOTS[kind]
            operands = [sources(content.number(slot)) for slot in slots]
            made[content.number(output)] = frozenset().union(*operands)
            if kind == _MULTIPLY and all(len(operand) == 1 for operand in operands):
                yield made[content.number(output)]

    def _constant(self, value: Table, plain: Table) -> Constant:
        code, index = plain.number(0, "h"), plain.number(3)
        if code not in _TYPES:
            raise ValueError(f"an XNNPACK constant has type {code}, which is not read here")
        shape = tuple(int(n) for n in plain.numbers(2, np.dtype("<u4")))
        scale = self._scale(value, shape) if value.number(0, "B") == _QUANTIZED else None
        return Constant(_TYPES[code], shape, self._places[index], scale)

    def _scale(self, value: Table, shape: tuple[int, ...]) -> TensorValue:
        quantized = value.table(1)
        kind = 0 if quantized is None else quantized.number(1, "B")
        parameters = quantized.table(2) if quantized is not None and kind in (_PER_CHANNEL, _PER_GROUP) else None
        if parameters is None or parameters.number(1, "i") != 0:
            raise ValueError("an XNNPACK weight has no scale for each of its rows")
        if kind == _PER_CHANNEL:
            return TensorValue("float32", (shape[0], 1), self._places[parameters.number(2)])
        block = parameters.number(2)
        if block == 0 or shape[1] % block:
            raise ValueError(f"an XNNPACK weight of {shape[1]} columns has groups of {block}")
        return TensorValue("bfloat16", (shape[0], shape[1] // block), self._places[parameters.number(4)])

    def _place(self, table: Table) -> Place:
        offset, size = table.number(0, "Q"), table.number(1, "Q")
        if offset != _OUTSIDE:
            return Place(self._inside + offset, size)
        named = self._program.named(table.string(2))
        return Place(named.offset, size)


def _activation(value: Table) -> Activation:
    quantized = value.table(1) if value.number(0, "B") == _QUANTIZED else None
    parameters = quantized.table(2) if quantized is not None and quantized.number(1, "B") == _PER_TENSOR else None
    if parameters is None:
        raise ValueError("an XNNPACK activation has no scale of its own")
    return Activation(parameters.real(0), parameters.number(1, "i"))


def _plain(value: Table) -> Table:
    content = value.table(1)
    if content is not None and value.number(0, "B") == _QUANTIZED:
        content = content.table(0)
    if content is None:
        raise ValueError("an XNNPACK value is empty")
    return content
