"""Every coding gives back what went in, and codes of skewed values stay within 1.03 times their entropy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mobilekit.compression.entropy import DamagedError, encode, entropy_bits
from mobilekit.compression.pack.book import Book, best_book, nibbles
from mobilekit.compression.pack.codings import (
    HUFFMAN,
    RAW,
    Encoded,
    Part,
    decoded,
    deflated,
    huffman,
    inflated,
    smallest,
)
from mobilekit.compression.pack.values import from_values, to_values

LANE = 2048
Values = NDArray[np.uint8]


def part(encoded: Encoded, size: int) -> Part:
    inner = None if encoded.escaped is None else part(encoded.escaped, encoded.escapes)
    return Part(size, encoded.coding, encoded.data, encoded.book, encoded.escapes, inner)


def clustered(bits: int, size: int = 300_000) -> Values:
    """Weights on 2**bits evenly spaced levels of an int8 grid, as many as fall there."""
    drawn = np.random.default_rng(bits).normal(size=size)
    levels = np.linspace(-2.5, 2.5, 2**bits)
    return (np.abs(drawn[:, None] - levels).argmin(1) * (240 // 2**bits) + 3).astype(np.uint8)


def outliers(data: Values, share: float) -> Values:
    rng = np.random.default_rng(9)
    return np.where(rng.random(data.size) < share, rng.integers(0, 256, data.size), data).astype(np.uint8)


def shares(*given: float, size: int = 300_000) -> Values:
    return np.random.default_rng(3).choice(len(given), size=size, p=given).astype(np.uint8)


def geometric(p: float, size: int = 300_000) -> Values:
    return np.minimum(np.random.default_rng(4).geometric(p, size) - 1, 200).astype(np.uint8)


SKEWED = {
    "int8": np.clip(np.rint(np.random.default_rng(1).normal(size=300_000) * 30) + 128, 0, 255).astype(np.uint8),
    **{f"{2**bits} levels": clustered(bits) for bits in (1, 2, 3, 4, 6)},
    **{f"{2**bits} levels with outliers": outliers(clustered(bits), 0.002) for bits in (1, 2, 3, 4)},
    **{f"two values, {p}": shares(p, 1 - p) for p in (0.5, 0.7, 0.8, 0.9)},
    **{f"four values, {p}": shares(p, *[(1 - p) / 3] * 3) for p in (0.4, 0.7, 0.9)},
    **{f"eight values, {p}": shares(p, *[(1 - p) / 7] * 7) for p in (0.3, 0.6, 0.8, 0.9)},
    **{f"sixteen values, {p}": shares(p, *[(1 - p) / 15] * 15) for p in (0.2, 0.5, 0.8, 0.9)},
    **{f"geometric, {p}": geometric(p) for p in (0.2, 0.4, 0.6, 0.8)},
    "pruned to a half": np.where(shares(0.5, 0.5) == 1, clustered(6), 0).astype(np.uint8),
    "pruned to a fifth": np.where(shares(0.8, 0.2) == 1, clustered(6), 0).astype(np.uint8),
}


def all_bytes(encoded: Encoded) -> int:
    """Bytes of the streams and of the book's table, as they would be in the directory."""
    book = 0 if encoded.book is None else len(deflated(nibbles(encoded.book.lengths))) + 12
    return len(encoded.data) + book + (0 if encoded.escaped is None else all_bytes(encoded.escaped))


@pytest.mark.parametrize("name", SKEWED)
def test_skewed_values_stay_within_1_03_of_the_entropy(name: str) -> None:
    data = SKEWED[name]
    least = entropy_bits(np.bincount(data)) / 8
    assert least * 8 / data.size > 0.45
    encoded = huffman(data, 8, LANE)
    assert all_bytes(encoded) <= 1.03 * least
    assert np.array_equal(decoded([part(encoded, data.size)], LANE)[0], data)


def test_single_values_would_not_do() -> None:
    """Without groups whole bits are up to twice the entropy: that is what they are for."""
    data = SKEWED["two values, 0.9"]
    assert data.size > 2 * entropy_bits(np.bincount(data))
    assert best_book(data, 8).book.group == 8
    assert best_book(SKEWED["8 levels"], 8).book.group > 1


def test_rare_values_escape_and_are_coded_themselves() -> None:
    encoded = huffman(outliers(clustered(2), 0.01), 8, LANE)
    assert encoded.book is not None and encoded.book.escape and encoded.book.group == 4
    assert encoded.escaped is not None and encoded.escapes > 1000
    assert encoded.escaped.book is None or not encoded.escaped.book.escape


def test_values_escape_only_where_it_is_worth_it() -> None:
    """Four even levels would be half a percent smaller as eights of one of them, with all others escaping."""
    drawn = np.random.default_rng(0).normal(size=300_000)
    even = np.abs(drawn[:, None] - np.array([-1.5, -0.45, 0.45, 1.5])).argmin(1).astype(np.uint8)
    book = best_book(even, 8).book
    assert book.group == 4 and not book.escape


def test_all_64_values_of_six_bits_in_pairs() -> None:
    rng = np.random.default_rng(1)
    values = np.where(rng.random(50_000) < 0.85, 0, rng.integers(0, 64, 50_000)).astype(np.uint8)
    for escapes in (False, True):
        indexed = best_book(values, 6, escapes)
        assert indexed.book.fault is None and indexed.book.group > 1


@given(
    data=st.one_of(
        st.binary(max_size=600),
        st.lists(st.sampled_from([0, 7, 200]), max_size=3000).map(bytes),
        st.lists(st.sampled_from([0] * 20 + list(range(64))), max_size=3000).map(bytes),
    ),
    width=st.sampled_from([6, 8]),
    lane=st.sampled_from([64, 2048]),
)
@settings(deadline=None)
def test_any_bytes_come_back(data: bytes, width: int, lane: int) -> None:
    values = np.frombuffer(data, np.uint8)
    for encoded in [smallest(values, width, lane), *([huffman(values, width, lane)] if data else [])]:
        assert decoded([part(encoded, len(data))], lane)[0].tobytes() == data
    assert len(smallest(values, width, lane).data) <= len(data)


def test_many_parts_decode_together() -> None:
    data = [clustered(2, 5000), clustered(4, 77), np.zeros(0, np.uint8), outliers(clustered(1, 9000), 0.01)]
    encoded = [smallest(d, 8, 64) for d in data]
    found = decoded([part(e, d.size) for e, d in zip(encoded, data, strict=True)], 64)
    assert all(np.array_equal(f, d) for f, d in zip(found, data, strict=True))
    assert {e.coding for e in encoded} >= {RAW, HUFFMAN}


@given(data=st.binary(max_size=40))
def test_values_of_six_bits_and_bytes(data: bytes) -> None:
    values = to_values(np.frombuffer(data, np.uint8), 6)
    number = int.from_bytes(data, "little")
    assert values.tolist() == [number >> 6 * i & 63 for i in range(-(-8 * len(data) // 6))]
    assert from_values(values, 6, len(data)).tobytes() == data


@pytest.mark.parametrize("size", [99, 101])
def test_deflated_streams_of_another_size_are_refused(size: int) -> None:
    with pytest.raises(DamagedError, match="does not have the size"):
        inflated(deflated(b"x" * 100), size)


def test_a_deflated_stream_never_swells_beyond_what_is_declared() -> None:
    bomb = deflated(bytes(10**7))
    with pytest.raises(DamagedError):
        inflated(bomb, 100)
    assert inflated(bomb, 10**7) == bytes(10**7)


@pytest.mark.parametrize(
    ("width", "group", "values", "lengths", "fault"),
    [
        (7, 1, [1, 2], [1, 1], "unknown"),
        (8, 3, [1, 2], [1] * 8, "unknown"),
        (8, 1, [], [], "values"),
        (6, 1, [1, 64], [1, 1], "values"),
        (8, 2, list(range(65)), [12] * 65**2, "values"),
        (8, 1, [1, 2], [1], "not complete"),
        (8, 1, [1, 2], [1, 2], "not complete"),
        (8, 1, [1], [1], "not complete"),
    ],
)
def test_broken_books_are_told(width: int, group: int, values: list[int], lengths: list[int], fault: str) -> None:
    book = Book(width, group, np.array(values, np.uint8), False, np.array(lengths, np.uint8))
    assert fault in str(book.fault)


def test_example_of_the_document() -> None:
    assert encode(np.array([0, 1, 2, 2], np.uint16), np.array([2, 2, 1], np.uint8), 64) == bytes.fromhex("01000d")
