"""The MIL graph pass that writes records: constants, found by the hash of their bytes, become compressed ones.

Only for the worker process: importing this module imports coremltools.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from coremltools.converters.mil.mil import Builder as mb
from coremltools.converters.mil.mil.passes.graph_pass import AbstractGraphPass
from coremltools.converters.mil.mil.passes.helper import block_context_manager
from coremltools.converters.mil.mil.passes.pass_registry import register_pass
from coremltools.converters.mil.mil.types.type_int import (
    np_int4_dtype,
    np_uint1_dtype,
    np_uint2_dtype,
    np_uint3_dtype,
    np_uint4_dtype,
    np_uint6_dtype,
)
from numpy.typing import NDArray

from export.coreml.levels import UNIT, level_values
from mobilekit.compression.bitfields import pack_bits
from mobilekit.compression.compressed import POSITIONS, CompressedModel
from mobilekit.compression.records import Clustered, Dense, Quantized
from mobilekit.errors import CompressionError, EngineError

PASS = "mobilekit::write_records"
# coremltools' types of codes by their bits.
_INDICES = {1: np_uint1_dtype, 2: np_uint2_dtype, 3: np_uint3_dtype, 4: np_uint4_dtype, 6: np_uint6_dtype}
_INDICES |= {8: np.dtype(np.uint8)}


def _key(values: NDArray[Any]) -> str:
    digest = hashlib.sha256(f"{values.dtype} {values.shape} ".encode())
    digest.update(np.ascontiguousarray(values).data)
    return digest.hexdigest()


@dataclass
class RecordTable:
    """The matrices of a model by the hash of what stands for them in the graph: their decoded values, or levels alone.

    blockwise: whether the system knows constexpr_blockwise_shift_scale (iOS 18). found: keys met so far.
    """

    names: dict[str, str]
    compressed: dict[str, Quantized | Clustered]
    blockwise: bool
    found: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, model: CompressedModel, half: bool, blockwise: bool, positions: int) -> RecordTable:
        """The table for a graph in float16 (`half`) or float32 that holds `positions` rows of the position table.

        Raises CompressionError when two records decode to the same values from other codes, because a graph's
        constants could not tell them apart.
        """
        names: dict[str, str] = {}
        compressed: dict[str, Quantized | Clustered] = {}
        for name, record in model.records.items():
            if len(record.shape) != 2:
                continue
            values = model.position_rows(positions) if name == POSITIONS else _values(record)
            key = _key(values.astype(np.float16 if half else np.float32))
            if not isinstance(record, Dense):
                _require_form(name, record, blockwise)
                twin = compressed.setdefault(key, record)
                if _written(twin) != _written(record):
                    raise CompressionError(
                        f"{name} and {names[key]} decode to the same values from other codes, which a Core ML "
                        "file cannot keep apart; compress one of them otherwise."
                    )
            names.setdefault(key, name)
        return cls(names, compressed, blockwise)

    def look_up(self, values: NDArray[Any]) -> Quantized | Clustered | None:
        """The compressed record that `values` stand for, if there is one; notes that the values were met."""
        key = _key(values)
        if key in self.names:
            self.found.add(key)
        return self.compressed.get(key)

    def check_complete(self) -> None:
        """Raise EngineError if a matrix was not met in the graph: the converter has folded something into it."""
        missing = sorted(name for key, name in self.names.items() if key not in self.found)
        if missing:
            raise EngineError(
                f"Core ML's converter changed {len(missing)} weights before they could be written as records: "
                f"{', '.join(missing[:5])}. This is a bug of mobilekit or a version of coremltools it does not know."
            )


@register_pass(namespace="mobilekit")
class write_records(AbstractGraphPass):
    """Replace every constant that `table` knows by the compressed constant of its record."""

    table: RecordTable | None = None

    def apply(self, prog: Any) -> None:
        """Work through all functions of a MIL program."""
        for function in prog.functions.values():
            self._block(function)

    @block_context_manager
    def _block(self, block: Any) -> None:
        assert self.table is not None
        for operation in list(block.operations):
            if operation.op_type != "const":
                continue
            old = operation.outputs[0]
            if not isinstance(old.val, np.ndarray) or old.val.ndim != 2:
                continue
            record = self.table.look_up(old.val)
            if record is None:
                continue
            new = _compressed(record, self.table.blockwise, operation)
            block.replace_uses_of_var_after_op(anchor_op=operation, old_var=old, new_var=new, no_check_var_types=True)
            block.remove_ops([operation])


def _values(record: Dense | Quantized | Clustered) -> NDArray[np.float32]:
    """What stands in the graph for a record."""
    return level_values(record) if isinstance(record, Clustered) else record.decode()


def _written(record: Quantized | Clustered) -> str:
    """The same for records that are written alike; a clustered one's scale is a constant of its own."""
    if not isinstance(record, Clustered):
        return record.fingerprint()
    return replace(record, scale=np.ones_like(record.scale)).fingerprint()


def _require_form(name: str, record: Quantized | Clustered, blockwise: bool) -> None:
    if isinstance(record, Clustered):
        _require_table(name, record, blockwise)
        return
    if record.bits not in ((4, 8) if blockwise else (8,)) or (record.groups > 1 and not blockwise):
        form = f"{record.bits}-bit codes with {record.groups} scales a row"
        known = "4 or 8 bits" if blockwise else "before iOS 18 only 8 bits, with one scale"
        raise EngineError(f"coreml: {name} has {form}; this exporter writes {known}.")


def _require_table(name: str, record: Clustered, blockwise: bool) -> None:
    if record.outliers is not None:
        raise EngineError(f"coreml: {name} has outliers kept apart, which a look-up table cannot hold.")
    if record.bits not in _INDICES or (not blockwise and (record.groups > 1 or record.bits == 3)):
        form = f"{record.bits}-bit codes with {record.groups} codebooks"
        known = "1, 2, 3, 4, 6 or 8 bits" if blockwise else "before iOS 18 only 1, 2, 4, 6 or 8 bits, with one codebook"
        raise EngineError(f"coreml: {name} has {form}; this exporter writes {known}.")
    if float(record.scale.max(initial=0)) * UNIT > np.finfo(np.float16).max:
        raise EngineError(
            f"coreml: {name} has weights up to {float(record.scale.max()) * 127:g}, too large for float16."
        )


def _compressed(record: Quantized | Clustered, blockwise: bool, before: Any) -> Any:
    if isinstance(record, Clustered):
        return _looked_up(record, blockwise, before)
    scale = record.scale.astype(np.float16)
    name = f"{before.name}_record"
    if blockwise:
        codes = record.codes.astype(np_int4_dtype) if record.bits == 4 else record.codes
        return mb.constexpr_blockwise_shift_scale(data=codes, scale=scale, before_op=before, name=name)
    return mb.constexpr_affine_dequantize(
        quantized_data=record.codes,
        zero_point=np.int8(0),
        scale=scale.reshape(-1),
        axis=np.int32(0),
        before_op=before,
        name=name,
    )


def _looked_up(record: Clustered, blockwise: bool, before: Any) -> Any:
    table = (record.codebook.astype(np.float32) / np.float32(UNIT)).astype(before.outputs[0].val.dtype)
    name = f"{before.name}_record"
    if blockwise:
        indices, table = record.codes.astype(_INDICES[record.bits]), table.reshape(record.groups, 1, -1, 1)
        return mb.constexpr_lut_to_dense(indices=indices, lut=table, before_op=before, name=name)
    return mb.constexpr_lut_to_dense(
        indices=pack_bits(record.codes, record.bits),
        lut=table.reshape(-1),
        shape=np.array(record.shape, np.uint32),
        before_op=before,
        name=name,
    )
