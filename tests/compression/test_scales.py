from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from mobilekit.compression.quantize import quantize_groups, quantize_rows
from mobilekit.compression.records import Quantized
from mobilekit.compression.scales import quantize_searched
from mobilekit.errors import CompressionError

FLOATS = st.floats(-1e4, 1e4, width=32, allow_subnormal=True)


def errors(weight: np.ndarray, record: Quantized, importance: np.ndarray | float = 1.0) -> np.ndarray:
    """Of each row and group, [rows, groups]."""
    lost = importance * (weight.astype(np.float64) - record.decode()) ** 2
    return lost.reshape(len(weight), record.groups, -1).sum(2)


@given(
    arrays(np.float32, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=FLOATS),
    st.integers(2, 8),
    st.data(),
)
def test_no_row_is_worse_than_with_the_largest_weights_scale(
    weight: np.ndarray, bits: int, data: st.DataObject
) -> None:
    importance = data.draw(arrays(np.float64, weight.shape[1], elements=st.floats(0, 1e6)))
    for weights in (None, importance):
        share = 1.0 if weights is None else weights
        most = errors(weight, quantize_rows(weight, bits), share)
        assert (errors(weight, quantize_searched(weight, bits, None, weights), share) <= most * (1 + 1e-9)).all()


@given(arrays(np.float32, st.tuples(st.integers(1, 5), st.just(12)), elements=FLOATS), st.sampled_from([1, 3, 4, 6]))
def test_no_group_is_worse_either(weight: np.ndarray, block: int) -> None:
    most = errors(weight, quantize_groups(weight, 4, block))
    assert (errors(weight, quantize_searched(weight, 4, block)) <= most * (1 + 1e-9)).all()


def test_few_bits_gain_most() -> None:
    weight = np.random.default_rng(0).normal(size=(64, 384)).astype(np.float32)

    def ratio(bits: int) -> float:
        searched, plain = (errors(weight, f(weight, bits)).sum() for f in (quantize_searched, quantize_rows))
        return float(searched / plain)

    assert ratio(2) < 0.3 < ratio(3) < 0.55 < ratio(4) < 0.8 < ratio(8) < 1


def test_scale_is_the_best_there_is() -> None:
    """Of all float16 numbers in its reach, on rows of every size."""
    for columns in (3, 20, 200):
        weight = np.random.default_rng(columns).normal(size=(8, columns)).astype(np.float32)
        found = errors(weight, quantize_searched(weight, 4))[:, 0]
        largest = np.abs(weight).max(axis=1, keepdims=True) / 7
        best = np.full(len(weight), np.inf)
        for factor in np.linspace(0.2, 1.3, 2000):
            scale = (largest * factor).astype(np.float16).astype(np.float64)
            decoded = np.clip(np.rint(weight / scale), -7, 7) * scale
            best = np.minimum(best, ((weight - decoded) ** 2).sum(1))
        assert (found <= best * 1.05 + 1e-9).all()
        assert found.sum() <= best.sum() * 1.01 + 1e-9


def test_what_matters_is_kept_best() -> None:
    weight = np.random.default_rng(1).normal(size=(16, 40)).astype(np.float32)
    weight[:, 7] *= 5
    importance = np.ones(40)
    importance[7] = 1e4
    lost = np.abs(weight - quantize_searched(weight, 3, None, importance).decode())[:, 7]
    assert (lost < 0.3 * np.abs(weight - quantize_searched(weight, 3).decode())[:, 7].mean()).all()


def test_scales_are_rounded_before_codes_are_chosen() -> None:
    weight = np.random.default_rng(2).normal(size=(9, 24)).astype(np.float32)
    for record in (quantize_searched(weight, 4), quantize_searched(weight, 4, 8)):
        steps = weight / np.repeat(record.scale, record.block, axis=1)
        assert np.array_equal(record.codes, np.clip(np.rint(steps), -7, 7))


def test_edges() -> None:
    assert (quantize_searched(np.zeros((2, 6), np.float32), 4).scale == 1).all()
    assert quantize_searched(np.zeros((0, 6), np.float32), 4).codes.shape == (0, 6)
    tiny = np.full((1, 4), 1e-9, np.float32)
    assert quantize_searched(tiny, 4).scale[0, 0] == 2.0**-24
    assert (quantize_searched(tiny, 4, 2).scale == 2.0**-14).all()
    weight = np.float32([[400000, -3, 2, 1]])
    assert np.array_equal(quantize_searched(weight, 4).codes, quantize_rows(weight, 4).codes)
    # An importance of zero everywhere chooses nothing.
    assert quantize_searched(weight, 4, None, np.zeros(4)).scale == quantize_rows(weight, 4).scale


def test_what_cannot_be_is_refused() -> None:
    weight = np.ones((2, 4), np.float32)
    for bad in (np.ones(3), np.float64([1, 1, np.nan, 1]), np.float64([1, -1, 1, 1])):
        with pytest.raises(CompressionError, match="importance"):
            quantize_searched(weight, 4, None, bad)
    with pytest.raises(CompressionError, match="groups of 3 columns"):
        quantize_searched(weight, 4, 3)
    with pytest.raises(CompressionError, match="not finite"):
        quantize_searched(weight * np.float32(np.nan), 4)
