"""Evaluate a function of a package op by op, every tensor rounded to its declared type.

A float16 tensor is held as float32 whose values float16 can hold: an operation computes in float32 and its result
is rounded to float16 once, so a sum that leaves float16's range becomes inf here as it may on the phone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import EngineError
from mobilekit.runtimes.mil import constants
from mobilekit.runtimes.mil.ops.table import Kernel, kernels
from mobilekit.runtimes.mil.program import Function, Literal, Name, Operand, Operation, Output, TensorType

Array = NDArray[Any]
Key = tuple[Any, ...]
# Parameters that take a list of tensors.
_LISTS = frozenset({"values"})


class Constants:
    """Constants as float32 (or as they are), decoded once for all functions that share their bytes."""

    def __init__(self) -> None:
        self._decoded: dict[Key, Array] = {}

    def of(self, operation: Operation) -> Array:
        """The value of a `const` or `constexpr_*` operation."""
        key = self._key(operation)
        if key not in self._decoded:
            plain = operation.kind == "const"
            value = operation.literal("val").value if plain else constants.decode(operation)
            self._decoded[key] = widened(value)
        return self._decoded[key]

    def _key(self, operation: Operation) -> Key:
        parts: list[Any] = [operation.kind]
        for parameter in sorted(operation.operands):
            literal = operation.literal(parameter)
            place = literal.value.tobytes() if literal.offset is None else literal.offset
            parts.append((parameter, str(literal.value.dtype), literal.value.shape, place))
        return tuple(parts)


def widened(value: Array) -> Array:
    """float16 as float32, which holds it exactly; everything else as it is."""
    return value.astype(np.float32) if value.dtype == np.float16 else value


def rounded(value: Array, declared: TensorType) -> Array:
    """`value` as a tensor of the declared type holds it; float16 stays in a float32 array."""
    if declared.dtype == "float16":
        return value.astype(np.float16).astype(np.float32)
    return value.astype(declared.dtype, copy=False)


@dataclass(frozen=True)
class _Step:
    kernel: Kernel
    operands: Mapping[str, tuple[Operand, ...]]
    output: Output
    kind: str


class Interpreter:
    """One function, ready to run: its constants are decoded and its operations known."""

    def __init__(self, function: Function, shared: Constants) -> None:
        self.function = function
        self._constants: dict[str, Array] = {}
        self._steps: list[_Step] = []
        for operation in function.operations:
            if operation.kind == "const" or operation.kind.startswith(constants.PREFIX):
                self._constants[operation.name] = shared.of(operation)
            else:
                self._steps.append(_step(operation))

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs by name; raises EngineError where a result isn't what the program declares."""
        tensors = dict(self._constants)
        for declared in self.function.inputs:
            if declared.name not in inputs:
                raise EngineError(f"the input '{declared.name}' is missing.")
            tensors[declared.name] = _checked(inputs[declared.name], declared)
        with np.errstate(all="ignore"):
            for step in self._steps:
                tensors[step.output.name] = _run(step, tensors)
        return {name: tensors[name] for name in self.function.outputs}


def _step(operation: Operation) -> _Step:
    known = kernels().get(operation.kind)
    if known is None:
        raise EngineError(
            f"operation {operation.name}: '{operation.kind}' is unknown to the Core ML reference runtime; "
            f"known: {', '.join(kernels())}."
        )
    strange = sorted(set(operation.operands) - known.parameters)
    if strange or len(operation.outputs) != 1:
        what = f"parameter '{strange[0]}'" if strange else f"{len(operation.outputs)} outputs"
        raise EngineError(f"operation {operation.name} ({operation.kind}): {what} unknown to the reference runtime.")
    return _Step(known, operation.operands, operation.outputs[0], operation.kind)


def _run(step: _Step, tensors: Mapping[str, Array]) -> Array:
    arguments: dict[str, Any] = {}
    for parameter, operands in step.operands.items():
        values = tuple(_value(operand, tensors) for operand in operands)
        arguments[parameter] = values if parameter in _LISTS else values[0]
    result = step.kernel.compute(**arguments)
    if not step.kernel.moves:
        result = rounded(result, step.output.type)
    return _checked_shape(result, step.output, step.kind)


def _value(operand: Operand, tensors: Mapping[str, Array]) -> Array:
    if isinstance(operand, Literal):
        return widened(operand.value)
    assert isinstance(operand, Name)
    return tensors[operand.name]


def _checked(value: Array, declared: Output) -> Array:
    if str(value.dtype) != declared.type.dtype:
        raise EngineError(f"the input '{declared.name}' is {value.dtype}; it has to be {declared.type.dtype}.")
    return _checked_shape(value, declared, "input")


def _checked_shape(value: Array, declared: Output, kind: str) -> Array:
    sizes = declared.type.shape
    if len(sizes) != value.ndim or any(a is not None and a != b for a, b in zip(sizes, value.shape, strict=True)):
        raise EngineError(f"{kind} {declared.name}: shape {list(value.shape)}, declared {list(sizes)}.")
    return value
