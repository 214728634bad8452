"""The weights that a file holds, as tensors of a float model: what compression alone made of it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from export.registry import StoredWeight
from export.registry import target as find_target
from export.stored import stored_record, stored_weights, weight_key
from mobilekit.artifact import Artifact
from mobilekit.compression.compressed import POSITIONS
from mobilekit.compression.smooth import unsmoothed
from mobilekit.models.model import Model, fresh_module

Tensors = dict[str, NDArray[np.float32]]


def with_stored_weights(artifact: Artifact, model: Model) -> Model | None:
    """`model` with the weights that the artifact's file holds, decoded; None where they are not of its shape, or the
    file does not hold what the manifest says.

    Rows of the position table that were not exported are the model's own: no input reaches them.
    """
    stored = stored_weights(find_target(artifact.manifest.target), artifact.model_path)
    # By size too: the bytes of 64 zeros of one float type are those of 128 of another.
    found = {(weight_key(weight), _size(weight)): weight for weight in stored}
    tensors: Tensors = {}
    for entry in artifact.manifest.content["tensors"]:
        keys = ((key, math.prod(entry["shape"])) for key in entry["sha256"].values())
        weight = next((found[key] for key in keys if key in found), None)
        if weight is None:
            return None
        tensors[entry["name"]] = _values(weight).reshape(entry["shape"])
    own, plain = model.tensors(), unsmoothed(tensors)
    rows = plain.pop(POSITIONS, None)
    table = own[POSITIONS].copy()
    first = model.config.position_offset
    if rows is None or rows.shape[1:] != table.shape[1:] or first + len(rows) > len(table):
        return None
    table[first : first + len(rows)] = rows
    plain[POSITIONS] = table
    if {name: values.shape for name, values in plain.items()} != {name: values.shape for name, values in own.items()}:
        return None
    made = replace(model, module=fresh_module(model.config, model.head), notes=[])
    made.load_tensors(plain)
    return made


def _size(weight: StoredWeight) -> int:
    stored = weight.values if weight.codes is None else weight.codes
    assert stored is not None
    return int(stored.size)


def _values(weight: StoredWeight) -> NDArray[np.float32]:
    if weight.codes is None:
        assert weight.values is not None
        return weight.values.astype(np.float32)
    if weight.codes.dtype == np.int32:
        # A bias in whole numbers.
        assert weight.scale is not None
        return weight.codes.astype(np.float32) * weight.scale.reshape(-1)
    return stored_record(weight).decode()
