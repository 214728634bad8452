"""`compress`: a model and a plan become records, once, before any target is thought of."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.calibrate import checked_texts, input_magnitudes, linear_maps
from mobilekit.compression.compensate import Inputs
from mobilekit.compression.compressed import CompressedModel
from mobilekit.compression.plan import Plan, is_weight, part_of, plan_of
from mobilekit.compression.records import Record
from mobilekit.compression.schemes.registry import Scheme
from mobilekit.compression.sequential import Make, sequential_records
from mobilekit.compression.smooth import multipliers, smoothed_linears, smoothing
from mobilekit.compression.static import with_activations
from mobilekit.errors import CompressionError
from mobilekit.text.calibration import TEXTS
from mobilekit.text.calibration_more import MORE_TEXTS

if TYPE_CHECKING:
    from mobilekit.models.model import Model


def compress(model: Model, scheme: str | Scheme | Plan, texts: Sequence[str] | None = None) -> CompressedModel:
    """Records of every unique tensor of `model`.

    scheme: a name that `list schemes` prints, a plan (or its TOML file), or a Scheme itself. texts: what activations
    are looked at on, best like what the model will read; None: built-in text; none at all: nothing is smoothed, and
    codes are made for the weights alone. Raises InputError for an unknown scheme, a plan that does not fit the model
    and texts without a word, CompressionError (naming the tensor) when a tensor cannot be compressed so.
    """
    plan = plan_of(scheme)
    # Outliers are few and show in any text; how inputs go together takes more of it.
    few, many = (TEXTS, (*TEXTS, *MORE_TEXTS)) if texts is None else 2 * (checked_texts(texts),)
    tensors = model.tensors()
    rules = plan.assigned({name: values.ndim for name, values in tensors.items()})
    chosen = {name: rule.scheme for name, rule in rules.items()}
    for name, values in tensors.items():
        if is_weight(name, values.ndim):
            with _named(name):
                # What a scheme cannot hold for its shape is refused now, not when the text has been looked at.
                chosen[name].check(values.shape)
    _refuse_not_finite(tensors)
    divided_by: dict[str, NDArray[np.float32]] = {}
    strengths = _strengths(chosen) if few else {}
    if strengths:
        readers = smoothed_linears(list(tensors))
        vectors = smoothing(tensors, input_magnitudes(model, few), strengths)
        chosen |= {name: chosen[readers[name][0]] for name in vectors}
        divided_by = multipliers(tensors | vectors)
        tensors |= {name: tensors[name] / multiplier for name, multiplier in divided_by.items()} | vectors
    linears = {f"{name}.weight" for name in linear_maps(model.module)} if many else set()
    # A decoder that is the token table has no tensor of its own.
    calibrated = sorted(name for name in linears & set(tensors) if chosen[name].calibrated is not None)
    weights = {name: tensors.pop(name) for name in calibrated}
    records: dict[str, Record] = {}
    for name, values in sorted(tensors.items()):
        make = chosen[name].weights if is_weight(name, values.ndim) else chosen[name].rest
        with _named(name):
            records[name] = make(values)
    if weights:
        records |= sequential_records(model, weights, records, divided_by, _calibrated(chosen), many)
    rules_said = tuple(plan.to_json())
    compressed = CompressedModel(model.config, model.head, plan.name, dict(sorted(records.items())), rules_said)
    static = _static(records.keys() & chosen.keys(), chosen)
    return with_activations(model, compressed, static, many) if static else compressed


def _static(names: Collection[str], chosen: Mapping[str, Scheme]) -> set[str]:
    """What may have activations with fixed scales; its bias changes too, which a plan may leave to other rules."""
    others = {part_of(name) for name in names if not chosen[name].static}
    return {part_of(name) for name in names if chosen[name].static} - others


def _strengths(chosen: Mapping[str, Scheme]) -> dict[str, float]:
    """How much is moved by each vector of smoothing, by its name; none where nothing is.

    Maps that read one norm share a vector, so the least of what their schemes ask for: what has the fewest bits has
    the least room for outliers, and a float map, above all a skipped one, stays as it is only without any.
    """
    found = {name: min(chosen[weight].smooth for weight in w) for name, w in smoothed_linears(list(chosen)).items()}
    return {name: strength for name, strength in found.items() if strength}


def _calibrated(chosen: Mapping[str, Scheme]) -> Make:
    def make(name: str, weight: NDArray[np.float32], inputs: Inputs) -> Record:
        calibrated = chosen[name].calibrated
        assert calibrated is not None
        with _named(name):
            return calibrated(weight, inputs)

    return make


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
