"""The MIL graph pass that writes records: constants, found by the hash of their bytes, become compressed ones.

Only for the worker process: importing this module imports coremltools.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from coremltools.converters.mil.mil import Builder as mb
from coremltools.converters.mil.mil.passes.graph_pass import AbstractGraphPass
from coremltools.converters.mil.mil.passes.helper import block_context_manager
from coremltools.converters.mil.mil.passes.pass_registry import register_pass
from coremltools.converters.mil.mil.types.type_int import np_int4_dtype
from numpy.typing import NDArray

from mobilekit.compression.compressed import POSITIONS, CompressedModel
from mobilekit.compression.records import Quantized
from mobilekit.errors import CompressionError, EngineError

PASS = "mobilekit::write_records"


def _key(values: NDArray[Any]) -> str:
    digest = hashlib.sha256(f"{values.dtype} {values.shape} ".encode())
    digest.update(np.ascontiguousarray(values).data)
    return digest.hexdigest()


@dataclass
class RecordTable:
    """The matrices of a model by the hash of what they decode to, and which of them a graph has turned out to hold.

    blockwise: whether the system knows constexpr_blockwise_shift_scale (iOS 18). found: keys met so far.
    """

    names: dict[str, str]
    quantized: dict[str, Quantized]
    blockwise: bool
    found: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, model: CompressedModel, half: bool, blockwise: bool, positions: int) -> RecordTable:
        """The table for a graph in float16 (`half`) or float32 that holds `positions` rows of the position table.

        Raises CompressionError when two records decode to the same values from other codes, because a graph's
        constants could not tell them apart.
        """
        names: dict[str, str] = {}
        quantized: dict[str, Quantized] = {}
        for name, record in model.records.items():
            if len(record.shape) != 2:
                continue
            values = model.position_rows(positions) if name == POSITIONS else record.decode()
            key = _key(values.astype(np.float16 if half else np.float32))
            if isinstance(record, Quantized):
                _require_form(name, record, blockwise)
                twin = quantized.setdefault(key, record)
                if twin.fingerprint() != record.fingerprint():
                    raise CompressionError(
                        f"{name} and {names[key]} decode to the same values from other codes, which a Core ML "
                        "file cannot keep apart; compress one of them otherwise."
                    )
            names.setdefault(key, name)
        return cls(names, quantized, blockwise)

    def look_up(self, values: NDArray[Any]) -> Quantized | None:
        """The quantized record that decodes to `values`, if there is one; notes that the values were met."""
        key = _key(values)
        if key in self.names:
            self.found.add(key)
        return self.quantized.get(key)

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


def _require_form(name: str, record: Quantized, blockwise: bool) -> None:
    if record.bits not in ((4, 8) if blockwise else (8,)) or (record.groups > 1 and not blockwise):
        form = f"{record.bits}-bit codes with {record.groups} scales a row"
        known = "4 or 8 bits" if blockwise else "before iOS 18 only 8 bits, with one scale"
        raise EngineError(f"coreml: {name} has {form}; this exporter writes {known}.")


def _compressed(record: Quantized, blockwise: bool, before: Any) -> Any:
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
