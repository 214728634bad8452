"""Outliers kept apart: which they are, and what is left of the error of the rest."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from mobilekit.compression.cluster import cluster_rows
from mobilekit.compression.compensate import cluster_compensated, output_errors, prepare
from mobilekit.compression.compress import compress
from mobilekit.compression.outliers import cluster_apart
from mobilekit.compression.plan import Plan, Rule
from mobilekit.compression.records import Clustered
from mobilekit.compression.schemes.registry import scheme, schemes
from mobilekit.errors import CompressionError
from mobilekit.models.load import load

MATRICES = arrays(
    np.float32, array_shapes(min_dims=2, max_dims=2, min_side=4, max_side=16), elements=st.floats(-1e3, 1e3, width=32)
)


def matrix(rows: int = 24, columns: int = 64, seed: int = 0) -> np.ndarray:
    """Rows of other widths, with long tails."""
    rng = np.random.default_rng(seed)
    return (rng.standard_t(4, (rows, columns)) * rng.uniform(0.01, 0.2, (rows, 1))).astype(np.float32)


def error(weight: np.ndarray, record: Clustered, importance: np.ndarray | float = 1.0) -> float:
    return float((importance * (weight.astype(np.float64) - record.decode()) ** 2).sum())


def apart(record: Clustered) -> np.ndarray:
    """Where outliers are."""
    found = np.zeros(record.shape, bool)
    if record.outliers is not None:
        found.ravel()[record.outliers.positions] = True
    return found


@given(MATRICES, st.sampled_from([2, 3]), st.integers(1, 50))
@settings(deadline=None, max_examples=60)
def test_error_is_never_above_that_without_outliers(weight: np.ndarray, bits: int, thousandths: int) -> None:
    record, plain = cluster_apart(weight, bits, thousandths), cluster_rows(weight, bits)
    assert record.shape == plain.shape and record.bits == bits
    assert apart(record).sum() <= round(weight.size * thousandths / 1000)
    assert error(weight, record) <= error(weight, plain) * (1 + 1e-5)


@pytest.mark.parametrize("bits", [2, 3])
def test_error_falls_with_their_number(bits: int) -> None:
    weight = matrix(96, 384)
    errors = [error(weight, cluster_apart(weight, bits, thousandths)) for thousandths in (0, 2, 5, 10, 50)]
    assert all(more < 0.95 * fewer for fewer, more in itertools.pairwise(errors))
    assert errors[-1] < 0.5 * errors[0]


def test_none_are_none() -> None:
    weight = matrix()
    for record in (cluster_apart(weight, 2, 0), cluster_apart(weight[:2, :8], 2, 10)):
        assert record.outliers is None
    assert cluster_apart(weight, 2, 0).fingerprint() == cluster_rows(weight, 2).fingerprint()


def test_few_weights_that_are_far_from_all_others_are_found_and_kept_nearly_exactly() -> None:
    rng = np.random.default_rng(1)
    weight = (rng.choice([-3.0, -1.0, 1.0, 3.0], (20, 50)) * rng.uniform(0.5, 2, (20, 1))).astype(np.float32)
    places = np.sort(rng.choice(weight.size, 10, replace=False))
    weight.ravel()[places] *= 9
    record = cluster_apart(weight, 2, 10)
    assert record.outliers is not None and np.array_equal(record.outliers.positions, places)
    # The int8 grid of a row, which reaches from its largest outlier to its levels.
    assert np.abs(record.decode() / weight - 1).max() < 0.15
    assert error(weight, record) < 0.03 * error(weight, cluster_rows(weight, 2))


def test_row_with_a_weight_out_of_all_reach_bears_it_alone() -> None:
    weight = matrix(96, 384)
    weight[5, 7] = 100 * np.abs(weight[5]).max()
    record, plain = cluster_apart(weight, 2, 5), cluster_rows(weight, 2)
    assert apart(record)[5, 7] and abs(record.decode()[5, 7] / weight[5, 7] - 1) < 0.01
    others = np.arange(96) != 5
    lost, most = (np.square(weight - r.decode())[others].sum() for r in (record, plain))
    assert lost < 0.85 * most


def test_they_are_whole_levels_of_their_rows() -> None:
    weight = matrix(96, 384)
    record = cluster_apart(weight, 2, 5)
    assert record.outliers is not None and apart(record).sum() == round(weight.size * 0.005)
    steps = weight / record.scale
    nearest = np.clip(np.rint(steps), -127, 127).ravel()[record.outliers.positions]
    assert np.array_equal(nearest, record.outliers.levels)
    levels = record.codebook[0].astype(np.float64) * record.scale
    best = np.abs(weight[:, :, None] - levels[:, None, :]).min(axis=2)
    slack = 1e-5 * (np.abs(weight) + np.abs(levels).max(axis=1, keepdims=True))
    assert (np.abs(weight - record.decode()) <= best + slack)[~apart(record)].all()


def test_importance_says_which() -> None:
    weight = matrix()
    importance = np.ones_like(weight)
    importance[:, :32] = 1e-4
    record = cluster_apart(weight, 2, 10, importance=importance)
    assert apart(record)[:, 32:].sum() == round(weight.size * 0.01)
    assert error(weight, record, importance) < 0.9 * error(weight, cluster_rows(weight, 2, 1, importance), importance)


def test_groups_have_theirs_as_if_alone() -> None:
    weight = matrix(12)
    record = cluster_apart(weight, 2, 20, groups=3)
    parts = [cluster_apart(weight[i * 4 : i * 4 + 4], 2, 20) for i in range(3)]
    assert record.groups == 3
    assert np.array_equal(record.decode(), np.concatenate([part.decode() for part in parts]))
    assert np.array_equal(apart(record), np.concatenate([apart(part) for part in parts]))


@pytest.mark.parametrize("bits", [2, 3])
def test_rows_of_zeros_do_not_touch_the_others(bits: int) -> None:
    weight = matrix(40)
    padded = np.insert(weight, (0, 7, 40), 0, axis=0)
    # As many outliers of fewer weights.
    record, expected = cluster_apart(padded, bits, 10), cluster_apart(weight, bits, 11)
    assert apart(record).sum() == apart(expected).sum() == 28
    zero = ~padded.any(axis=1)
    assert np.array_equal(record.decode()[~zero], expected.decode())
    assert np.abs(record.decode()[zero]).max() < 1e-5


def test_rows_with_a_single_weight_keep_it() -> None:
    weight = np.zeros((30, 40), np.float32)
    weight[np.arange(30), np.arange(30)] = np.linspace(1, 5, 30)
    record = cluster_apart(weight, 2, 25)
    assert error(weight, record) <= error(weight, cluster_rows(weight, 2))


def test_same_twice_and_weights_stay() -> None:
    weight, before = matrix(), matrix()
    importance = np.abs(weight)
    assert (
        cluster_apart(weight, 2, 9, 2, importance).fingerprint()
        == cluster_apart(weight, 2, 9, 2, importance).fingerprint()
    )
    assert np.array_equal(weight, before) and np.array_equal(importance, np.abs(before))


def test_memory_is_bounded() -> None:
    weight = matrix(6000, 384)
    tracemalloc.start()
    try:
        cluster_apart(weight, 2, 5)
        assert tracemalloc.get_traced_memory()[1] <= 5 * weight.nbytes
    finally:
        tracemalloc.stop()


def inputs_of(seed: int, columns: int, tokens: int = 300) -> np.ndarray:
    """Correlated inputs, [columns, tokens]."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(columns, columns)) * np.geomspace(3, 0.2, columns)
    return (mixing @ rng.normal(size=(columns, tokens))).astype(np.float32)


@pytest.mark.parametrize("bits", [2, 3])
@pytest.mark.parametrize("groups", [1, 2])
def test_output_is_nearer_for_inputs_with_outliers(bits: int, groups: int) -> None:
    x, weight = inputs_of(2, 64), matrix(48, 64)
    inputs = prepare(x @ x.T)
    lost = {}
    for thousandths in (0, 20):
        record = cluster_compensated(weight, bits, inputs, groups, thousandths)
        share = np.broadcast_to(inputs.importance.astype(np.float32), weight.shape)
        nearest = cluster_apart(weight, bits, thousandths, groups, share)
        assert np.array_equal(apart(record), apart(nearest)) and apart(record).any() == bool(thousandths)
        own, most = (output_errors(weight, r.decode(), inputs) for r in (record, nearest))
        assert (own <= most * 1.0001).all() and own.sum() < 0.9 * most.sum()
        lost[thousandths] = own.sum()
    assert lost[20] < 0.8 * lost[0]


def test_outliers_make_up_for_what_others_lose() -> None:
    """Those of the last column take what all before it lost: they are rounded to the grid, not to a level."""
    rng, columns = np.random.default_rng(0), 16
    moments = np.full((columns, columns), 1.9) + np.diag(np.linspace(2, 0.1, columns))
    weight = rng.normal(size=(400, columns)).astype(np.float32)
    weight[:20, -1] = rng.choice([-9, 9], 20)
    record = cluster_compensated(weight, 2, prepare(moments, 0), outliers=4)
    assert apart(record)[:20, -1].all() and apart(record).sum() == 26
    lost = (weight - record.decode())[:20].astype(np.float64)
    best = -(lost[:, :-1] @ moments[:-1, -1]) / moments[-1, -1]
    inside = np.abs(record.as_quantized().codes[:20, -1].astype(int)) < 127
    assert inside.sum() >= 5 and np.abs(best).max() > 0.3
    assert (np.abs(lost[:, -1] - best) <= 0.51 * record.scale[:20, 0])[inside].all()


def test_which_schemes_have_the_option() -> None:
    assert {n for n, found in schemes().items() if "outliers" in found.options} == {"pal3", "pal2"}
    assert list(scheme("pal2").options["outliers"]) == list(range(1, 51))


@pytest.mark.parametrize("texts", [("a film that works.", "the bank by the river."), ()], ids=["for text", "plain"])
def test_a_plan_keeps_them_apart_beside_other_schemes(texts: tuple[str, ...]) -> None:
    model, name = load("tiny-classifier"), "layers.0.ffn.up.weight"
    found = scheme("pal2").configured(outliers=10, groups=2)
    made = Plan(
        "p",
        (
            Rule("*", scheme("int8")),
            Rule("layers.*.ffn.*", found, {"outliers": 10, "groups": 2}),
            Rule("embeddings.token", found, {"outliers": 10, "groups": 2}),
        ),
    )
    compressed = compress(model, made, texts)
    for each in (name, "embeddings.token.weight"):
        record = compressed.records[each]
        assert isinstance(record, Clustered) and record.groups == 2
        assert 0 < apart(record).sum() <= round(record.codes.size * 0.01)


def test_what_cannot_be_clustered_is_refused() -> None:
    weight = matrix(4, 6)
    for bits, groups, said in ((9, 1, "1 to 8 bits, not 9"), (2, 3, "3 groups do not divide 4 rows")):
        with pytest.raises(CompressionError, match=said):
            cluster_apart(weight, bits, 10, groups)
    weight[0, 0] = np.nan
    with pytest.raises(CompressionError, match="not finite"):
        cluster_apart(weight, 2, 10)
