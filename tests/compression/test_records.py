"""The record of clustered weights: what it holds, and how it is saved. (Quantized ones: test_quantize.py.)"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from mobilekit.compression.compress import compress
from mobilekit.compression.compressed import CompressedModel, load_records, save_records
from mobilekit.compression.records import Clustered, Outliers, Record, stacked
from mobilekit.errors import CompressionError, InputError
from mobilekit.models.load import load

NAME = "layers.0.ffn.up.weight"


def clustered(rows: int = 6, columns: int = 5, bits: int = 3, groups: int = 2, seed: int = 0) -> Clustered:
    """Codes that nothing could have derived again."""
    rng = np.random.default_rng(seed)
    codebook = np.sort(rng.integers(-127, 128, (groups, 2**bits)).astype(np.int8), axis=1)
    scale = rng.uniform(2**-8, 2**-4, (rows, 1)).astype(np.float16).astype(np.float32)
    return Clustered(rng.integers(0, 2**bits, (rows, columns)).astype(np.uint8), codebook, scale)


def with_outliers(rows: int = 6, columns: int = 5, count: int = 4, seed: int = 1) -> Clustered:
    """The same, some weights of it apart."""
    rng = np.random.default_rng(seed)
    positions = np.sort(rng.choice(rows * columns, count, replace=False)).astype(np.int32)
    return replace(
        clustered(rows, columns), outliers=Outliers(positions, rng.integers(-127, 128, count).astype(np.int8))
    )


@pytest.fixture(scope="module")
def model() -> CompressedModel:
    made = compress(load("tiny-classifier"), "int8")
    records: dict[str, Record] = {n: r for n, r in made.records.items() if n != NAME}
    rows, columns = made.records[NAME].shape
    return replace(made, records={**records, NAME: clustered(rows, columns)})


@pytest.mark.parametrize("bits", range(1, 9))
@pytest.mark.parametrize("groups", [1, 2, 6])
def test_values_are_levels_times_scales_exactly(bits: int, groups: int) -> None:
    record = clustered(bits=bits, groups=groups)
    assert (record.bits, record.groups, record.shape) == (bits, groups, (6, 5))
    size = 6 // groups
    for i, j in np.ndindex(record.shape):
        level = float(record.codebook[i // size, record.codes[i, j]])
        assert float(record.decode()[i, j]) == level * float(record.scale[i, 0])


def test_it_is_an_int8_matrix_with_few_levels() -> None:
    record = clustered(columns=400, groups=1)
    same = record.as_quantized()
    assert (same.bits, same.groups) == (8, 1)
    assert same.codes.flags.writeable
    assert np.array_equal(same.decode(), record.decode())
    assert np.array_equal(same.scale, record.scale)
    assert len(np.unique(same.codes)) <= 8


def test_codes_that_are_a_view_decode_all_the_same() -> None:
    record = clustered(rows=8, columns=6)
    view = Clustered(np.asfortranarray(record.codes), record.codebook, record.scale)
    assert np.array_equal(view.decode(), record.decode())
    assert view.fingerprint() == record.fingerprint()


@pytest.mark.parametrize(("bits", "expected"), [(1, 4), (2, 8), (3, 12), (4, 15), (6, 23), (8, 30)])
def test_payload_is_the_codes_at_their_bits(bits: int, expected: int) -> None:
    assert clustered(bits=bits).payload_bytes == expected


def test_fingerprint_tells_every_part() -> None:
    record = clustered()
    others = [
        replace(record, codes=(record.codes + 1).astype(np.uint8) % 8),
        replace(record, codebook=np.minimum(record.codebook, record.codebook[:, -2:-1])),
        replace(record, scale=record.scale * 2),
        replace(record, codebook=np.repeat(record.codebook, 3, axis=0)),
        Clustered(record.codes.reshape(10, 3), record.codebook, np.resize(record.scale, (10, 1))),
    ]
    prints = {r.fingerprint() for r in [record, *others]}
    assert len(prints) == 6
    assert clustered().fingerprint() == record.fingerprint()
    assert record.fingerprint() != record.as_quantized().fingerprint()


def test_outliers_are_levels_of_their_own() -> None:
    record = with_outliers()
    assert record.outliers is not None
    plain, same = replace(record, outliers=None), record.as_quantized()
    expected = plain.decode()
    for place, level in zip(record.outliers.positions, record.outliers.levels, strict=True):
        expected[divmod(place, 5)] = float(level) * float(record.scale[place // 5, 0])
    assert np.array_equal(record.decode(), expected) and np.array_equal(same.decode(), expected)
    assert not np.array_equal(expected, plain.decode())
    # Four bytes a position, one a level.
    assert record.payload_bytes == plain.payload_bytes + 4 * 5
    others = [
        plain,
        replace(record, outliers=Outliers(record.outliers.positions, -record.outliers.levels)),
        replace(record, outliers=Outliers(np.arange(4, dtype=np.int32), record.outliers.levels)),
        replace(record, outliers=Outliers(record.outliers.positions[:3], record.outliers.levels[:3])),
    ]
    assert len({r.fingerprint() for r in [record, *others]}) == 5
    assert with_outliers().fingerprint() == record.fingerprint()


def test_matrices_below_one_another_keep_their_outliers() -> None:
    parts = [with_outliers(seed=1), clustered(seed=2), with_outliers(seed=3)]
    record = stacked(parts)
    assert record.groups == 6 and record.shape == (18, 5)
    assert np.array_equal(record.decode(), np.concatenate([part.decode() for part in parts]))
    assert stacked([clustered(), clustered()]).outliers is None


@pytest.mark.parametrize(
    ("positions", "levels", "said"),
    [
        (np.int64([3]), np.int8([1]), "int32 vector, and some"),
        (np.int32([[3]]), np.int8([[1]]), "int32 vector, and some"),
        (np.int32([]), np.int8([]), "int32 vector, and some"),
        (np.int32([-1, 3]), np.int8([1, 1]), "ascending, from 0 on"),
        (np.int32([3, 3]), np.int8([1, 1]), "ascending, from 0 on"),
        (np.int32([4, 3]), np.int8([1, 1]), "ascending, from 0 on"),
        (np.int32([3]), np.int8([1, 1]), "level each, from -127"),
        (np.int32([3]), np.int16([1]), "level each, from -127"),
        (np.int32([3]), np.int8([-128]), "level each, from -127"),
        (np.int32([30]), np.int8([1]), "outside of the 30 weights"),
        (np.int32([2**31 - 1]), np.int8([1]), "outside of the 30 weights"),
    ],
)
def test_outliers_that_no_weight_could_be_are_refused(positions: np.ndarray, levels: np.ndarray, said: str) -> None:
    with pytest.raises(CompressionError, match=said):
        replace(clustered(), outliers=Outliers(positions, levels))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"codes": np.zeros((6, 5), np.int8)}, "uint8 matrix"),
        ({"codes": np.zeros(6, np.uint8)}, "uint8 matrix"),
        ({"codes": np.full((6, 5), 8, np.uint8)}, "range 0 .. 7 of 3 bits"),
        ({"codebook": np.zeros((1, 7), np.int8)}, "bits from 1 to 8"),
        ({"codebook": np.zeros((1, 1), np.int8)}, "bits from 1 to 8"),
        ({"codebook": np.zeros((1, 512), np.int8)}, "bits from 1 to 8"),
        ({"codebook": np.zeros(8, np.int8)}, "bits from 1 to 8"),
        ({"codebook": np.zeros((1, 8, 1), np.int8)}, "bits from 1 to 8"),
        ({"codebook": np.zeros((1, 8), np.float32)}, "bits from 1 to 8"),
        ({"codebook": np.zeros((0, 8), np.int8)}, "0 groups do not divide 6 rows"),
        ({"codebook": np.zeros((4, 8), np.int8)}, "4 groups do not divide 6 rows"),
        ({"codebook": np.arange(8, 0, -1, np.int8)[None]}, "ascending, from -127"),
        ({"codebook": np.arange(-128, -120, 1, np.int8)[None]}, "ascending, from -127"),
        ({"scale": np.ones((1, 1), np.float32)}, "shape"),
        ({"scale": np.ones((6, 2), np.float32)}, "shape"),
        ({"scale": np.ones((6, 1))}, "finite float32"),
        ({"scale": np.zeros((6, 1), np.float32)}, "finite float32"),
        ({"scale": np.full((6, 1), np.nan, np.float32)}, "finite float32"),
        ({"scale": np.full((6, 1), 1 + 2**-20, np.float32)}, "exact in float16"),
    ],
)
def test_what_no_target_could_write_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(CompressionError, match=said):
        replace(clustered(), **change)


def test_records_are_saved_verbatim_and_the_same_twice(model: CompressedModel, tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    save_records(model, first)
    again = load_records(first)
    save_records(again, second)
    assert first.read_bytes() == second.read_bytes()
    assert isinstance(again.records[NAME], Clustered)
    assert list(again.records) == sorted(model.records)
    assert {n: r.fingerprint() for n, r in again.records.items()} == {
        n: r.fingerprint() for n, r in model.records.items()
    }
    assert again.parameters == compress(load("tiny-classifier"), "int8").parameters


def rewritten(path: Path, change: dict[str, Any], tensors: dict[str, np.ndarray] | None = None) -> Path:
    """A records file whose description or tensors are others."""
    with safe_open(path, framework="numpy") as file:
        about = json.loads(file.metadata()["mobilekit"])
        kept = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    about = {key: value for key, value in {**about, **change}.items() if value is not None}
    save_file({**kept, **(tensors or {})}, path, metadata={"mobilekit": json.dumps(about)})
    return path


def test_files_from_before_there_were_clustered_records_load(tmp_path: Path) -> None:
    expected = compress(load("tiny-classifier"), "int8")
    save_records(expected, tmp_path / "a")
    found = load_records(rewritten(tmp_path / "a", {"clustered": None}))
    assert {n: r.fingerprint() for n, r in found.records.items()} == {
        n: r.fingerprint() for n, r in expected.records.items()
    }


@pytest.mark.parametrize("names", [5, "abc", [NAME, NAME], [NAME, "other"], [[NAME]], [7], None, []])
def test_broken_lists_of_clustered_records_are_named(model: CompressedModel, names: object, tmp_path: Path) -> None:
    save_records(model, tmp_path / "a")
    with pytest.raises(InputError, match=r"(incomplete|broken) records.*compress again"):
        load_records(rewritten(tmp_path / "a", {"clustered": names}))


@pytest.mark.parametrize("part", ["codes", "codebook", "scale"])
def test_broken_parts_are_named(model: CompressedModel, part: str, tmp_path: Path) -> None:
    save_records(model, tmp_path / "a")
    with pytest.raises(InputError, match="broken records: .*; compress again"):
        load_records(rewritten(tmp_path / "a", {}, {f"{NAME}.{part}": np.full((2, 3), 200, np.uint8)}))


@pytest.fixture(scope="module")
def model_apart(model: CompressedModel) -> CompressedModel:
    """One record with outliers, one clustered without."""
    rows, columns = model.records[NAME].shape
    other = model.records["layers.1.ffn.up.weight"].shape
    return replace(
        model,
        records={
            **model.records,
            NAME: with_outliers(rows, columns, 50),
            "layers.1.ffn.up.weight": clustered(*other),
        },
    )


def test_outliers_are_saved_verbatim_and_the_same_twice(model_apart: CompressedModel, tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    save_records(model_apart, first)
    again = load_records(first)
    save_records(again, second)
    assert first.read_bytes() == second.read_bytes() and again.digest() == model_apart.digest()
    assert again.parameters == model_apart.parameters


def test_files_without_outliers_say_nothing_of_them(model: CompressedModel, tmp_path: Path) -> None:
    save_records(model, tmp_path / "a")
    with safe_open(tmp_path / "a", framework="numpy") as file:
        assert "outliers" not in json.loads(file.metadata()["mobilekit"])


@pytest.mark.parametrize(
    "names",
    [
        5,
        "abc",
        [NAME, NAME],
        [NAME, "other"],
        [[NAME]],
        [7],
        None,
        [],
        [NAME, "layers.1.ffn.up.weight"],
        {NAME: NAME, "b": 1},
    ],
)
def test_broken_lists_of_outliers_are_named(model_apart: CompressedModel, names: object, tmp_path: Path) -> None:
    save_records(model_apart, tmp_path / "a")
    with pytest.raises(InputError, match=r"(incomplete|broken) records.*compress again"):
        load_records(rewritten(tmp_path / "a", {"outliers": names}))


def test_outliers_of_what_is_not_clustered_are_refused(model_apart: CompressedModel, tmp_path: Path) -> None:
    save_records(model_apart, tmp_path / "a")
    other = "layers.0.ffn.down.weight"
    tensors = {f"{other}.outliers": np.int32([1]), f"{other}.outlier_levels": np.int8([1])}
    with pytest.raises(InputError, match=r"incomplete records \(outliers of a matrix that is not clustered\)"):
        load_records(rewritten(tmp_path / "a", {"outliers": [NAME, other]}, tensors))


@pytest.mark.parametrize("part", ["outliers", "outlier_levels"])
@pytest.mark.parametrize(
    "values", [np.full(50, 2**30, np.int32), np.zeros(50, np.int8), np.arange(49, dtype=np.int32), np.float32(3)]
)
def test_broken_outliers_are_named(model_apart: CompressedModel, part: str, values: np.ndarray, tmp_path: Path) -> None:
    if part == "outlier_levels" and values.dtype == np.int8:
        values = values[:7]
    save_records(model_apart, tmp_path / "a")
    with pytest.raises(InputError, match="broken records: .*; compress again"):
        load_records(rewritten(tmp_path / "a", {}, {f"{NAME}.{part}": np.asarray(values)}))
