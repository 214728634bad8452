"""coremltools' pass to float16 with a check that fits the memory. Only for the worker: it imports coremltools."""

from __future__ import annotations

from typing import Any

import numpy as np
from coremltools.converters.mil.mil.passes.defs.quantization import add_fp16_cast
from coremltools.converters.mil.mil.passes.pass_registry import register_pass

REPLACED = "common::add_fp16_cast"
PASS = "mobilekit::cast_to_fp16"
_LARGEST = float(np.finfo(np.float16).max)
# coremltools takes what is larger for infinity, which float16 can hold.
_INFINITE = 1e38


@register_pass(namespace="mobilekit")
class cast_to_fp16(add_fp16_cast):
    """The same pass; its overflow check took 28 bytes an element, for which it built three arrays of indices."""

    @staticmethod
    def fp16_overflow(op: Any) -> bool:
        """Whether a constant operand of an operation is finite and out of float16's range."""
        for operands in op.inputs.values():
            for operand in operands if isinstance(operands, (list, tuple)) else [operands]:
                source = operand.op
                if source is None or source.op_type != "const" or not operand.is_tensor_or_scalar_of(dtype="fp32"):
                    continue
                value = source.val.val
                size = max(float(np.max(value, initial=0.0)), -float(np.min(value, initial=0.0)))
                if _LARGEST < size < _INFINITE:
                    return True
        return False
