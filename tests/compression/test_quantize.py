from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from mobilekit.compression.quantize import quantize_groups, quantize_rows, to_bfloat16
from mobilekit.compression.records import LEAST_NORMAL, Quantized, is_bfloat16
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


@given(arrays(np.float32, st.tuples(st.integers(1, 5), st.sampled_from([4, 8, 24])), elements=FLOATS))
def test_groups_have_scales_of_their_own_that_every_target_holds(weight: np.ndarray) -> None:
    record = quantize_groups(weight, 4, 4)
    assert (record.groups, record.block) == (weight.shape[1] // 4, 4)
    assert is_bfloat16(record.scale).all() and (record.scale >= LEAST_NORMAL).all()
    # Rounding the scale down to bfloat16 may clip the largest code by 7 times its relative error of 2**-9.
    step = record.scale.repeat(4, axis=1) * (0.5 + 7 * 2.0**-9)
    assert (np.abs(record.decode() - weight) <= step * 1.001).all()


def test_one_group_a_row_is_the_plain_record() -> None:
    codes, scale = np.int8([[1, -7, 3], [0, 2, 7]]), np.float32([[0.5], [0.25]])
    record = Quantized(codes, scale, 4)
    assert (record.groups, record.block, record.payload_bytes) == (1, 3, 3)
    # Files that are out there are held against these.
    assert record.fingerprint() == "38a4befd725d5f04141e226ed0b57c17669d50858be7d538a0ba28eb937cd309"


def test_grouped_records_decode_group_by_group_and_are_told_apart() -> None:
    codes, scale = np.int8([[1, -7, 3, 2]]), np.float32([[0.5, 2.0]])
    record = Quantized(codes, scale, 4)
    assert record.decode().tolist() == [[0.5, -3.5, 6.0, 4.0]]
    assert record.fingerprint() != Quantized(codes.reshape(2, 2), scale.reshape(2, 1), 4).fingerprint()


@pytest.mark.parametrize(
    "scale",
    [
        np.float32([[0.5, 2.0, 1.0]]),
        np.float32([[0.5, 1 + 2**-8]]),
        np.float32([[0.5, 2**-15]]),
        np.ones((1, 0), np.float32),
        np.ones(1, np.float32),
    ],
)
def test_grouped_records_refuse_what_no_target_could_write(scale: np.ndarray) -> None:
    with pytest.raises(CompressionError):
        Quantized(np.int8([[1, -7, 3, 2]]), scale, 4)


def test_group_that_does_not_divide_the_columns_is_refused() -> None:
    with pytest.raises(CompressionError, match="groups of 32 columns do not divide a matrix of 48 columns"):
        quantize_groups(np.ones((2, 48), np.float32), 4, 32)


def test_rounding_to_bfloat16_is_that_of_torch() -> None:
    import torch

    values = np.float32([0.0, 1.0, 1 + 2**-8, 1 + 3 * 2**-8, 0.1, 1e-30, 3e38])
    assert np.array_equal(to_bfloat16(values), torch.from_numpy(values).bfloat16().float().numpy())
