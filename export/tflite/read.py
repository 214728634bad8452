"""What stands in a LiteRT file: its weights, inputs and metadata, from the bytes alone, without an engine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from numpy.typing import NDArray

from export.registry import StoredInput, StoredWeight
from mobilekit.compression.activations import Activation, Static
from mobilekit.compression.nibbles import unpack_nibbles
from mobilekit.errors import ArtifactError

METADATA_NAME = "mobilekit"
_FLOATS = {schema.TensorType.FLOAT32: np.float32, schema.TensorType.FLOAT16: np.float16}
_BITS = {schema.TensorType.INT8: 8, schema.TensorType.INT4: 4}
_TYPE_NAMES = {number: name.lower() for name, number in vars(schema.TensorType).items() if isinstance(number, int)}


@dataclass(frozen=True)
class _Constant:
    """A constant tensor and where its bytes lie in the file."""

    tensor: Any
    offset: int
    data: NDArray[np.uint8]


class _File:
    """An opened file."""

    def __init__(self, path: Path) -> None:
        try:
            self.raw = path.read_bytes()
        except OSError as error:
            raise ArtifactError(f"{path}: cannot be read ({error.strerror}).") from error
        if self.raw[4:8] != b"TFL3":
            raise ArtifactError(f"{path}: not a LiteRT file; export it again.")
        self.model = schema.Model.GetRootAs(self.raw, 0)

    def graphs(self) -> Iterator[Any]:
        """The graphs of the model."""
        return (self.model.Subgraphs(i) for i in range(self.model.SubgraphsLength()))

    def data(self, index: int) -> tuple[int, NDArray[np.uint8]]:
        """Offset and bytes of a buffer, whether it lies in the flatbuffer or behind it."""
        buffer = self.model.Buffers(index)
        # An offset of 1 stands for "not placed yet" and is no place.
        if buffer.Offset() > 1:
            return buffer.Offset(), np.frombuffer(self.raw, np.uint8, buffer.Size(), buffer.Offset())
        if buffer.DataIsNone():
            return 0, np.empty(0, np.uint8)
        return buffer._tab.Vector(buffer._tab.Offset(4)), buffer.DataAsNumpy()

    def constants(self, graph: Any) -> dict[int, _Constant]:
        """The constant tensors of a graph by their index."""
        made = {}
        for i in range(graph.TensorsLength()):
            offset, data = self.data(graph.Tensors(i).Buffer())
            if data.size:
                made[i] = _Constant(graph.Tensors(i), offset, data)
        return made

    def static(self, graph: Any) -> dict[int, frozenset[Static]]:
        """By the index of a weight, the fixed scales of what linear maps with it read and give."""
        found: dict[int, frozenset[Static]] = {}
        for i in range(graph.OperatorsLength()):
            operator = graph.Operators(i)
            code = self.model.OperatorCodes(operator.OpcodeIndex()).BuiltinCode()
            given, made = (graph.Tensors(operator.Inputs(0)), graph.Tensors(operator.Outputs(0)))
            if code != schema.BuiltinOperator.FULLY_CONNECTED or given.Type() != schema.TensorType.INT8:
                continue
            static = Static(_activation(given), _activation(made))
            found[operator.Inputs(1)] = found.get(operator.Inputs(1), frozenset()) | {static}
        return found

    def half_tables(self, graph: Any) -> set[int]:
        """Tensors of int16 that hold float16: tables whose gathered rows are reread as float16."""
        gathered, tables = {}, set()
        for i in range(graph.OperatorsLength()):
            operator = graph.Operators(i)
            code = self.model.OperatorCodes(operator.OpcodeIndex()).BuiltinCode()
            if code == schema.BuiltinOperator.GATHER:
                gathered[operator.Outputs(0)] = operator.Inputs(0)
            elif code == schema.BuiltinOperator.BITCAST:
                reread = graph.Tensors(operator.Outputs(0)).Type()
                if reread == schema.TensorType.FLOAT16 and operator.Inputs(0) in gathered:
                    tables.add(gathered[operator.Inputs(0)])
        return tables


def read_weights(path: Path) -> list[StoredWeight]:
    """All weights of a file, each once; `copies` counts the places where its bytes stand.

    Codes come with the scales that the file attaches to them; float tensors come as float32 or float16. Raises
    ArtifactError when the file is no LiteRT file or its scales do not fit its codes.
    """
    file = _File(path)
    found: dict[str, StoredWeight] = {}
    places: dict[str, set[int]] = {}
    for graph in file.graphs():
        half = file.half_tables(graph)
        static = file.static(graph)
        for index, constant in file.constants(graph).items():
            weight = _weight(path, constant, index in half)
            if weight is None:
                continue
            key = _key(weight)
            around = static.get(index, frozenset()) | (found[key].activations if key in found else frozenset())
            found[key] = replace(weight, activations=around)
            places.setdefault(key, set()).add(constant.offset)
    return [replace(weight, copies=len(places[key])) for key, weight in found.items()]


def read_inputs(path: Path) -> list[StoredInput]:
    """The inputs of every signature, as the file declares them."""
    model = _File(path).model
    made = []
    for i in range(model.SignatureDefsLength()):
        signature = model.SignatureDefs(i)
        graph = model.Subgraphs(signature.SubgraphIndex())
        entry = signature.SignatureKey().decode()
        for j in range(signature.InputsLength()):
            item = signature.Inputs(j)
            tensor = graph.Tensors(item.TensorIndex())
            made.append(StoredInput(entry, item.Name().decode(), _TYPE_NAMES[tensor.Type()], _shape(tensor)))
    return made


def read_metadata(path: Path) -> dict[str, str]:
    """The strings that the exporter stored in the file; empty when there are none."""
    return dict(json.loads(read_buffer(path, METADATA_NAME) or "{}"))


def read_buffer(path: Path, name: str) -> bytes | None:
    """The bytes of a metadata buffer, None where the file has none of that name."""
    file = _File(path)
    for i in range(file.model.MetadataLength()):
        entry = file.model.Metadata(i)
        if entry.Name() == name.encode():
            return file.data(entry.Buffer())[1].tobytes()
    return None


def _weight(path: Path, constant: _Constant, is_half: bool) -> StoredWeight | None:
    """The constant as a weight, or None for shapes, axes and single numbers."""
    tensor, shape = constant.tensor, _shape(constant.tensor)
    if not shape:
        return None
    kind = _FLOATS.get(tensor.Type(), np.float16 if is_half else None)
    if kind is not None:
        return StoredWeight(values=constant.data.view(kind).reshape(shape))
    quantization = tensor.Quantization()
    scales = 0 if quantization is None else quantization.ScaleLength()
    if tensor.Type() not in _BITS and not (tensor.Type() == schema.TensorType.INT32 and scales):
        return None
    if scales != shape[0] or quantization.QuantizedDimension() != 0 or quantization.ZeroPointAsNumpy().any():
        raise ArtifactError(f"{path}: quantized tensor {tensor.Name().decode()!r} has no symmetric scale for each row.")
    scale = quantization.ScaleAsNumpy().astype(np.float32).reshape(-1, 1)
    if tensor.Type() == schema.TensorType.INT32:
        return StoredWeight(codes=constant.data.view(np.int32), scale=scale, bits=32)
    bits = _BITS[tensor.Type()]
    codes = unpack_nibbles(constant.data, int(np.prod(shape))) if bits == 4 else constant.data.view(np.int8)
    return StoredWeight(codes=codes.reshape(shape), scale=scale, bits=bits)


def _activation(tensor: Any) -> Activation:
    quantization = tensor.Quantization()
    if quantization is None or quantization.ScaleLength() != 1 or quantization.ZeroPointLength() != 1:
        raise ValueError(f"the activation {tensor.Name().decode()!r} has no scale, or more than one")
    return Activation(float(quantization.Scale(0)), int(quantization.ZeroPoint(0)))


def _key(weight: StoredWeight) -> str:
    digest = hashlib.sha256()
    for array in (weight.codes, weight.scale, weight.values):
        if array is not None:
            digest.update(f"{array.dtype} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _shape(tensor: Any) -> tuple[int, ...]:
    return tuple(tensor.Shape(i) for i in range(tensor.ShapeLength()))
