"""A package's program as plain values: functions of operations, whose operands are names or literals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import ArtifactError
from mobilekit.runtimes.mil.package import Package
from mobilekit.runtimes.mil.proto import mil_pb2
from mobilekit.runtimes.mil.weights import BITS, WeightFile

# Name of a type in MIL.proto -> the name that MIL's own operations and numpy give it.
_TYPES = {
    "BOOL": "bool",
    "STRING": "str",
    "FLOAT16": "float16",
    "FLOAT32": "float32",
    "INT4": "int4",
    "UINT1": "uint1",
    "UINT2": "uint2",
    "UINT3": "uint3",
    "UINT4": "uint4",
    "UINT6": "uint6",
    "INT8": "int8",
    "INT16": "int16",
    "INT32": "int32",
    "UINT8": "uint8",
    "UINT16": "uint16",
    "UINT32": "uint32",
}


@dataclass(frozen=True)
class TensorType:
    """Declared type of a tensor: numpy's name of the element type, and the shape (None: not known beforehand)."""

    dtype: str
    shape: tuple[int | None, ...]


@dataclass(frozen=True)
class Literal:
    """A value that stands in the program or in the weight file (then offset is that of its record).

    bits: of each element where that is less than a byte; the value has a byte for each.
    """

    value: NDArray[Any]
    offset: int | None = None
    bits: int = 8


@dataclass(frozen=True)
class Name:
    """A tensor made by an earlier operation, or an input."""

    name: str


Operand = Literal | Name


@dataclass(frozen=True)
class Output:
    """A tensor that an operation makes."""

    name: str
    type: TensorType


@dataclass(frozen=True)
class Operation:
    """An operation: its kind, its operands by parameter (most have one, `concat`'s values have many), its outputs."""

    kind: str
    operands: Mapping[str, tuple[Operand, ...]]
    outputs: tuple[Output, ...]

    @property
    def name(self) -> str:
        """Name of the first output."""
        return self.outputs[0].name if self.outputs else self.kind

    def literal(self, parameter: str) -> Literal:
        """The one literal given for `parameter`; raises ArtifactError if it is something else."""
        operands = self.operands.get(parameter, ())
        if len(operands) != 1 or not isinstance(operands[0], Literal):
            raise ArtifactError(f"operation {self.name} ({self.kind}): '{parameter}' is not a stored value.")
        return operands[0]


@dataclass(frozen=True)
class Function:
    """A function: its inputs, its operations in order, the names of its outputs."""

    inputs: tuple[Output, ...]
    operations: tuple[Operation, ...]
    outputs: tuple[str, ...]


def read_functions(package: Package) -> dict[str, Function]:
    """Every function of the package's program by name; raises ArtifactError on what mobilekit doesn't read."""
    reader = _Reader(package)
    return {name: reader.function(function) for name, function in sorted(package.model.mlProgram.functions.items())}


class _Reader:
    def __init__(self, package: Package) -> None:
        self.package = package
        self._files: dict[str, WeightFile] = {}

    def function(self, message: Any) -> Function:
        block = message.block_specializations[message.opset]
        inputs = tuple(Output(item.name, _tensor_type(item.type)) for item in message.inputs)
        return Function(inputs, tuple(self.operation(o) for o in block.operations), tuple(block.outputs))

    def operation(self, message: Any) -> Operation:
        if message.blocks:
            raise ArtifactError(f"operation {message.type}: nested blocks are not read by mobilekit.")
        operands: dict[str, tuple[Operand, ...]] = {}
        # Up to iOS 17 compressed constants keep their values as attributes, afterwards as inputs.
        for key, value in message.attributes.items():
            if key != "name":
                operands[key] = (self.literal(value),)
        for key, argument in message.inputs.items():
            operands[key] = tuple(
                Name(binding.name) if binding.WhichOneof("binding") == "name" else self.literal(binding.value)
                for binding in argument.arguments
            )
        outputs = tuple(Output(item.name, _tensor_type(item.type)) for item in message.outputs)
        return Operation(message.type, operands, outputs)

    def literal(self, message: Any) -> Literal:
        declared = _tensor_type(message.type)
        shape = tuple(size or 0 for size in declared.shape)
        if message.WhichOneof("value") == "blobFileValue":
            place = message.blobFileValue
            blob = self._file(place.fileName).blob(place.offset)
            if blob.dtype != declared.dtype:
                raise ArtifactError(f"the blob at {place.offset} is {blob.dtype}, declared as {declared.dtype}.")
            return Literal(_shaped(blob.values(), shape), place.offset, BITS.get(blob.dtype, 8))
        return Literal(_shaped(_immediate(message.immediateValue.tensor, declared.dtype), shape))

    def _file(self, name: str) -> WeightFile:
        if name not in self._files:
            self._files[name] = self.package.weights(name)
        return self._files[name]


def _tensor_type(message: Any) -> TensorType:
    if message.WhichOneof("type") != "tensorType":
        raise ArtifactError(f"a value of type {message.WhichOneof('type')} is not read by mobilekit.")
    tensor = message.tensorType
    name = mil_pb2().DataType.Name(tensor.dataType)
    if name not in _TYPES:
        raise ArtifactError(f"a tensor of type {name} is not read by mobilekit.")
    shape = (d.constant.size if d.WhichOneof("dimension") == "constant" else None for d in tensor.dimensions)
    return TensorType(_TYPES[name], tuple(shape))


def _immediate(tensor: Any, dtype: str) -> NDArray[Any]:
    """The elements of a value that stands in the protobuf: numbers by kind, small types as bytes."""
    kind = tensor.WhichOneof("value")
    if dtype in BITS:
        raise ArtifactError(f"a value of type {dtype} outside of the weight file is not read by mobilekit.")
    if kind is None:
        return np.empty(0, dtype=dtype)
    if kind == "bytes":
        return np.frombuffer(tensor.bytes.values, dtype=dtype)
    return np.array(getattr(tensor, kind).values, dtype=dtype)


def _shaped(values: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    size = int(np.prod(shape, dtype=np.int64))
    if values.size != size:
        raise ArtifactError(f"a stored value has {values.size} elements, its type {list(shape)} says {size}.")
    return values.reshape(shape)
