"""`compress`: a model and a scheme become records, once, before any target is thought of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mobilekit.compression.calibrate import input_magnitudes
from mobilekit.compression.compressed import CompressedModel
from mobilekit.compression.records import Record
from mobilekit.compression.schemes.registry import Scheme
from mobilekit.compression.schemes.registry import scheme as find_scheme
from mobilekit.compression.smooth import smoothed_linears, smoothing
from mobilekit.errors import CompressionError
from mobilekit.text.calibration import TEXTS

if TYPE_CHECKING:
    from mobilekit.models.model import Model

# Small tables that are added, not multiplied: their bytes are few and their rounding would be in every token.
_KEPT = ("embeddings.position.weight", "embeddings.token_type.weight")


def compress(model: Model, scheme: str | Scheme) -> CompressedModel:
    """Records of every unique tensor of `model`.

    scheme: a name that `list schemes` prints, or a Scheme itself. Raises InputError for an unknown one,
    CompressionError (naming the tensor) when a tensor cannot be compressed so.
    """
    chosen = scheme if isinstance(scheme, Scheme) else find_scheme(scheme)
    records: dict[str, Record] = {}
    tensors = model.tensors()
    if chosen.smooth:
        multipliers = smoothing(tensors, input_magnitudes(model, TEXTS), chosen.smooth)
        for name, weights in smoothed_linears(list(tensors)).items():
            tensors |= {weight: tensors[weight] / multipliers[name] for weight in weights}
        tensors |= multipliers
    for name, values in sorted(tensors.items()):
        make = chosen.weights if is_weight(name, values.ndim) else chosen.rest
        try:
            records[name] = make(values)
        except CompressionError as error:
            raise CompressionError(f"{name}: {error}") from error
    return CompressedModel(model.config, model.head, chosen.name, records)


def is_weight(name: str, dimensions: int) -> bool:
    """Whether a tensor is one that schemes compress: a matrix of a linear map, or the token table."""
    return dimensions == 2 and name not in _KEPT
