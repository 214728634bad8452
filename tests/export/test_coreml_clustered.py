"""How clustered weights stand in an .mlpackage: codes, codebooks, and the scale behind the product."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from coreml_support import COREML, LENGTHS, MODEL_FILE, WEIGHT_FILE, Exported, copied, emit, exported, holding, missing
from support import CLASSIFIER, SHARED, TINY, WORDS, foreign_clusters, random_compressed

from export.coreml.levels import UNIT
from export.stored import compare, tensor_entries
from mobilekit.compression.bitfields import pack_bits
from mobilekit.compression.compressed import CompressedModel
from mobilekit.compression.records import Clustered, Record
from mobilekit.errors import ArtifactError, EngineError
from mobilekit.runtimes.mil.package import open_package

NAME = "layers.0.ffn.up.weight"


def pal4() -> Exported:
    return exported(TINY, CLASSIFIER, "pal4", LENGTHS, 18)


def record_of(of: Exported) -> Clustered:
    record = of.model.records[NAME]
    assert isinstance(record, Clustered)
    return record


def test_codebooks_of_groups_of_rows_are_written_and_read() -> None:
    model = random_compressed(TINY, CLASSIFIER, "pal3")
    rng, records = np.random.default_rng(1), dict(model.records)
    groups = {NAME: 4, "embeddings.token.weight": 10, "head.classifier.weight": 3}
    records |= {name: foreign_clusters(rng, records[name].shape, 3, count) for name, count in groups.items()}
    of = emit(replace(model, records=records), "groups", (16,))
    assert missing(of) == []
    entries = tensor_entries(of.model, 16, codebooks=True)
    assert {e["name"]: e["codebooks"] for e in entries if e.get("codebooks", 1) > 1} == groups
    assert not compare(COREML.read_weights(of.path), entries).missing


@pytest.mark.parametrize("part", ["codes", "scale"])
def test_a_changed_code_or_scale_is_seen(part: str, tmp_path: Path) -> None:
    of, record = pal4(), record_of(pal4())
    stored = pack_bits(record.codes, 4) if part == "codes" else (record.scale * UNIT).astype(np.float16)
    path = copied(of, tmp_path)
    content = bytearray((path / WEIGHT_FILE).read_bytes())
    assert content.count(stored.tobytes()) == 1
    content[content.index(stored.tobytes())] ^= 1
    (path / WEIGHT_FILE).write_bytes(content)
    assert missing(of, path) == [NAME]


def test_a_level_that_is_no_whole_step_is_refused(tmp_path: Path) -> None:
    of = pal4()
    levels = (record_of(of).codebook / UNIT).astype(np.float16).tobytes()
    path = copied(of, tmp_path)
    content = bytearray((path / WEIGHT_FILE).read_bytes())
    assert content.count(levels) == 1
    content[content.index(levels)] ^= 1
    (path / WEIGHT_FILE).write_bytes(content)
    with pytest.raises(ArtifactError, match="not whole steps of 1 / 128"):
        COREML.read_weights(path)


def operations(message: Any) -> list[Any]:
    return [o for f in message.mlProgram.functions.values() for o in f.block_specializations[f.opset].operations]


def altered(of: Exported, tmp_path: Path, change: Callable[[list[Any]], None]) -> Path:
    path = copied(of, tmp_path)
    model = open_package(path).model
    change(operations(model))
    (path / MODEL_FILE).write_bytes(model.SerializeToString())
    return path


def scaled(made: list[Any], kind: str) -> list[tuple[Any, Any]]:
    """Products of a kind with a look-up table, and what they are multiplied with."""
    tables = {o.outputs[0].name for o in made if o.type == "constexpr_lut_to_dense"}
    outputs = {
        o.outputs[0].name: o
        for o in made
        if o.type == kind and tables & {b.name for a in o.inputs.values() for b in a.arguments}
    }
    products = [o for o in made if o.type == "mul"]
    return [
        (outputs[b.name], product)
        for product in products
        for b in (*product.inputs["x"].arguments, *product.inputs["y"].arguments)
        if b.name in outputs
    ]


@pytest.mark.parametrize("kind", ["linear", "gather"])
def test_rows_that_are_not_scaled_are_refused(kind: str, tmp_path: Path) -> None:
    of = exported(SHARED, WORDS, "pal2", (16,), 16)

    def change(made: list[Any]) -> None:
        found = scaled(made, kind)
        assert found
        found[0][1].type = "add"

    with pytest.raises(ArtifactError, match=f"{kind} reads it, and its rows are not scaled after that"):
        COREML.read_weights(altered(of, tmp_path, change))


def test_other_scales_for_one_of_two_uses_are_refused(tmp_path: Path) -> None:
    of = exported(SHARED, WORDS, "pal2", (16,), 16)

    def change(made: list[Any]) -> None:
        uses = [product for linear, product in scaled(made, "linear") if len(_size(linear)) == 2]
        tables = [o for o in made if o.type == "constexpr_lut_to_dense"]
        by_table = {t.outputs[0].name: [] for t in tables}  # type: ignore[var-annotated]
        for linear, product in scaled(made, "linear"):
            by_table[linear.inputs["weight"].arguments[0].name].append(product)
        first, second = next(products for products in by_table.values() if len(products) > 1)[:2]
        other = next(p for p in uses if p is not first and _size(p) == _size(first) and _factor(p) != _factor(first))
        second.inputs["y"].CopyFrom(other.inputs["y"])

    with pytest.raises(ArtifactError, match="its rows have no scale, or several"):
        COREML.read_weights(altered(of, tmp_path, change))


def _size(operation: Any) -> tuple[int, ...]:
    return tuple(d.constant.size for d in operation.outputs[0].type.tensorType.dimensions)


def _factor(product: Any) -> str:
    return str(product.inputs["y"].arguments[0].name)


@pytest.mark.parametrize(("scheme", "ios", "said"), [("pal3", 17, "before iOS 18 only 1, 2, 4, 6 or 8 bits")])
def test_tables_that_old_systems_do_not_know_are_an_error(scheme: str, ios: int, said: str) -> None:
    with pytest.raises(EngineError, match=rf"embeddings\.token\.weight has 3-bit codes .* {said}"):
        emit(random_compressed(TINY, CLASSIFIER, scheme), f"old-{scheme}", (16,), ios)


def test_several_codebooks_before_ios_18_and_scales_beyond_float16_are_errors() -> None:
    model = random_compressed(TINY, CLASSIFIER, "pal4")
    record, rng = record_of(Exported(model, Path(), {}, (), {})), np.random.default_rng(0)
    changes: dict[str, tuple[Record, int, str]] = {
        "books": (foreign_clusters(rng, record.shape, 4, 2), 16, "has 4-bit codes with 2 codebooks"),
        "large": (replace(record, scale=np.full_like(record.scale, 512)), 18, "has weights up to 65024"),
        "five": (foreign_clusters(rng, record.shape, 5), 18, "has 5-bit codes .* 1, 2, 3, 4, 6 or 8 bits"),
    }
    for name, (changed, ios, said) in changes.items():
        other = CompressedModel(TINY, CLASSIFIER, "pal4", {**model.records, NAME: changed})
        with pytest.raises(EngineError, match=rf"layers\.0\.ffn\.up\.weight {said}"):
            emit(other, name, (16,), ios)


def test_b_bits_take_b_eighths_of_a_byte() -> None:
    sizes = {}
    for scheme in ("pal4", "pal1"):
        of = exported(TINY, CLASSIFIER, scheme, (16,), 18)
        codes = sum(r.payload_bytes for r in of.model.records.values() if isinstance(r, Clustered))
        sizes[scheme] = (of.path / WEIGHT_FILE).stat().st_size - codes
    # Codebooks, and blobs that begin at a multiple of 64.
    assert abs(sizes["pal4"] - sizes["pal1"]) <= 15 * (64 + 64)
    assert holding(COREML.read_weights(pal4().path), record_of(pal4()))
