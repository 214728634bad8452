"""Kinds of data in a file are told apart by their bytes alone, and segments are the file without a gap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mobilekit.compression.pack.segments import BLOCK, WINDOW, Segment, segments

Values = NDArray[np.uint8]
RNG = np.random.default_rng(0)


def int8(size: int, spread: float) -> Values:
    return np.clip(np.rint(RNG.normal(size=size) * spread), -127, 127).astype(np.int8).view(np.uint8)


def levels(size: int, number: int, first: int) -> Values:
    drawn = np.clip(np.rint(RNG.normal(size=size) * number / 5), -number // 2, number // 2 - 1).astype(int)
    return ((drawn + number // 2) * 3 + first).astype(np.uint8)


def floats(size: int, dtype: str) -> Values:
    return (RNG.normal(size=size) * 0.05).astype(dtype).view(np.uint8)


def six_bits(size: int) -> Values:
    codes = np.clip(np.rint(RNG.normal(size=size) * 6) + 32, 0, 63).astype(np.uint8)
    return np.packbits(np.unpackbits(codes, bitorder="little").reshape(-1, 8)[:, :6], bitorder="little")


def text(size: int) -> Values:
    words = ["layer", "weight", "attention", "query", "bias", " ", ".", "\n", "0", "1", "2"]
    made = "".join(words[i] for i in RNG.integers(0, len(words), size))
    return np.frombuffer(made.encode()[:size], np.uint8)


def parts_of(*parts: Values) -> tuple[Values, list[int]]:
    ends = np.cumsum([part.size for part in parts])
    return np.concatenate(parts), [0, *ends.tolist()]


def covers(found: list[Segment], size: int) -> bool:
    ends = [0, *(segment.end for segment in found)]
    return [segment.start for segment in found] == ends[:-1] and ends[-1] == size


def test_tensors_are_found_to_the_byte() -> None:
    data, borders = parts_of(
        text(20_000),
        levels(90_001, 16, 3),
        floats(1536, "<f4"),
        int8(200_003, 12),
        levels(120_000, 4, 100),
        levels(60_000, 4, 7),
    )
    found = segments(data)
    assert covers(found, data.size)
    starts = np.array([segment.start for segment in found])
    # Where text ends is known to a block only, and floats begin at a multiple of four.
    near = [0, BLOCK, 16, 16, 16, 16]
    assert all(np.abs(starts - border).min() <= most for border, most in zip(borders[:-1], near, strict=True))
    assert len(found) <= len(borders) + 4


@pytest.mark.parametrize(
    ("data", "planes", "width"),
    [
        (floats(50_000, "<f4"), 4, 8),
        (floats(50_000, "<f2"), 2, 8),
        (six_bits(80_000), 1, 6),
        (int8(80_000, 20), 1, 8),
        (text(80_000), 1, 8),
    ],
    ids=["float32", "float16", "six bits", "int8", "text"],
)
@pytest.mark.parametrize("before", [0, 20_000, 20_004])
def test_kinds_of_data_are_told_apart(data: Values, planes: int, width: int, before: int) -> None:
    whole = np.concatenate([int8(before, 3), data])
    found = segments(whole)
    assert covers(found, whole.size)
    kinds = {(segment.planes, segment.width) for segment in found if segment.start >= before + 100}
    largest = max(found, key=lambda segment: segment.end - segment.start)
    assert (largest.planes, largest.width) == (planes, width)
    assert len(kinds) <= 2


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_values_of_six_bits_begin_anywhere(shift: int) -> None:
    before = int8(BLOCK * 4 + shift, 3)
    found = segments(np.concatenate([before, six_bits(80_000)]))
    (six,) = (segment for segment in found if segment.width == 6)
    assert six.start == before.size


def test_a_tensor_of_one_kind_is_one_segment() -> None:
    assert len(segments(int8(WINDOW, 30))) == 1


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 100, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 5])
def test_small_files_are_covered(size: int) -> None:
    for data in (int8(size, 30), np.zeros(size, np.uint8), text(size)[:size]):
        assert covers(segments(data), data.size)


@given(
    runs=st.lists(
        st.tuples(st.integers(1, 9000), st.integers(0, 255), st.integers(1, 256), st.integers(1, 5)), max_size=6
    ),
    seed=st.integers(0, 9),
)
@settings(deadline=None, max_examples=40)
def test_any_file_is_covered(runs: list[tuple[int, int, int, int]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    made = [np.zeros(0, np.uint8)]
    for size, first, spread, step in runs:
        drawn = first + rng.integers(0, spread, size) * (np.arange(size) % step == 0)
        made.append((drawn % 256).astype(np.uint8))
    data = np.concatenate(made)
    assert covers(segments(data), data.size)
