"""What an ExecuTorch file holds, from its bytes alone: weights with the scales attached to them, inputs, notes."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from export.executorch.delegate import Constant, Delegate
from export.executorch.program import Method, Place, Program, TensorValue
from export.registry import StoredInput, StoredWeight
from mobilekit.compression.nibbles import unpack_nibbles
from mobilekit.errors import ArtifactError

# The method that returns the file's notes as a JSON string: inputs, output, metadata, delegation.
NOTES_METHOD = "metadata"
_EMBEDDING, _CAST, _XNNPACK = "aten::embedding.out", "dim_order_ops::_to_dim_order_copy.out", "XnnpackBackend"
# Element types of tables that hold codes: one a byte, or two.
_CODES = ("int8", "uint8")

_Read = TypeVar("_Read")


def read_weights(path: Path) -> list[StoredWeight]:
    """Every constant of every method, once, with the number of places that its bytes are in.

    Codes come with the scale that their own XNNPACK value names, or, in a table, with the rows that the graph
    multiplies their rows by. Raises ArtifactError when the file is no ExecuTorch program or broken.
    """
    return _reading(path, _weights)


def read_inputs(path: Path) -> list[StoredInput]:
    """The inputs of every method but the notes, in order; raises ArtifactError as above."""
    return _reading(path, _inputs)


def read_notes(path: Path) -> dict[str, Any]:
    """What the notes method returns; raises ArtifactError as above."""
    return _reading(path, _notes)


def _reading(path: Path, read: Callable[[Program], _Read]) -> _Read:
    try:
        return read(Program(path))
    except (OSError, ValueError, IndexError, KeyError, struct.error) as error:
        raise ArtifactError(f"{path}: cannot be read as an ExecuTorch program ({error}); export it again.") from error


def _notes(program: Program) -> dict[str, Any]:
    method = program.methods.get(NOTES_METHOD)
    text = method.values.get(method.outputs[0]) if method is not None else None
    if not isinstance(text, str):
        raise ValueError(f"it has no method {NOTES_METHOD!r} that returns a string")
    return dict(json.loads(text))


def _inputs(program: Program) -> list[StoredInput]:
    names = [str(name) for name in _notes(program)["inputs"]]
    found = []
    for method in _entries(program):
        for name, index in zip(names, method.inputs, strict=True):
            value = method.values[index]
            if not isinstance(value, TensorValue):
                raise ValueError(f"input {name} of {method.name} is no tensor")
            found.append(StoredInput(method.name, name, value.dtype, value.shape))
    return found


def _entries(program: Program) -> Iterator[Method]:
    return (method for name, method in program.methods.items() if name != NOTES_METHOD)


def _weights(program: Program) -> list[StoredWeight]:
    places: dict[str, set[Place]] = {}
    weights: dict[str, StoredWeight] = {}
    for method in _entries(program):
        for weight, place in _method_weights(program, method):
            key = _key(weight)
            known = weights.setdefault(key, weight)
            weights[key] = replace(known, activations=known.activations | weight.activations)
            places.setdefault(key, set()).add(place)
    return [replace(weight, copies=len(places[key])) for key, weight in weights.items()]


def _method_weights(program: Program, method: Method) -> Iterator[tuple[StoredWeight, Place]]:
    delegates = [_delegate(program, name, payload) for name, payload in method.delegates]
    scales = dict(_table_scales(method, delegates))
    for index, value in method.values.items():
        if not isinstance(value, TensorValue) or value.place is None or index in scales.values():
            continue
        if value.dtype in _CODES and index not in scales:
            raise ValueError(f"{method.name} has a table of {value.dtype} that no scale belongs to")
        scale = method.values[scales[index]] if index in scales else None
        yield _weight(program, value, scale if isinstance(scale, TensorValue) else None)
    for delegate in delegates:
        for constant in delegate.constants():
            weight, place = _weight(program, constant, constant.scale)
            yield replace(weight, activations=constant.activations), place


def _delegate(program: Program, name: str, payload: Place) -> Delegate:
    if name != _XNNPACK:
        raise ValueError(f"its delegate {name!r} is not read here")
    return Delegate(program, payload)


def _weight(program: Program, value: TensorValue | Constant, scale: TensorValue | None) -> tuple[StoredWeight, Place]:
    assert value.place is not None
    if scale is None:
        return StoredWeight(values=program.array(value.place, value.dtype, value.shape)), value.place  # type: ignore[arg-type]
    assert scale.place is not None
    rows: Any = program.array(scale.place, scale.dtype, scale.shape)
    if value.dtype in ("int8", "int32"):
        codes: Any = program.array(value.place, value.dtype, value.shape)
        return StoredWeight(codes=codes, scale=rows, bits=8 * codes.itemsize), value.place
    # A delegate's shape counts codes, a table's bytes.
    count = int(np.prod(value.shape)) * (1 if value.dtype == "int4" else 2)
    pairs = np.frombuffer(program.bytes_at(value.place), np.uint8)
    # Each half is a code plus 8, which is a signed half with its highest bit the other way round.
    codes = unpack_nibbles(pairs ^ np.uint8(0x88), count).reshape(value.shape[0], -1)
    return StoredWeight(codes=codes, scale=rows, bits=4), value.place


def _table_scales(method: Method, delegates: list[Delegate]) -> Iterator[tuple[int, int]]:
    """Value indices of tables of codes and of their scales: rows of both, at the same ids, are multiplied in a
    delegate."""
    rows = {call.args[-1]: call.args[:2] for call in method.calls if call.operator == _EMBEDDING}
    # A cast of rows stands for the rows.
    rows |= {c.args[-1]: rows[c.args[0]] for c in method.calls if c.operator == _CAST and c.args[0] in rows}
    for call in (call for call in method.calls if not call.operator):
        given = frozenset(i for i, argument in enumerate(call.args) if argument in rows)
        for product in delegates[call.delegate].products(given):
            looked_up = [rows[call.args[i]] for i in sorted(product)]
            if len(looked_up) != 2 or looked_up[0][1] != looked_up[1][1]:
                continue
            codes, scale = sorted((table for table, _ in looked_up), key=lambda i: _dtype(method, i) not in _CODES)
            if _dtype(method, codes) in _CODES and _dtype(method, scale) in ("float32", "bfloat16"):
                yield codes, scale


def _dtype(method: Method, index: int) -> str:
    value = method.values.get(index)
    return value.dtype if isinstance(value, TensorValue) else ""


def _key(weight: StoredWeight) -> str:
    digest = hashlib.sha256()
    for array in (weight.codes, weight.scale, weight.values):
        digest.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
