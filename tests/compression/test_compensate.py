from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mobilekit.compression.cluster import cluster_rows
from mobilekit.compression.compensate import (
    DAMPING,
    Inputs,
    cluster_compensated,
    compensate,
    output_errors,
    prepare,
    quantize_compensated,
)
from mobilekit.compression.quantize import codes_of
from mobilekit.compression.scales import quantize_searched
from mobilekit.errors import CompressionError

WHOLE = lambda _, values: values.round()  # noqa: E731


def inputs_of(seed: int, columns: int, tokens: int = 300) -> np.ndarray:
    """Correlated inputs, [columns, tokens]."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(columns, columns)) * np.geomspace(3, 0.2, columns)
    return (mixing @ rng.normal(size=(columns, tokens))).astype(np.float32)


@given(st.integers(0, 10_000), st.integers(2, 24), st.sampled_from([2, 3, 4]))
def test_output_is_nearer_than_with_plain_rounding(seed: int, columns: int, bits: int) -> None:
    x = inputs_of(seed, columns)
    weight = np.random.default_rng(seed + 1).normal(size=(16, columns)).astype(np.float32)
    inputs = prepare(x @ x.T, 1e-6)
    record = quantize_compensated(weight, bits, inputs)
    plain = codes_of(weight, record.scale, bits) * record.scale
    lost, most = (np.square((weight - w).astype(np.float64) @ x).sum(1) for w in (record.decode(), plain))
    # No row is worse, and together they are clearly better.
    assert (lost <= most * 1.001).all()
    assert lost.sum() < (0.95 if columns > 3 else 1.0001) * most.sum()


def test_two_columns_by_hand() -> None:
    """H = [[2, 1], [1, 2]]: an error e of the first column is best made up for by e * 1/2 on the second."""
    moments = np.float64([[2, 1], [1, 2]])
    inputs = prepare(moments, 0)
    weight = np.float32([[0.4, 1.4], [0.6, 0.1], [-1.3, 0.7]])
    # The columns are as active as each other, so they keep their order. 0.4 -> 0 leaves 0.4: 1.4 + 0.2 = 1.6 -> 2.
    # 0.6 -> 1 leaves -0.4: 0.1 - 0.2 -> 0. -1.3 -> -1 leaves -0.3: 0.7 - 0.15 = 0.55 -> 1.
    assert inputs.order.tolist() == [0, 1]
    found = compensate(weight, inputs, WHOLE)
    assert np.array_equal(found, [[0, 2], [1, 0], [-1, 1]])
    # Of all second columns the one found is the best, given the first.
    for row, values in zip(weight, found, strict=True):
        errors = [np.subtract(row, [values[0], v]) @ moments @ np.subtract(row, [values[0], v]) for v in range(-3, 4)]
        assert range(-3, 4)[int(np.argmin(errors))] == values[1]


def test_more_active_columns_are_rounded_first() -> None:
    inputs = prepare(np.float64([[1, 0.9, 0], [0.9, 4, 1], [0, 1, 2]]), 0)
    assert inputs.order.tolist() == [1, 2, 0]
    # 0.4 of column 1 is lost. It moves to 2 and 0 by the inverse of their moments times theirs with column 1.
    after = np.float32([0.3, 0.4, 0.2])
    moved = np.linalg.solve([[1, 0], [0, 2]], [0.9, 1]) * 0.4
    expected = [round(0.3 + moved[0]), 0, round(0.2 + moved[1])]
    assert np.array_equal(compensate(after[None], inputs, WHOLE), [expected])


@pytest.mark.parametrize("columns", [1, 5, 64, 65, 200])
def test_every_column_makes_up_for_those_before_as_well_as_it_can(columns: int) -> None:
    """Against the plain method: after each column the others are solved for afresh, by least squares."""
    x = inputs_of(3, columns, 2 * columns)
    weight = np.random.default_rng(4).normal(size=(3, columns)).astype(np.float32)
    inputs = prepare(x @ x.T)
    h, order = inputs.moments.numpy(), inputs.order.numpy()
    exact = weight.astype(np.float64)
    left = exact.copy()
    for i in range(columns):
        j, rest, done = order[i], order[i + 1 :], order[: i + 1]
        left[:, j] = np.rint(left[:, j] * 2) / 2
        # What is lost so far, as seen by the columns that are left.
        lost = (exact - left)[:, done] @ h[np.ix_(done, rest)]
        left[:, rest] = exact[:, rest] + np.linalg.solve(h[np.ix_(rest, rest)], lost.T).T
    found = compensate(weight, inputs, lambda _, values: (values * 2).round() / 2)
    assert np.mean(found == left) > 0.99


def test_inputs_that_do_not_go_together_leave_plain_rounding() -> None:
    weight = np.random.default_rng(5).normal(size=(6, 40)).astype(np.float32)
    inputs = prepare(np.diag(np.random.default_rng(6).uniform(0.1, 9, 40)), 0)
    for block in (None, 8):
        record = quantize_compensated(weight, 4, inputs, block)
        assert np.array_equal(record.codes, codes_of(weight, record.scale, 4))
        assert np.allclose(inputs.importance, inputs.moments.diagonal())
        assert np.array_equal(record.scale, quantize_searched(weight, 4, block, inputs.importance).scale)


def test_columns_without_any_input_do_no_harm() -> None:
    x = inputs_of(7, 12)
    x[[2, 9]] = 0
    weight = np.random.default_rng(8).normal(size=(5, 12)).astype(np.float32)
    record = quantize_compensated(weight, 3, prepare(x @ x.T))
    assert np.isfinite(record.decode()).all()
    assert np.array_equal(record.codes[:, [2, 9]], codes_of(weight, record.scale, 3)[:, [2, 9]])
    nothing = quantize_compensated(weight, 3, prepare(np.zeros((12, 12))))
    assert np.array_equal(nothing.codes, quantize_searched(weight, 3).codes)


def test_scale_of_a_column_is_that_of_its_group() -> None:
    """Two groups that share no inputs come out as two matrices, each with a scale a row."""
    first, second = inputs_of(9, 8), inputs_of(10, 8) * 4
    weight = np.random.default_rng(10).normal(size=(4, 16)).astype(np.float32)
    moments = np.zeros((16, 16))
    moments[:8, :8], moments[8:, 8:] = first @ first.T, second @ second.T
    record = quantize_compensated(weight, 4, prepare(moments, 0), 8)
    assert record.groups == 2
    scaled = weight / np.repeat(record.scale, 8, axis=1)
    for part, x in ((slice(0, 8), first), (slice(8, 16), second)):
        found = compensate(
            np.ascontiguousarray(scaled[:, part]), prepare(x @ x.T, 0), lambda _, v: v.round().clip(-7, 7)
        )
        # A row that is worse for it keeps plain codes.
        same = (record.codes[:, part] == found).all(axis=1)
        assert same.sum() >= 3
    assert not np.array_equal(record.codes, codes_of(weight, record.scale, 4))


def test_same_codes_every_time_and_with_any_threads() -> None:
    x = inputs_of(11, 130)
    weight = np.random.default_rng(12).normal(size=(70, 130)).astype(np.float32)
    threads, found = torch.get_num_threads(), []
    try:
        for count in (1, 2, 1):
            torch.set_num_threads(count)
            found.append(quantize_compensated(weight, 4, prepare(x @ x.T)).fingerprint())
            assert torch.get_num_threads() == count
    finally:
        torch.set_num_threads(threads)
    assert len(set(found)) == 1


def test_errors_are_of_the_outputs() -> None:
    x = inputs_of(13, 6)
    weight, other = np.random.default_rng(14).normal(size=(2, 3, 6)).astype(np.float32)
    found = output_errors(weight, other, prepare(x @ x.T, 0))
    assert np.allclose(found, np.square((weight - other) @ x).sum(1), rtol=1e-4)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 24), st.sampled_from([1, 2, 3, 4]))
def test_output_is_nearer_than_with_the_nearest_levels(seed: int, columns: int, bits: int) -> None:
    x = inputs_of(seed, columns)
    weight = np.random.default_rng(seed + 1).normal(size=(16, columns)).astype(np.float32)
    inputs = prepare(x @ x.T, 1e-6)
    record = cluster_compensated(weight, bits, inputs)
    assert (record.bits, record.groups) == (bits, 1)
    # Codebook and scales are those of the plain record, of which no row is better.
    plain = cluster_rows(weight, bits, importance=np.broadcast_to(inputs.importance.astype(np.float32), weight.shape))
    assert np.array_equal(record.codebook, plain.codebook) and np.array_equal(record.scale, plain.scale)
    lost, most = (np.square((weight - w).astype(np.float64) @ x).sum(1) for w in (record.decode(), plain.decode()))
    assert (lost <= most * 1.001 + 1e-6).all()
    assert lost.sum() < (0.95 if columns > 3 and bits > 1 else 1.0001) * most.sum()


def test_levels_of_inputs_that_do_not_go_together_are_the_nearest() -> None:
    weight = np.random.default_rng(5).normal(size=(6, 40)).astype(np.float32)
    inputs = prepare(np.diag(np.random.default_rng(6).uniform(0.1, 9, 40)), 0)
    record = cluster_compensated(weight, 3, inputs)
    levels = record.codebook[0].astype(np.float32) * record.scale[:, :, None]
    nearest = np.abs(weight[:, :, None] - levels).argmin(axis=2)
    assert np.array_equal(record.codes, nearest)


def test_values_that_are_levels_stay_and_each_has_one_code() -> None:
    x = inputs_of(7, 12)
    weight = np.random.default_rng(3).choice([-1.0, 0.0, 1.0], (4, 12)).astype(np.float32)
    for bits in (4, 8):
        record = cluster_compensated(weight, bits, prepare(x @ x.T))
        assert np.array_equal(record.decode(), weight * 127 * record.scale)
        assert len(np.unique(record.codes)) == 3
    assert not cluster_compensated(np.zeros((2, 12), np.float32), 2, prepare(x @ x.T)).decode().any()


def test_moments_that_cannot_be_are_refused() -> None:
    for bad, says in [
        (np.ones((2, 3)), "square"),
        (np.float64([[1, np.nan], [np.nan, 1]]), "not finite"),
        (np.float64([[1, 5], [5, 1]]), "no moments"),
    ]:
        with pytest.raises(CompressionError, match=says):
            prepare(bad)
    inputs = prepare(np.eye(4))
    assert isinstance(inputs, Inputs) and DAMPING > 0
    with pytest.raises(CompressionError, match="4 inputs"):
        quantize_compensated(np.ones((2, 5), np.float32), 4, inputs)
    with pytest.raises(CompressionError, match="4 inputs"):
        cluster_compensated(np.ones((2, 5), np.float32), 4, inputs)
    with pytest.raises(CompressionError, match="not finite"):
        quantize_compensated(np.full((2, 4), np.nan, np.float32), 4, inputs)
