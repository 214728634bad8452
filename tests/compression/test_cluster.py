from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from mobilekit.compression import cluster
from mobilekit.compression.cluster import cluster_rows
from mobilekit.compression.kmeans import BINS, LIMIT, best_levels, bins
from mobilekit.compression.quantize import quantize_rows, row_scales
from mobilekit.compression.records import Clustered
from mobilekit.errors import CompressionError
from mobilekit.models.load import load

BITS = range(1, 9)
MATRICES = arrays(
    np.float32, array_shapes(min_dims=2, max_dims=2, max_side=12), elements=st.floats(-1e3, 1e3, width=32)
)


def matrix(rows: int = 24, columns: int = 64, seed: int = 0) -> np.ndarray:
    """Rows of other widths, with long tails."""
    rng = np.random.default_rng(seed)
    return (rng.standard_t(4, (rows, columns)) * rng.uniform(0.01, 0.2, (rows, 1))).astype(np.float32)


def error(weight: np.ndarray, record: Clustered, importance: np.ndarray | float = 1.0) -> float:
    return float((importance * (weight.astype(np.float64) - record.decode()) ** 2).sum())


def error_by_largest(weight: np.ndarray, bits: int) -> float:
    """The error of the best codebook when each scale is a row's largest magnitude over 127."""
    scale = row_scales(weight, LIMIT).astype(np.float64)
    values = weight / scale
    mass, moment = np.zeros(BINS), np.zeros(BINS)
    np.add.at(mass, bins(values.astype(np.float32)), scale**2)
    np.add.at(moment, bins(values.astype(np.float32)), scale**2 * values)
    return float((weight.astype(np.float64) ** 2).sum()) + best_levels(mass, moment, 2**bits)[1]


@given(MATRICES, st.integers(1, 8))
@settings(deadline=None, max_examples=60)
def test_every_code_is_the_nearest_level(weight: np.ndarray, bits: int) -> None:
    record = cluster_rows(weight, bits)
    assert record.shape == weight.shape and record.bits == bits and record.groups == 1
    levels = record.codebook[0].astype(np.float64) * record.scale
    nearest = np.abs(weight[:, :, None] - levels[:, None, :]).min(axis=2)
    # A value in the middle of two levels may go to either, and its division is rounded to float32.
    slack = 1e-5 * np.abs(weight) + 1e-5 * np.abs(levels).max(axis=1, keepdims=True)
    assert (np.abs(weight - record.decode()) <= nearest + slack).all()


@given(MATRICES, st.integers(1, 8))
@settings(deadline=None, max_examples=60)
def test_error_is_never_above_that_of_the_largest_magnitudes(weight: np.ndarray, bits: int) -> None:
    weight = weight[weight.any(axis=1)]
    if len(weight):
        # What float64's prefix sums of a grid of 127 steps can tell apart.
        slack = 1e-12 * weight.size * float(np.maximum(np.abs(weight).max(), 127 * 2.0**-24)) ** 2
        assert error(weight, cluster_rows(weight, bits)) <= error_by_largest(weight, bits) * (1 + 1e-5) + slack


@pytest.mark.parametrize("bits", BITS)
def test_better_scales_gain(bits: int) -> None:
    weight = matrix(96, 384)
    gained = 1 - error(weight, cluster_rows(weight, bits)) / error_by_largest(weight, bits)
    assert gained > {1: 0.05, 2: 0.05, 3: 0.04, 4: 0.03, 5: 0.03, 6: 0.02, 7: 0.02, 8: 0.002}[bits]


def test_error_falls_by_bits_and_ends_at_that_of_int8() -> None:
    weight = matrix(96, 384)
    errors = [error(weight, cluster_rows(weight, bits)) for bits in BITS]
    assert all(more < 0.45 * fewer for fewer, more in itertools.pairwise(errors[:6]))
    assert errors[7] < errors[6] < errors[5]
    assert errors[-1] <= ((weight.astype(np.float64) - quantize_rows(weight).decode()) ** 2).sum()


@pytest.mark.parametrize("bits", BITS)
def test_what_has_been_clustered_comes_back(bits: int) -> None:
    rng = np.random.default_rng(bits)
    inner = rng.choice(np.arange(-126, 127), max(2**bits - 2, 0), replace=False) if bits < 8 else np.arange(-126, 128)
    codebook = np.sort(np.concatenate([[-127, 127], inner])).astype(np.int8)
    codes = rng.integers(0, 2**bits, (6, 300)).astype(np.uint8)
    codes[:, :2] = 0, 2**bits - 1
    scale = rng.uniform(0.001, 0.1, (6, 1)).astype(np.float16).astype(np.float32)
    weight = Clustered(codes, codebook[None], scale).decode()
    assert np.array_equal(cluster_rows(weight, bits).decode(), weight)


def test_groups_are_clustered_as_if_alone() -> None:
    weight = matrix(12)
    record = cluster_rows(weight, 3, groups=3)
    assert record.codebook.shape == (3, 8)
    for i in range(3):
        alone = cluster_rows(weight[i * 4 : i * 4 + 4], 3)
        assert np.array_equal(record.codebook[i : i + 1], alone.codebook)
        assert np.array_equal(record.decode()[i * 4 : i * 4 + 4], alone.decode())
    assert error(weight, record) < error(weight, cluster_rows(weight, 3))


def test_importance_says_whose_error_counts() -> None:
    weight, rng = matrix(), np.random.default_rng(1)
    importance = (10.0 ** rng.uniform(-4, 0, weight.shape)).astype(np.float32)
    plain, weighted = cluster_rows(weight, 2), cluster_rows(weight, 2, importance=importance)
    assert error(weight, weighted, importance) < 0.9 * error(weight, plain, importance)
    assert error(weight, plain) < error(weight, weighted)
    ones = cluster_rows(weight, 2, importance=np.ones_like(weight))
    assert ones.fingerprint() == plain.fingerprint()


@pytest.mark.parametrize("factor", [2.0**-90, 2.0**90])
def test_importance_has_no_unit(factor: float) -> None:
    weight = matrix()
    importance = np.random.default_rng(2).random(weight.shape).astype(np.float32)
    scaled = cluster_rows(weight, 4, importance=importance * np.float32(factor))
    assert scaled.fingerprint() == cluster_rows(weight, 4, importance=importance).fingerprint()


def test_weights_without_importance_change_nothing_for_the_others() -> None:
    weight = matrix()
    importance = np.ones_like(weight)
    importance[:, 10:20] = 0
    importance[5] = 0
    other = weight.copy()
    other[:, 10:20] *= np.float32(0.5)
    other[5] = other[5, ::-1] * np.float32(1e-3)
    # The largest weights, from which the search for scales begins, are elsewhere.
    other[:, 0] = weight[:, 0] = 2 * np.abs(weight).max(axis=1)
    found, expected = (cluster_rows(w, 3, importance=importance) for w in (other, weight))
    assert np.array_equal(found.codebook, expected.codebook)
    kept = np.arange(len(weight)) != 5
    assert np.array_equal(found.scale[kept], expected.scale[kept])
    # A row that nothing is known of is coded all the same.
    assert (
        error(other[5:6], Clustered(found.codes[5:6], found.codebook, found.scale[5:6])) < 0.2 * (other[5] ** 2).sum()
    )


@pytest.mark.parametrize("bits", BITS)
def test_rows_of_zeros_do_not_touch_the_others(bits: int) -> None:
    weight = matrix()
    padded = np.insert(weight, (0, 7, 24), 0, axis=0)
    record, expected = cluster_rows(padded, bits), cluster_rows(weight, bits)
    zero = ~padded.any(axis=1)
    assert np.array_equal(record.codebook, expected.codebook)
    assert np.array_equal(record.decode()[~zero], expected.decode())
    if (record.codebook == 0).any():
        assert (record.scale[zero] == 1).all() and not record.decode()[zero].any()
    else:
        assert np.abs(record.decode()[zero]).max() < 1e-5


def test_row_whose_scale_is_one_is_no_row_of_zeros() -> None:
    weight = matrix() / np.float32(0.2)
    weight[3] *= 127 / np.abs(weight[3]).max()
    record = cluster_rows(np.insert(weight, 9, 0, axis=0), 4)
    kept = np.delete(record.decode(), 9, axis=0)
    assert np.array_equal(kept, cluster_rows(weight, 4).decode())
    assert ((kept[3] - weight[3]) ** 2).sum() < 0.03 * (weight[3] ** 2).sum()


def test_matrix_of_zeros_stays_zero() -> None:
    for bits in BITS:
        record = cluster_rows(np.zeros((4, 5), np.float32), bits)
        assert not record.decode().any() and (record.scale == 1).all()


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    weight = matrix(50, 40)
    importance = np.random.default_rng(3).random(weight.shape).astype(np.float32)
    whole = [cluster_rows(weight, 4), cluster_rows(weight, 4, 2, importance)]
    monkeypatch.setattr(cluster, "_BLOCK", 700)
    parts = [cluster_rows(weight, 4), cluster_rows(weight, 4, 2, importance)]
    assert [r.fingerprint() for r in parts] == [r.fingerprint() for r in whole]


def test_weight_and_importance_stay_as_they_are() -> None:
    weight = matrix()
    importance = np.abs(weight)
    before = weight.copy()
    cluster_rows(weight, 4, importance=importance)
    assert np.array_equal(weight, before) and np.array_equal(importance, np.abs(before))


@pytest.mark.parametrize("bits", [1, 4, 8])
@pytest.mark.parametrize("scale", [1e-30, 1e-7, 1e6])
def test_tiny_and_huge_weights(bits: int, scale: float) -> None:
    weight = matrix() * np.float32(scale / 0.2)
    record = cluster_rows(weight, bits)
    largest = np.abs(weight).max()
    assert np.abs(record.decode() - weight).max() <= max(largest, 127 * 2.0**-24)


@pytest.mark.parametrize("importance", [False, True])
def test_memory_beside_the_model_is_bounded(importance: bool) -> None:
    weight = matrix(6000, 384)
    share = np.abs(weight) if importance else None
    cluster_rows(weight[:100], 4)
    tracemalloc.start()
    try:
        cluster_rows(weight, 4, importance=share)
        assert tracemalloc.get_traced_memory()[1] <= 2 * weight.nbytes
    finally:
        tracemalloc.stop()


def _with(weight: np.ndarray, value: float) -> np.ndarray:
    weight[1, 1] = value
    return weight


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda w: cluster_rows(w, 0), "1 to 8 bits, not 0"),
        (lambda w: cluster_rows(w, 9), "1 to 8 bits, not 9"),
        (lambda w: cluster_rows(w, 4, 0), "0 groups do not divide 4 rows"),
        (lambda w: cluster_rows(w, 4, 3), "3 groups do not divide 4 rows"),
        (lambda w: cluster_rows(w, 4, 8), "8 groups do not divide 4 rows"),
        (lambda w: cluster_rows(w[0], 4), r"not a tensor of shape \[6\]"),
        (lambda w: cluster_rows(w[:, :0], 4), r"not a tensor of shape \[4, 0\]"),
        (lambda w: cluster_rows(w[:0], 4), r"not a tensor of shape \[0, 6\]"),
        (lambda w: cluster_rows(_with(w, np.nan), 4), "not finite"),
        (lambda w: cluster_rows(_with(w, -np.inf), 4), "not finite"),
        (lambda w: cluster_rows(_with(w, 1e9), 4), "too large for a float16 scale"),
        (lambda w: cluster_rows(w, 4, importance=w[:2]), r"shape \[2, 6\] for weights of \[4, 6\]"),
        (lambda w: cluster_rows(w, 4, importance=_with(w.copy(), -1)), "negative or not finite"),
        (lambda w: cluster_rows(w, 4, importance=_with(w.copy(), np.nan)), "negative or not finite"),
        (lambda w: cluster_rows(w, 4, importance=_with(w.copy(), np.inf)), "negative or not finite"),
        (lambda w: cluster_rows(w, 4, 2, w * np.repeat(np.float32([0, 1]), 2)[:, None]), "zero in all of a group"),
    ],
)
def test_what_cannot_be_clustered_is_refused(call: Callable[[np.ndarray], object], said: str) -> None:
    with pytest.raises(CompressionError, match=said):
        call(np.abs(matrix(4, 6)))


@pytest.mark.slow
@pytest.mark.parametrize("bits", [2, 3, 4])
def test_real_layers_have_less_error_than_scikit_learns_centroids(bits: int) -> None:
    """Free centroids of the same tensor, with and without the usual channel scale."""
    from sklearn.cluster import KMeans

    tensors = load("minilm-l6").tensors()
    for name in ("layers.1.attention.key.weight", "layers.4.attention.output.weight"):
        weight = tensors[name]
        found = error(weight, cluster_rows(weight, bits))
        for scale in (1.0, np.abs(weight).max(axis=1, keepdims=True)):
            values = (weight / scale).astype(np.float64).reshape(-1, 1)
            fitted = KMeans(2**bits, n_init=3, random_state=0).fit(values)
            decoded = fitted.cluster_centers_[fitted.labels_].reshape(weight.shape) * scale
            assert found < ((weight - decoded) ** 2).sum()
