"""`compress`: a model and a scheme become records, once, before any target is thought of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.calibrate import checked_texts, input_magnitudes, linear_maps
from mobilekit.compression.compensate import Inputs
from mobilekit.compression.compressed import CompressedModel
from mobilekit.compression.records import Record
from mobilekit.compression.schemes.registry import Scheme
from mobilekit.compression.schemes.registry import scheme as find_scheme
from mobilekit.compression.sequential import sequential_records
from mobilekit.compression.smooth import smoothed_linears, smoothing
from mobilekit.errors import CompressionError
from mobilekit.text.calibration import TEXTS
from mobilekit.text.calibration_more import MORE_TEXTS

if TYPE_CHECKING:
    from mobilekit.models.model import Model

# Small tables that are added, not multiplied: their bytes are few and their rounding would be in every token.
_KEPT = ("embeddings.position.weight", "embeddings.token_type.weight")


def compress(model: Model, scheme: str | Scheme, texts: Sequence[str] | None = None) -> CompressedModel:
    """Records of every unique tensor of `model`.

    scheme: a name that `list schemes` prints, or a Scheme itself. texts: what activations are looked at on, best like
    what the model will read; None: built-in text; none at all: nothing is smoothed, and codes are made for the weights
    alone. Raises InputError for an unknown scheme and for texts without a word, CompressionError (naming the tensor)
    when a tensor cannot be compressed so.
    """
    chosen = scheme if isinstance(scheme, Scheme) else find_scheme(scheme)
    # Outliers are few and show in any text; how inputs go together takes more of it.
    few, many = (TEXTS, (*TEXTS, *MORE_TEXTS)) if texts is None else 2 * (checked_texts(texts),)
    tensors = model.tensors()
    _refuse_not_finite(tensors)
    multipliers: dict[str, NDArray[np.float32]] = {}
    if chosen.smooth and few:
        vectors = smoothing(tensors, input_magnitudes(model, few), chosen.smooth)
        for name, smoothed in smoothed_linears(list(tensors)).items():
            multipliers |= dict.fromkeys(smoothed, vectors[name])
        tensors |= {name: tensors[name] / multiplier for name, multiplier in multipliers.items()}
        tensors |= vectors
    calibrated = chosen.calibrated if many else None
    linears = {f"{name}.weight" for name in linear_maps(model.module)} if calibrated else set()
    # A decoder that is the token table has no tensor of its own.
    weights = {name: tensors.pop(name) for name in sorted(linears & set(tensors))}
    for name, values in weights.items():
        with _named(name):
            # What a scheme cannot hold for its shape is refused now, not when the text has been looked at.
            chosen.weights(values[:1])
    records: dict[str, Record] = {}
    for name, values in sorted(tensors.items()):
        make = chosen.weights if is_weight(name, values.ndim) else chosen.rest
        with _named(name):
            records[name] = make(values)
    if calibrated is not None:

        def made(name: str, weight: NDArray[np.float32], inputs: Inputs) -> Record:
            with _named(name):
                return calibrated(weight, inputs)

        records |= sequential_records(model, weights, records, multipliers, made, many)
    return CompressedModel(model.config, model.head, chosen.name, dict(sorted(records.items())))


def _refuse_not_finite(tensors: Mapping[str, NDArray[np.float32]]) -> None:
    """One value that is none spoils every activation after it: refused by its own name, before that happens."""
    for name, values in tensors.items():
        if not np.isfinite(values).all():
            raise CompressionError(f"{name}: the weight has values that are not finite (NaN or infinity).")


@contextmanager
def _named(name: str) -> Iterator[None]:
    try:
        yield
    except CompressionError as error:
        raise CompressionError(f"{name}: {error}") from error


def is_weight(name: str, dimensions: int) -> bool:
    """Whether a tensor is one that schemes compress: a matrix of a linear map, or the token table."""
    return dimensions == 2 and name not in _KEPT
