"""A LiteRT flatbuffer, built tensor by tensor: constants stored once, bytes the same every time."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from numpy.typing import NDArray

from mobilekit.compression.activations import Activation
from mobilekit.compression.nibbles import pack_nibbles
from mobilekit.compression.records import Quantized

Array = NDArray[np.generic]
_IDENTIFIER = b"TFL3"
_SCHEMA_VERSION = 3
# The kernels read tensors in place, 16 bytes at a time.
_ALIGNMENT = 16

TYPES = {
    np.dtype(np.float32): schema.TensorType.FLOAT32,
    np.dtype(np.float16): schema.TensorType.FLOAT16,
    np.dtype(np.int32): schema.TensorType.INT32,
    np.dtype(np.int16): schema.TensorType.INT16,
    np.dtype(np.int8): schema.TensorType.INT8,
}


@dataclass(frozen=True)
class Value:
    """A tensor of one graph: its index there, its shape and its schema type."""

    index: int
    shape: tuple[int, ...]
    type: int


class ModelBuilder:
    """A model of several graphs, each with one signature, over one pool of constant buffers."""

    def __init__(self) -> None:
        # By convention the first buffer is empty: tensors that are computed point to it.
        self._buffers: list[Array | None] = [None]
        self._buffer_of: dict[bytes, int] = {}
        self._codes: dict[tuple[int, int], int] = {}
        self._graphs: list[GraphBuilder] = []
        self._metadata: dict[str, int] = {}

    def graph(self, name: str) -> GraphBuilder:
        """A new graph, entered by the signature `name`."""
        self._graphs.append(GraphBuilder(self, name))
        return self._graphs[-1]

    def buffer(self, data: Array) -> int:
        """Index of the buffer with these bytes; the same bytes are stored once."""
        raw = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
        digest = hashlib.sha256(raw.data).digest()
        if digest not in self._buffer_of:
            self._buffer_of[digest] = len(self._buffers)
            self._buffers.append(raw)
        return self._buffer_of[digest]

    def opcode(self, operator: int, version: int) -> int:
        """Index of an operator at a version."""
        return self._codes.setdefault((operator, version), len(self._codes))

    def metadata(self, name: str, content: bytes) -> None:
        """Attach a metadata buffer."""
        self._metadata[name] = self.buffer(np.frombuffer(content, np.uint8))

    def serialize(self) -> bytes:
        """The file's bytes."""
        model = schema.ModelT()
        model.version, model.description = _SCHEMA_VERSION, "mobilekit"
        model.operatorCodes = [_operator_code(*key) for key in self._codes]
        model.subgraphs = [graph.table() for graph in self._graphs]
        model.signatureDefs = [graph.signature(i) for i, graph in enumerate(self._graphs)]
        model.buffers = [schema.BufferT(data=data) for data in self._buffers]
        model.metadata = [schema.MetadataT(name=name, buffer=index) for name, index in self._metadata.items()]
        constants = sum(data.nbytes for data in self._buffers if data is not None)
        writer = _SharingBuilder(constants + constants // 8 + (1 << 16))
        writer.Finish(model.Pack(writer), file_identifier=_IDENTIFIER)
        return bytes(writer.Output())


class GraphBuilder:
    """One graph: inputs, constants and operators in the order in which they run."""

    def __init__(self, model: ModelBuilder, name: str) -> None:
        self._model, self.name = model, name
        self._tensors: list[schema.TensorT] = []
        self._operators: list[schema.OperatorT] = []
        self._inputs: dict[str, Value] = {}
        self._outputs: dict[str, Value] = {}
        self._constants: dict[tuple[object, ...], Value] = {}

    def input(self, name: str, shape: tuple[int, ...], kind: int) -> Value:
        """A new input of the graph."""
        self._inputs[name] = self._tensor(shape, kind, name)
        return self._inputs[name]

    def output(self, name: str, value: Value) -> None:
        """Declare a tensor as an output of the graph."""
        self._tensors[value.index].name = name
        self._outputs[name] = value

    def constant(self, data: Array, name: str = "") -> Value:
        """A constant tensor of the array's own type."""
        return self._constant(data, TYPES[data.dtype], data.shape, name)

    def quantized(self, record: Quantized, name: str) -> Value:
        """A constant tensor of int8 or int4 codes with a scale for each row, zero points 0."""
        kind = schema.TensorType.INT4 if record.bits == 4 else schema.TensorType.INT8
        codes = pack_nibbles(record.codes) if record.bits == 4 else record.codes
        value = self._constant(codes, kind, record.shape, name, record.scale.tobytes())
        # The format demands a zero point for each scale, also where all are 0.
        self._attach(value, record.scale.reshape(-1), np.zeros(record.scale.size, np.int64))
        return value

    def integers(self, codes: NDArray[np.int32], scale: NDArray[np.float32], name: str) -> Value:
        """A constant bias in whole numbers, and what each is worth."""
        value = self._constant(codes, schema.TensorType.INT32, codes.shape, name, scale.tobytes())
        self._attach(value, scale, np.zeros(scale.size, np.int64))
        return value

    def rounded(self, value: Value, activation: Activation) -> Value:
        """The same int8 tensor, which has been computed, with the one scale of its activation."""
        zero_point = np.array([activation.zero_point], np.int64)
        self._attach(value, np.array([activation.scale], np.float32), zero_point)
        return value

    def operator(
        self,
        operator: str,
        inputs: Sequence[Value | None],
        shape: tuple[int, ...],
        kind: int = schema.TensorType.FLOAT32,
        version: int = 1,
        **options: Any,
    ) -> Value:
        """Append an operator, by its name in `BuiltinOperator`, and give its output; None is an absent input."""
        made = schema.OperatorT()
        made.opcodeIndex = self._model.opcode(getattr(schema.BuiltinOperator, operator), version)
        made.inputs = np.array([-1 if value is None else value.index for value in inputs], np.int32)
        name = _OPTIONS.get(operator)
        if name is not None:
            made.builtinOptionsType = getattr(schema.BuiltinOptions, name)
            made.builtinOptions = getattr(schema, f"{name}T")()
            for option, setting in options.items():
                setattr(made.builtinOptions, option, setting)
        output = self._tensor(shape, kind)
        made.outputs = np.array([output.index], np.int32)
        self._operators.append(made)
        return output

    def table(self) -> schema.SubGraphT:
        """The graph as a schema object."""
        graph = schema.SubGraphT(name=self.name, tensors=self._tensors, operators=self._operators)
        graph.inputs = np.array([value.index for value in self._inputs.values()], np.int32)
        graph.outputs = np.array([value.index for value in self._outputs.values()], np.int32)
        return graph

    def signature(self, index: int) -> schema.SignatureDefT:
        """The signature that enters this graph, which is the model's graph number `index`."""
        made = schema.SignatureDefT(signatureKey=self.name, subgraphIndex=index)
        made.inputs = [schema.TensorMapT(name=n, tensorIndex=v.index) for n, v in self._inputs.items()]
        made.outputs = [schema.TensorMapT(name=n, tensorIndex=v.index) for n, v in self._outputs.items()]
        return made

    def _attach(self, value: Value, scale: NDArray[np.float32], zero_point: NDArray[np.int64]) -> None:
        tensor = self._tensors[value.index]
        if tensor.quantization is None:
            tensor.quantization = schema.QuantizationParametersT()
            tensor.quantization.scale, tensor.quantization.zeroPoint = scale, zero_point

    def _constant(self, data: Array, kind: int, shape: tuple[int, ...], name: str, scale: bytes = b"") -> Value:
        buffer = self._model.buffer(data)
        key = (buffer, kind, shape, scale)
        if key not in self._constants:
            self._constants[key] = self._tensor(shape, kind, name)
            self._tensors[self._constants[key].index].buffer = buffer
        return self._constants[key]

    def _tensor(self, shape: tuple[int, ...], kind: int, name: str = "") -> Value:
        tensor = schema.TensorT(shape=np.array(shape, np.int32), type=kind, buffer=0, name=name, hasRank=True)
        self._tensors.append(tensor)
        return Value(len(self._tensors) - 1, shape, kind)


# Operators that have options, also where all keep their defaults.
_OPTIONS = {
    "ADD": "AddOptions",
    "BATCH_MATMUL": "BatchMatMulOptions",
    "CAST": "CastOptions",
    "DEQUANTIZE": "DequantizeOptions",
    "DIV": "DivOptions",
    "FULLY_CONNECTED": "FullyConnectedOptions",
    "GATHER": "GatherOptions",
    "GELU": "GeluOptions",
    "MAXIMUM": "MaximumMinimumOptions",
    "MEAN": "ReducerOptions",
    "MUL": "MulOptions",
    "QUANTIZE": "QuantizeOptions",
    "RESHAPE": "ReshapeOptions",
    "SLICE": "SliceOptions",
    "SOFTMAX": "SoftmaxOptions",
    "SUB": "SubOptions",
    "SUM": "ReducerOptions",
    "TRANSPOSE": "TransposeOptions",
}


def _operator_code(operator: int, version: int) -> schema.OperatorCodeT:
    # Readers of before 2020 know one byte; they find a placeholder there for newer operators.
    return schema.OperatorCodeT(builtinCode=operator, deprecatedBuiltinCode=min(operator, 127), version=version)


class _SharingBuilder(flatbuffers.Builder):
    """Writes equal vectors once, so that a second graph repeats neither scales nor zero points."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._written: dict[tuple[str, bytes], int] = {}

    def CreateNumpyVector(self, x: Array) -> int:
        """Write a vector, or give the offset of an equal one; bytes are aligned for the kernels."""
        payload = np.ascontiguousarray(x).tobytes()
        key = (x.dtype.str, hashlib.sha256(payload).digest())
        if key not in self._written:
            self.StartVector(x.itemsize, x.size, _ALIGNMENT if x.dtype == np.uint8 else x.itemsize)
            start = self.Head() - len(payload)
            self.head = start
            self.Bytes[start : start + len(payload)] = payload
            self._written[key] = self.EndVector()
        return self._written[key]
