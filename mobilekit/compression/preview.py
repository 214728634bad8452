"""What a plan does to a model, tensor by tensor: which rule won, bytes, and how far weights are from the float ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.compress import compress
from mobilekit.compression.plan import Plan, is_weight, part_of
from mobilekit.compression.records import Clustered, Quantized, Record
from mobilekit.models.model import Model

# Of a scale: float16, to which every record's scales are exact.
_SCALE_BYTES = 2
SMOOTHING = "smoothing"


@dataclass(frozen=True)
class Kept:
    """One tensor under a plan.

    rule: the index of the rule that won, None where none names it. scheme: its name, `skip`, or `smoothing` for a
    vector that is there in addition and has no parameter of the model. is_weight: whether schemes compress it. bytes:
    of codes, scales and codebooks, or of the values. error: distance from the float tensor over that one's length.
    static: whether it is the weight of a linear map between activations with fixed scales.
    """

    name: str
    rule: int | None
    scheme: str
    is_weight: bool
    parameters: int
    bytes: int
    error: float
    static: bool = False


@dataclass(frozen=True)
class Total:
    """Sums over tensors."""

    parameters: int
    bytes: int

    @property
    def bits(self) -> float:
        """Average bits a parameter, with all that is stored for it."""
        return 8 * self.bytes / self.parameters if self.parameters else 0.0


def preview(model: Model, plan: Plan, texts: Sequence[str] | None = None) -> list[Kept]:
    """Every tensor of `model` under `plan`, by name; raises what `compress` raises."""
    tensors = model.tensors()
    rules = plan.assigned({name: values.ndim for name, values in tensors.items()})
    compressed = compress(model, plan, texts)
    decoded = compressed.decoded()
    found = []
    for name, record in compressed.records.items():
        if name not in tensors:
            found.append(Kept(name, None, SMOOTHING, False, 0, record_bytes(record), 0.0))
            continue
        rule, values = rules[name], tensors[name]
        index = next((i for i, each in enumerate(plan.rules) if each is rule), None)
        weight = is_weight(name, values.ndim)
        error = relative_error(values, decoded[name])
        static = weight and part_of(name) in compressed.activations
        found.append(Kept(name, index, rule.scheme.name, weight, values.size, record_bytes(record), error, static))
    return found


def total(kept: Iterable[Kept]) -> Total:
    """Sums over tensors."""
    rows = list(kept)
    return Total(sum(row.parameters for row in rows), sum(row.bytes for row in rows))


def record_bytes(record: Record) -> int:
    """Bytes of a record whatever the target: codes at their bits, float16 scales, codebooks of bytes; or the values."""
    if isinstance(record, Quantized):
        return record.payload_bytes + _SCALE_BYTES * record.scale.size
    if isinstance(record, Clustered):
        return record.payload_bytes + _SCALE_BYTES * record.scale.size + record.codebook.size
    return record.payload_bytes


def relative_error(values: NDArray[np.float32], decoded: NDArray[np.float32]) -> float:
    """The distance between both over the length of the first; 0 where they are equal, 1 where only the first is 0."""
    distance, length = (float(np.linalg.norm(each.ravel())) for each in (decoded.astype(np.float64) - values, values))
    return distance / (length or distance) if distance else 0.0
