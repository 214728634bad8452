"""Read weights and inputs back out of an `.mlpackage`, from its bytes alone."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from export.coreml.levels import LOOK_UP, UNIT, operand, read_levels, row_scales
from export.registry import StoredInput, StoredWeight
from mobilekit.compression.activations import Activation, Static
from mobilekit.compression.bitfields import pack_bits
from mobilekit.compression.nibbles import pack_nibbles
from mobilekit.errors import ArtifactError
from mobilekit.runtimes.mil.package import Package, input_shapes, open_package
from mobilekit.runtimes.mil.program import Function, Literal, Operation, read_functions

# Where a compressed constant keeps its codes.
_CODES = {"constexpr_affine_dequantize": "quantized_data", "constexpr_blockwise_shift_scale": "data"}
_FLOATS = ("float16", "float32")


def read_weights(path: Path) -> list[StoredWeight]:
    """Every stored weight of all functions, each once: compressed constants, and float constants of rank >= 1.

    copies counts the blobs with the same bytes in the weight files, used or not; a value of less than ten
    elements stands in the graph of each function and counts as one. Raises ArtifactError for a damaged package.
    """
    package = open_package(path)
    functions = read_functions(package)
    copies = _Copies(package)
    stored: dict[tuple[object, ...], StoredWeight] = {}
    for function in functions.values():
        scales, static = row_scales(function), _static(function)
        for operation in function.operations:
            found = _stored(operation, copies, scales)
            if found is not None:
                key, weight = found
                known = stored.setdefault(key, weight)
                around = known.activations | static.get(operation.name, set())
                stored[key] = replace(known, activations=around)
    return list(stored.values())


def read_inputs(path: Path) -> list[StoredInput]:
    """Every input of every function, once for each shape that it takes."""
    from mobilekit.runtimes.mil.proto import feature_types_pb2

    types = feature_types_pb2().ArrayFeatureType.ArrayDataType
    return [
        StoredInput(entry, feature.name, types.Name(feature.type.multiArrayType.dataType).lower(), shape)
        for entry, function in open_package(path).functions.items()
        for feature in function.input
        for shape in input_shapes(feature)
    ]


def _static(function: Function) -> dict[str, set[Static]]:
    """By the name of a constant, the fixed scales around linear maps whose weight it is."""
    makers = {operation.name: operation for operation in function.operations}
    readers = {operand(o, "input"): o for o in function.operations if o.kind == "quantize"}
    found: dict[str, set[Static]] = {}
    for operation in function.operations:
        given = makers.get(operand(operation, "x")) if operation.kind == "linear" else None
        if given is None or given.kind != "dequantize":
            continue
        codes, made = makers.get(operand(given, "input")), readers.get(operation.name)
        if codes is None or made is None or _activation(codes, makers) != _activation(given, makers):
            raise ArtifactError(f"{operation.name}: activations around it are rounded in a way that is not read here.")
        static = Static(_activation(given, makers), _activation(made, makers))
        found.setdefault(operand(operation, "weight"), set()).add(static)
    return found


def _activation(operation: Operation, makers: Mapping[str, Operation]) -> Activation:
    def value(parameter: str) -> float:
        maker = makers.get(operand(operation, parameter))
        literal = operation.literal(parameter) if maker is None else maker.literal("val")
        if literal.value.size != 1:
            raise ArtifactError(f"{operation.name}: has not one {parameter} for all of its tensor.")
        return float(literal.value.item())

    # A zero point of 0 is left out.
    return Activation(value("scale"), int(value("zero_point")) if "zero_point" in operation.operands else 0)


class _Copies:
    """How often each value's bytes, as they are stored, are in the package's weight files."""

    def __init__(self, package: Package) -> None:
        files = sorted((package.folder / "weights").glob("*.bin"))
        blobs = (blob for file in files for blob in package.weights(f"@model_path/weights/{file.name}").blobs())
        self._counts = Counter(_digest(blob.dtype, blob.data.tobytes()) for blob in blobs)

    def of(self, literal: Literal) -> tuple[str, int]:
        """The value's digest and its number of copies."""
        dtype, content = str(literal.value.dtype), literal.value
        if literal.bits < 8:
            dtype = f"{dtype.removesuffix('8')}{literal.bits}"
            content = pack_nibbles(content) if dtype == "int4" else pack_bits(content, literal.bits)
        digest = _digest(dtype, content.tobytes())
        return digest, 1 if literal.offset is None else self._counts[digest]


def _digest(dtype: str, content: bytes) -> str:
    return hashlib.sha256(dtype.encode() + content).hexdigest()


def _stored(
    operation: Operation, copies: _Copies, scales: Mapping[str, Literal]
) -> tuple[tuple[object, ...], StoredWeight] | None:
    """What an operation stores, with a key that is equal for equal weights; None if it stores no weight.

    scales: of the rows of look-up tables, by the table's name.
    """
    if operation.kind == LOOK_UP:
        return _clustered(operation, copies, scales[operation.name])
    if operation.kind in _CODES:
        codes, scale = operation.literal(_CODES[operation.kind]), operation.literal("scale")
        _refuse_asymmetric(operation)
        rows = len(codes.value)
        if codes.value.dtype != np.int8 or codes.value.ndim != 2 or scale.value.shape[:1] != (rows,):
            raise ArtifactError(f"{operation.name}: not an integer matrix with scales for each row.")
        digest, count = copies.of(codes)
        weight = StoredWeight(
            codes=codes.value.copy(),
            scale=scale.value.astype(np.float32).reshape(rows, -1),
            copies=count,
            bits=codes.bits,
        )
        return (digest, copies.of(scale)[0], codes.value.shape), weight
    if operation.kind == "const":
        value = operation.literal("val")
        if str(value.value.dtype) in _FLOATS and value.value.ndim:
            digest, count = copies.of(value)
            return (digest, value.value.shape), StoredWeight(values=value.value.copy(), copies=count)
    return None


def _clustered(operation: Operation, copies: _Copies, scale: Literal) -> tuple[tuple[object, ...], StoredWeight]:
    codes, codebook = read_levels(operation)
    rows = scale.value.astype(np.float32).reshape(-1, 1) / np.float32(UNIT)
    if len(rows) != len(codes):
        raise ArtifactError(f"{operation.name}: {len(codes)} rows have {len(rows)} scales.")
    digest, count = copies.of(operation.literal("indices"))
    bits = codebook.shape[1].bit_length() - 1
    weight = StoredWeight(codes=codes.copy(), scale=rows, copies=count, bits=bits, codebook=codebook)
    return (digest, codebook.tobytes(), rows.tobytes(), codes.shape), weight


def _refuse_asymmetric(operation: Operation) -> None:
    for parameter in ("zero_point", "offset"):
        if parameter in operation.operands and operation.literal(parameter).value.any():
            raise ArtifactError(f"{operation.name}: has a {parameter}; mobilekit's codes are symmetric.")
    if "axis" in operation.operands and int(operation.literal("axis").value) != 0:
        raise ArtifactError(f"{operation.name}: its scale is not one a row.")
