from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support import CLASSIFIER, SHARED, foreign_clusters, random_compressed

from export.budget import budget_bytes, floor_bytes, graph_bytes, groups
from export.registry import Overhead, StoredWeight, Target
from export.stored import compare, tensor_entries
from export.thresholds import precision
from mobilekit.compression.records import Clustered, Dense, Outliers, Quantized

MODEL = random_compressed(SHARED, CLASSIFIER)
ENTRIES = tensor_entries(MODEL, 32)


def stored(half: bool = False) -> list[StoredWeight]:
    weights = []
    for name, record in MODEL.records.items():
        if isinstance(record, Quantized):
            weights.append(StoredWeight(codes=record.codes, scale=record.scale))
        else:
            values = record.values[:32] if name == "embeddings.position.weight" else record.values
            weights.append(StoredWeight(values=values.astype(np.float16) if half else values))
    return weights


def test_records_are_found_at_either_float_width() -> None:
    for half in (False, True):
        found = compare(stored(half), ENTRIES)
        assert found.equal == len(ENTRIES) and not found.missing and not found.repeated


def test_equal_bytes_of_several_tensors_may_be_there_as_often_and_no_oftener() -> None:
    # As many values as a bias of attention.
    table, bias = "embeddings.token_type.weight", "layers.0.attention.key.bias"
    zeros = {name: Dense(np.zeros(MODEL.records[name].shape, np.float32)) for name in (table, bias)}
    entries = [e for e in tensor_entries(replace(MODEL, records={**MODEL.records, **zeros}), 32) if e["name"] in zeros]
    assert len({e["sha256"]["float32"] for e in entries}) == 1
    for copies, repeated in ((1, ()), (2, ()), (3, (table,))):
        found = compare([StoredWeight(values=zeros[bias].values, copies=copies)], entries)
        assert found.equal == 2 and found.repeated == repeated


def test_one_changed_code_or_scale_is_missed_by_name() -> None:
    for i, weight in enumerate(stored()):
        if weight.codes is None or weight.scale is None:
            continue
        codes, scale = weight.codes.copy(), weight.scale.copy()
        codes[0, 0] += 1
        scale[0, 0] *= 2
        for wrong in (replace(weight, codes=codes), replace(weight, scale=scale)):
            found = compare([*stored()[:i], wrong, *stored()[i + 1 :]], ENTRIES)
            assert found.missing == (sorted(MODEL.records)[i],)


def test_codes_of_another_width_are_missed() -> None:
    weights = stored()
    i = next(i for i, w in enumerate(weights) if w.codes is not None)
    weights[i] = replace(weights[i], bits=7)
    assert compare(weights, ENTRIES).missing == (sorted(MODEL.records)[i],)


def test_second_copy_is_told() -> None:
    weights = stored()
    i = next(i for i, w in enumerate(weights) if w.codes is not None)
    weights[i] = replace(weights[i], copies=2)
    assert compare(weights, ENTRIES).repeated == (sorted(MODEL.records)[i],)
    assert compare([*stored(), stored()[i]], ENTRIES).repeated == (sorted(MODEL.records)[i],)


def test_floor_counts_codes_scales_and_floats() -> None:
    target = Target("t", ".t", "", ("int8",), (), 12, None, None, None, {"int8": 2}, Overhead(100, 5, 10))  # type: ignore[arg-type]
    expected = 0
    for name, record in MODEL.records.items():
        if isinstance(record, Quantized):
            expected += record.codes.size + 12 * record.codes.shape[0]
        else:
            rows = 32 if name == "embeddings.position.weight" else record.shape[0]
            expected += rows * int(np.prod(record.shape[1:])) * 2
    assert floor_bytes(target, "int8", ENTRIES) == expected
    rows = 16 * SHARED.embedding_size * 2
    assert budget_bytes(target, "int8", ENTRIES, 4, [16, 32]) == int(expected * 1.01) + 100 + 10 + 80 + rows


def test_floor_counts_every_scale_of_a_row() -> None:
    target = Target("t", ".t", "", ("int4-g32",), (), 12, None, None, None, group_scale_bytes=2)  # type: ignore[arg-type]
    for scheme in ("int4", "int4-g32"):
        model = random_compressed(SHARED, CLASSIFIER, scheme)
        expected = 0
        for entry, record in zip(tensor_entries(model, 32), sorted(model.records), strict=True):
            kept = model.records[record]
            assert ("groups" in entry) == isinstance(kept, Quantized)
            if isinstance(kept, Quantized):
                expected += kept.codes.size // 2 + (12 if kept.groups == 1 else 2) * kept.scale.size
            else:
                expected += 4 * int(np.prod(entry["shape"]))
        assert floor_bytes(target, scheme, tensor_entries(model, 32)) == expected


def test_floats_of_a_plan_count_at_their_own_width() -> None:
    target = Target("t", ".t", "", ("fp32", "fp16"), (), 12, None, None, None, {"fp16": 2})  # type: ignore[arg-type]
    model = random_compressed(SHARED, CLASSIFIER, "fp32")
    table = Dense(model.records["embeddings.token.weight"].decode().astype(np.float16))
    entries = tensor_entries(replace(model, records={**model.records, "embeddings.token.weight": table}), 32)
    everything = sum(4 * int(np.prod(entry["shape"])) for entry in entries)
    assert precision(entries) == "fp16" and floor_bytes(target, "fp32", entries) == everything - 2 * table.values.size
    assert floor_bytes(target, "fp16", entries) == everything // 2


def test_precision_of_a_scheme_is_its_own_and_of_codes_that_of_int8() -> None:
    for scheme, expected in (("fp32", "fp32"), ("fp16", "fp16"), ("int8", "int8"), ("int4-g32", "int8")):
        assert precision(tensor_entries(random_compressed(SHARED, CLASSIFIER, scheme), 32)) == expected


def test_clustered_tensors_are_counted_as_the_target_holds_them() -> None:
    model = random_compressed(SHARED, CLASSIFIER, "pal3")
    books, levels = tensor_entries(model, 32, codebooks=True), tensor_entries(model, 32)
    target = Target("t", ".t", "", ("pal3",), (), 2, None, None, None)  # type: ignore[arg-type]
    least, most = 0, 0
    for book, level in zip(books, levels, strict=True):
        record = model.records[book["name"]]
        if isinstance(record, Clustered):
            assert (book["kind"], book["bits"], book["codebooks"]) == ("clustered", 3, 1)
            assert book["sha256"] == {"record": record.fingerprint()}
            assert (level["kind"], level["bits"], level["groups"], level["levels"]) == ("quantized", 8, 1, 8)
            assert level["sha256"] == {"record": record.as_quantized().fingerprint()}
            least += (record.codes.size * 3 + 7) // 8 + 2 * 8 + 2 * len(record.codes)
            most += record.codes.size + 2 * len(record.codes)
        else:
            assert book == level
            least, most = (size + 4 * int(np.prod(book["shape"])) for size in (least, most))
    assert (floor_bytes(target, "pal3", books), floor_bytes(target, "pal3", levels)) == (least, most)


@pytest.mark.parametrize(
    ("bits", "books", "apart", "most"), [(3, 1, 0, 8), (2, 4, 0, 16), (2, 4, 3, 18), (8, 1, 0, 255), (4, 64, 3, 255)]
)
def test_levels_of_clustered_codes_are_those_of_all_codebooks_and_of_outliers(
    bits: int, books: int, apart: int, most: int
) -> None:
    record, name = foreign_clusters(np.random.default_rng(0), (64, 32), bits, books), "head.pooler.weight"
    # Of three outliers two have the same level.
    own = Outliers(np.arange(apart, dtype=np.int32), np.array([126, -127, 126], np.int8)) if apart else None
    model = random_compressed(head=CLASSIFIER)
    changed = replace(model, records={**model.records, name: replace(record, outliers=own)})
    (entry,) = (each for each in tensor_entries(changed, 32) if each["name"] == name)
    found = np.unique(changed.records[name].as_quantized().codes)  # type: ignore[union-attr]
    assert entry["levels"] == most >= len(found)


def test_look_up_tables_and_their_scales_take_a_little_of_the_graph() -> None:
    overhead = Overhead(100, 5, 10, per_table=3, per_product=2)
    target = Target("t", ".t", "", ("pal3",), (), 2, None, None, None, overhead=overhead)  # type: ignore[arg-type]
    model = random_compressed(SHARED, CLASSIFIER, "pal3")
    books, levels = tensor_entries(model, 32, codebooks=True), tensor_entries(model, 32)
    tables = sum(isinstance(record, Clustered) for record in model.records.values())
    more = (3 * tables + 2 * (6 * 4 + 4)) * 2
    assert tables == 10
    assert graph_bytes(target, "int8", books, 4, [16, 32]) == graph_bytes(target, "int8", levels, 4, [16, 32]) + more


def test_groups_cover_every_parameter() -> None:
    found = groups(ENTRIES)
    assert set(found) == {"embeddings", "attention", "ffn", "head"}
    cut = (SHARED.max_positions - 32) * SHARED.embedding_size
    multipliers = sum(int(np.prod(r.shape)) for n, r in MODEL.records.items() if n.endswith("smooth.weight"))
    assert sum(g["parameters"] for g in found.values()) == MODEL.parameters - cut + multipliers
