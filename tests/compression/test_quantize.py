from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from mobilekit.compression.quantize import quantize_rows
from mobilekit.compression.records import Quantized
from mobilekit.errors import CompressionError

FLOATS = st.floats(-1e4, 1e4, width=32, allow_subnormal=True)


@given(arrays(np.float32, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=FLOATS))
def test_error_is_at_most_half_a_step_and_scales_fit_float16(weight: np.ndarray) -> None:
    record = quantize_rows(weight)
    assert np.array_equal(record.scale, record.scale.astype(np.float16).astype(np.float32))
    # Rounding the scale down to float16 may clip the largest code by 127 times its relative error of 2**-11.
    step = record.scale * (0.5 + 127 * 2.0**-11)
    assert (np.abs(record.decode() - weight) <= step * 1.001 + 1e-12).all()


def test_rows_of_zeros_get_scale_one() -> None:
    record = quantize_rows(np.zeros((2, 5), np.float32))
    assert (record.scale == 1).all() and not record.codes.any()


def test_decode_is_exact_in_float16_arithmetic() -> None:
    rng = np.random.default_rng(0)
    record = quantize_rows(rng.normal(size=(50, 64)).astype(np.float32) * 0.05)
    half = record.codes.astype(np.float16) * record.scale.astype(np.float16)
    assert np.array_equal(half, record.decode().astype(np.float16))


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e9])
def test_values_that_cannot_be_kept_are_refused(bad: float) -> None:
    weight = np.ones((2, 3), np.float32)
    weight[1, 1] = bad
    with pytest.raises(CompressionError):
        quantize_rows(weight)


def test_records_refuse_what_no_target_could_write() -> None:
    codes, scale = np.zeros((2, 3), np.int8), np.ones((2, 1), np.float32)
    Quantized(codes, scale)
    for wrong_codes, wrong_scale in [
        (codes, np.float32([[1], [1 + 2**-20]])),
        (codes, np.float32([[1], [0]])),
        (codes, np.float32([[1], [np.nan]])),
        (codes, np.ones((3, 1), np.float32)),
        (codes.astype(np.int16), scale),
        (np.full((2, 3), -128, np.int8), scale),
    ]:
        with pytest.raises(CompressionError):
            Quantized(wrong_codes, wrong_scale)
