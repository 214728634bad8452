"""Activations with fixed scales: what each target writes of the record, what it reads back, what `compare` sees."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from coreml_support import exported as exported_coreml
from executorch_files import emit as emit_executorch
from executorch_files import shared_worker
from support import CLASSIFIER, SHARED, TINY, random_compressed

from export.budget import budget_bytes, floor_bytes
from export.registry import GraphSpec, StoredWeight, Target, target
from export.stored import compare, integer_hash, tensor_entries
from export.thresholds import precision
from mobilekit.artifact import size_and_hash
from mobilekit.compression.activations import Activation, Static, bias_scale
from mobilekit.compression.compressed import CompressedModel
from mobilekit.errors import ArtifactError

LENGTHS = (8, 32)
TARGETS = ("coreml", "executorch", "tflite")
# A layer of its own, and one that two share.
SHAPES = {"own": replace(TINY, layers=1), "shared": replace(SHARED, layers=2)}
Make = Callable[[str, str], tuple[CompressedModel, Path]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Make:
    files: dict[tuple[str, str], tuple[CompressedModel, Path]] = {}

    def once(name: str, shape: str) -> tuple[CompressedModel, Path]:
        if (name, shape) not in files:
            files[name, shape] = _written(name, shape, tmp_path_factory.mktemp("static"))
        return files[name, shape]

    return once


def _written(name: str, shape: str, folder: Path) -> tuple[CompressedModel, Path]:
    model = random_compressed(SHAPES[shape], CLASSIFIER, "int8-static")
    path = folder / f"Static{target(name).suffix}"
    if name == "executorch":
        emit_executorch(shared_worker(), model, path, LENGTHS)
    elif name == "tflite":
        target(name).emit(model, GraphSpec(LENGTHS, "Static"), path, lambda _: None)
    else:
        path = exported_coreml(SHAPES[shape], CLASSIFIER, "int8-static", LENGTHS, 18).path
    return model, path


def entries(model: CompressedModel) -> list[dict[str, object]]:
    return tensor_entries(model, max(LENGTHS))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", TARGETS)
def test_records_and_scales_of_activations_are_in_the_file(made: Make, name: str, shape: str) -> None:
    model, path = made(name, shape)
    weights = target(name).read_weights(path)
    found = compare(weights, entries(model))
    assert found.holds and found.equal == len(model.records) and not found.faults
    assert {static for weight in weights for static in weight.activations} == set(model.activations.values())


@pytest.mark.parametrize("name", TARGETS)
def test_another_scale_or_zero_point_is_seen(made: Make, name: str) -> None:
    model, path = made(name, "own")
    part, static = next(iter(model.activations.items()))
    for other in (
        replace(static, input=replace(static.input, zero_point=static.input.zero_point + 1)),
        replace(static, output=Activation(static.output.scale * 2, static.output.zero_point)),
    ):
        changed = replace(model, activations={**model.activations, part: other})
        # The bias is kept in units of the input's scale, which is not touched.
        found = compare(target(name).read_weights(path), entries(changed))
        assert found.misrounded == (f"{part}.weight",) and not found.missing
        assert found.faults == f"with other scales of activations: {part}.weight"


@pytest.mark.parametrize("name", TARGETS)
def test_scales_that_a_record_does_not_have_are_seen(made: Make, name: str) -> None:
    model, path = made(name, "own")
    part = next(iter(model.activations))
    fewer = {other: static for other, static in model.activations.items() if other != part}
    assert (
        f"{part}.weight"
        in compare(target(name).read_weights(path), entries(replace(model, activations=fewer))).misrounded
    )


@pytest.mark.parametrize("name", ["executorch", "tflite"])
def test_a_changed_scale_in_the_bytes_is_seen(made: Make, name: str, tmp_path: Path) -> None:
    model, path = made(name, "own")
    part, static = next(iter(model.activations.items()))
    old, new = struct.pack("<f", static.output.scale), struct.pack("<f", static.output.scale * 2)
    changed = tmp_path / path.name
    changed.write_bytes(path.read_bytes().replace(old, new))
    assert f"{part}.weight" in compare(target(name).read_weights(changed), entries(model)).misrounded


@pytest.mark.parametrize("name", ["executorch", "tflite"])
def test_biases_are_whole_numbers_in_the_file(made: Make, name: str) -> None:
    model, path = made(name, "own")
    weights = target(name).read_weights(path)
    integers = [w for w in weights if w.codes is not None and w.codes.dtype == np.int32]
    expected = set()
    for part, static in model.activations.items():
        unit = bias_scale(model.records[f"{part}.weight"].scale, static.input)  # type: ignore[union-attr]
        codes = np.rint(model.records[f"{part}.bias"].decode() / unit).astype(np.int32)
        expected.add(integer_hash(codes, unit))
        assert np.array_equal(codes.astype(np.float32) * unit, model.records[f"{part}.bias"].decode())
    assert {_hash(weight) for weight in integers} == expected


def _hash(weight: StoredWeight) -> str:
    assert weight.codes is not None and weight.scale is not None
    return integer_hash(weight.codes.astype(np.int32), weight.scale)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", TARGETS)
def test_files_keep_the_byte_budget(made: Make, name: str, shape: str) -> None:
    model, path = made(name, shape)
    about: Target = target(name)
    tensors = entries(model)
    kept = precision(tensors)
    assert kept == "int8"
    limit = budget_bytes(about, kept, tensors, SHAPES[shape].layers, LENGTHS)
    assert floor_bytes(about, kept, tensors) < size_and_hash(path)[0] <= limit


def test_a_manifest_with_a_scale_that_is_none_is_refused_by_name() -> None:
    tensors = entries(random_compressed(SHAPES["own"], CLASSIFIER, "int8-static"))
    entry = next(entry for entry in tensors if "activations" in entry)
    entry["activations"]["input"]["scale"] = 0.1  # type: ignore[index]
    with pytest.raises(ArtifactError, match=rf"manifest.json: {entry['name']}: the scale of activations has to be"):
        compare([], tensors)


def test_maps_with_one_weight_may_differ_in_their_scales() -> None:
    model = random_compressed(SHAPES["own"], CLASSIFIER, "int8-static")
    one, other = "layers.0.attention.key", "layers.0.attention.query"
    records = dict(model.records) | {f"{other}.{of}": model.records[f"{one}.{of}"] for of in ("weight", "bias")}
    static = Static(model.activations[one].input, model.activations[other].output)
    twins = tensor_entries(replace(model, records=records, activations={**model.activations, other: static}), 32)
    both = frozenset((model.activations[one], static))
    record = records[f"{one}.weight"]
    stored = StoredWeight(codes=record.codes, scale=record.scale, activations=both)  # type: ignore[union-attr]
    wanted = [entry for entry in twins if entry["name"] in (f"{one}.weight", f"{other}.weight")]
    assert compare([stored], wanted).holds
    assert compare([replace(stored, activations=frozenset([Static(*[Activation(0.5, 0)] * 2)]))], wanted).misrounded
