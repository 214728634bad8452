"""How clustered weights stand in a program: a look-up table of levels, and the channel scale behind the product.

The Neural Engine wants a scale of channels after a linear map and not in its weight, says coremltools, whose own pass
moves it there; and so iOS 16, whose tables have no scale, takes the same records. Of the token table the rows and their
scales are gathered. Levels are -127 .. 127 over UNIT, so that products stay as far within float16 as with weights.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.records import Clustered
from mobilekit.errors import ArtifactError
from mobilekit.runtimes.mil.constants import look_up_table
from mobilekit.runtimes.mil.program import Function, Literal, Name, Operation

UNIT = 128.0
LOOK_UP = "constexpr_lut_to_dense"


def level_values(record: Clustered) -> NDArray[np.float32]:
    """The levels of a record's codes, float32 [rows, columns], in the program's unit (exact)."""
    return record.as_quantized().codes.astype(np.float32) / np.float32(UNIT)


def read_levels(operation: Operation) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
    """Codes and codebooks of a look-up table; raises ArtifactError for levels that no record has."""
    codes, levels = look_up_table(operation)
    whole = levels.astype(np.float32) * np.float32(UNIT)
    if not (np.abs(whole) <= 127).all() or (whole != np.rint(whole)).any():
        raise ArtifactError(f"{operation.name}: its levels are not whole steps of 1 / {UNIT:g}.")
    return codes, whole.astype(np.int8)


def row_scales(function: Function) -> dict[str, Literal]:
    """The scale of each row, in the program's unit, of every look-up table of a function by its name.

    Raises ArtifactError where a table is used without one, or with several.
    """
    readers = _Readers(function)
    found: dict[str, Literal] = {}
    for operation in function.operations:
        if operation.kind != LOOK_UP:
            continue
        scales = [readers.scale(operation.name, reader) for reader in readers.of(operation.name)]
        if not scales or any(not np.array_equal(s.value.ravel(), scales[0].value.ravel()) for s in scales):
            raise ArtifactError(f"{operation.name}: its rows have no scale, or several.")
        found[operation.name] = scales[0]
    return found


class _Readers:
    """Which operations of a function read a tensor, and what makes it."""

    def __init__(self, function: Function) -> None:
        self._made = {operation.name: operation for operation in function.operations}
        self._readers: dict[str, list[Operation]] = {}
        for operation in function.operations:
            for name in _names(operation):
                self._readers.setdefault(name, []).append(operation)
        for name in function.outputs:
            # An output is read as well, by none of those below.
            self._readers.setdefault(name, []).append(Operation("output", {}, ()))

    def of(self, name: str) -> list[Operation]:
        """Those that read the tensor `name`."""
        return self._readers.get(name, [])

    def scale(self, table: str, reader: Operation) -> Literal:
        """The scale that `reader`'s results of a table are multiplied with; raises ArtifactError if there is none."""
        products = self.of(reader.name)
        if len(products) == 1 and products[0].kind == "mul":
            (other,) = [name for name in _names(products[0]) if name != reader.name] or [""]
            factor = self._made.get(other)
            if reader.kind == "linear" and operand(reader, "weight") == table:
                if factor is not None and factor.kind == "const":
                    return factor.literal("val")
            elif reader.kind == "gather" and operand(reader, "x") == table and self._same_rows(reader, factor):
                assert factor is not None
                return self._made[operand(factor, "x")].literal("val")
        raise ArtifactError(f"{table}: {reader.kind} reads it, and its rows are not scaled after that.")

    def _same_rows(self, one: Operation, other: Operation | None) -> bool:
        """Whether `other` gathers rows of a constant at the same ids as `one`."""
        if other is None or other.kind != "gather" or self._ids(one) != self._ids(other):
            return False
        source = self._made.get(operand(other, "x"))
        return source is not None and source.kind == "const"

    def _ids(self, gather: Operation) -> str:
        """The tensor that a gather's indices come from, before it is cast."""
        name = operand(gather, "indices")
        for _ in range(len(self._made)):
            maker = self._made.get(name)
            if maker is None or maker.kind != "cast":
                break
            name = operand(maker, "x")
        return name


def _names(operation: Operation) -> Iterator[str]:
    for operands in operation.operands.values():
        yield from (operand.name for operand in operands if isinstance(operand, Name))


def operand(operation: Operation, parameter: str) -> str:
    """Name of the one tensor given for a parameter; empty where it is something else."""
    operands: tuple[object, ...] = operation.operands.get(parameter, ())
    return operands[0].name if len(operands) == 1 and isinstance(operands[0], Name) else ""
