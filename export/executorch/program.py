"""The structure of a .pte file: segments, methods, their values and instructions, and the delegates' payloads.

Slots are those of `schema/program.fbs`, file identifier ET12, as executorch 1.5.1 ships it.
"""

from __future__ import annotations

import functools
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from export.flatbuffer import Table, root

# `schema/scalar_type.fbs`.
SCALAR_TYPES = {0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32", 7: "float64"}
SCALAR_TYPES |= {15: "bfloat16"}
_TENSOR, _STRING = 5, 6  # union KernelTypes
_KERNEL, _DELEGATE = 1, 2  # union InstructionArguments
_HEADER_AT = 8
_HEADER = struct.Struct("<4sIQQQ")  # magic, its length, program size, segment base, segments' size


@dataclass(frozen=True)
class Place:
    """Where bytes lie in the file."""

    offset: int
    size: int


@dataclass(frozen=True)
class TensorValue:
    """A tensor of a method; place is None unless it is a constant."""

    dtype: str
    shape: tuple[int, ...]
    place: Place | None


@dataclass(frozen=True)
class Call:
    """An instruction: an operator's name, or "" for the call of `delegate`; args are indices of values."""

    operator: str
    delegate: int
    args: tuple[int, ...]


@dataclass(frozen=True)
class Method:
    """An execution plan. values: tensors and strings by index, other kinds are left out."""

    name: str
    values: dict[int, TensorValue | str]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    calls: tuple[Call, ...]
    delegates: tuple[tuple[str, Place], ...]


class Program:
    """A .pte file, mapped into memory. base: where its segments begin.

    Raises ValueError, IndexError or struct.error where it is broken.
    """

    # Where in the file the segments' size (u64) stands.
    SIZE_OF_SEGMENTS = _HEADER_AT + _HEADER.size - 8

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self.data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        self._root = root(self.data, b"ET12")
        magic, _, _, self.base, _ = _HEADER.unpack_from(self.data, _HEADER_AT)
        if magic != b"eh00":
            raise ValueError("it has no extended header, so it is older than weights in segments")
        self._tables = list(self._root.tables(4))
        self.segments = [Place(self.base + t.number(0, "Q"), t.number(1, "Q")) for t in self._tables]
        self._names = {t.string(0): t.number(1) for t in self._root.tables(7)}

    def bytes_at(self, place: Place) -> memoryview:
        """The bytes of a place."""
        if place.offset + place.size > len(self.data):
            raise ValueError(f"{place} is outside of the file; it is cut short")
        return self.data[place.offset : place.offset + place.size]

    def array(self, place: Place, dtype: str, shape: tuple[int, ...]) -> NDArray[np.generic]:
        """The values of a place; bfloat16, which numpy does not have, as float32."""
        if dtype == "bfloat16":
            halves = np.frombuffer(self.bytes_at(place), np.uint16).reshape(shape)
            return (halves.astype(np.uint32) << np.uint32(16)).view(np.float32)
        return np.frombuffer(self.bytes_at(place), dtype).reshape(shape)

    def named(self, key: str) -> Place:
        """A blob that a delegate refers to by name."""
        if key not in self._names:
            raise ValueError(f"it has no data named {key!r}")
        return self.segments[self._names[key]]

    def is_named(self, segment: int) -> bool:
        """Whether a segment is a delegate's data, found by its name."""
        return segment in self._names.values()

    def segment_field(self, segment: int) -> int | None:
        """Where in the file a segment's offset (u64, counted from `base`) stands; None where it is 0 and left out."""
        return self._tables[segment].position(0)

    @functools.cached_property
    def methods(self) -> dict[str, Method]:
        """Every method by name."""
        return {plan.string(0): self._method(plan) for plan in self._root.tables(1)}

    def _method(self, plan: Table) -> Method:
        values = {i: value for i, v in enumerate(plan.tables(2)) if (value := self._value(v)) is not None}
        operators = [f"{t.string(0)}.{t.string(1)}" for t in plan.tables(6)]
        calls = tuple(call for chain in plan.tables(5) for t in chain.tables(2) for call in _calls(t, operators))
        delegates = tuple((t.string(0), self._payload(t)) for t in plan.tables(7))
        return Method(plan.string(0), values, tuple(plan.integers(3)), tuple(plan.integers(4)), calls, delegates)

    def _value(self, value: Table) -> TensorValue | str | None:
        kind, content = value.number(0, "B"), value.table(1)
        if content is None or kind not in (_TENSOR, _STRING):
            return None
        if kind == _STRING:
            return content.string(0)
        code = content.number(0, "b")
        dtype, shape = SCALAR_TYPES.get(code, f"type {code}"), tuple(content.integers(2))
        index, planned = content.number(5), content.table(6)
        return TensorValue(dtype, shape, self._constant(index, dtype, shape) if index and planned is None else None)

    def _constant(self, index: int, dtype: str, shape: tuple[int, ...]) -> Place:
        constants = self._root.table(5)
        if constants is None:
            raise ValueError("it has no segment of constants")
        start = self.segments[constants.number(0)].offset + int(constants.numbers(1, np.dtype("<u8"))[index])
        if dtype not in SCALAR_TYPES.values():
            raise ValueError(f"a constant has {dtype}, which is not read here")
        return Place(start, int(np.prod(shape)) * (2 if dtype == "bfloat16" else np.dtype(dtype).itemsize))

    def _payload(self, delegate: Table) -> Place:
        reference = delegate.table(1)
        if reference is None or reference.number(0, "b") != 1:
            raise ValueError(f"the delegate {delegate.string(0)} keeps its data outside of a segment")
        return self.segments[reference.number(1)]


def _calls(instruction: Table, operators: list[str]) -> list[Call]:
    kind, content = instruction.number(0, "B"), instruction.table(1)
    if content is None or kind not in (_KERNEL, _DELEGATE):
        return []
    index, args = content.number(0), tuple(content.integers(1))
    return [Call(operators[index], -1, args) if kind == _KERNEL else Call("", index, args)]
