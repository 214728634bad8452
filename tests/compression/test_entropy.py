"""Huffman codes are the best ones, and lanes are what a decoder that reads bit by bit expects."""

from __future__ import annotations

import heapq
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mobilekit.compression.entropy import (
    MAX_BITS,
    Coded,
    DamagedError,
    canonical_codes,
    code_lengths,
    decode,
    encode,
    entropy_bits,
    is_complete,
)

COUNTS = st.lists(st.integers(0, 10**6), min_size=2, max_size=60).filter(any)


def huffman_cost(counts: list[int]) -> int:
    """Bits of the best code of any length: the textbook's heap."""
    heap = [count for count in counts if count]
    heap = heap if len(heap) > 1 else [*heap, 0]
    heapq.heapify(heap)
    cost = 0
    while len(heap) > 1:
        pair = heapq.heappop(heap) + heapq.heappop(heap)
        cost += pair
        heapq.heappush(heap, pair)
    return cost


def one_by_one(data: bytes, lengths: NDArray[np.uint8], count: int, lane: int) -> list[int]:
    """Symbols of a stream, read bit by bit with a code that is made as the document says."""
    code_of, code = {}, 0
    for length in range(1, MAX_BITS + 1):
        for symbol in np.flatnonzero(lengths == length).tolist():
            code_of[length, code] = symbol
            code += 1
        code <<= 1
    number = -(-count // lane)
    place, symbols = 2 * number, []
    for i in range(number):
        size = int.from_bytes(data[2 * i : 2 * i + 2], "little")
        bits = iter(f"{int.from_bytes(data[place : place + size], 'little'):0{8 * size}b}"[::-1] if size else "")
        for _ in range(min(lane, count - i * lane)):
            length, value = 0, 0
            while lengths.size > 1 and (length, value) not in code_of:
                length, value = length + 1, value << 1 | int(next(bits))
            symbols.append(code_of[length, value] if lengths.size > 1 else 0)
        assert "".join(bits).strip("0") == ""
        place += size
    assert place == len(data)
    return symbols


def stream(symbols: NDArray[np.int64], alphabet: int, lane: int, dtype: str = "u1", limit: int = MAX_BITS) -> Coded:
    lengths = code_lengths(np.bincount(symbols, minlength=alphabet), limit)
    data = encode(symbols.astype(np.uint16), lengths, lane)
    return Coded(np.frombuffer(data, np.uint8), lengths, np.arange(alphabet).astype(dtype), symbols.size)


@given(counts=COUNTS)
def test_without_a_limit_the_code_is_huffmans(counts: list[int]) -> None:
    lengths = code_lengths(np.array(counts), 40)
    assert int((lengths * np.array(counts)).sum()) == huffman_cost(counts)
    assert not (lengths[np.array(counts) > 0] == 0).any()


@given(counts=st.lists(st.integers(1, 10**5), min_size=2, max_size=6), limit=st.integers(3, 4))
@settings(deadline=None)
def test_with_a_limit_no_code_is_better(counts: list[int], limit: int) -> None:
    lengths = code_lengths(np.array(counts), limit)
    assert is_complete(lengths) and lengths.max() <= limit
    best = min(
        sum(length * count for length, count in zip(tried, counts, strict=True))
        for tried in itertools.product(range(1, limit + 1), repeat=len(counts))
        if sum(2.0**-length for length in tried) <= 1
    )
    assert int((lengths * np.array(counts)).sum()) == best


@given(counts=COUNTS)
def test_codes_are_complete_and_no_code_begins_another(counts: list[int]) -> None:
    lengths = code_lengths(np.array(counts))
    assert is_complete(lengths)
    codes = {
        (length, symbol): f"{code:0{length}b}"[::-1]
        for symbol, (code, length) in enumerate(zip(canonical_codes(lengths).tolist(), lengths.tolist(), strict=True))
        if length
    }
    assert not any(b.startswith(a) for a, b in itertools.permutations(codes.values(), 2))
    assert sorted(codes, key=codes.__getitem__) == sorted(codes)


def test_steep_counts_keep_the_limit() -> None:
    counts = np.array([2**i for i in range(40)])
    assert code_lengths(counts, 15).max() == 15
    assert code_lengths(counts, 40).max() == 39
    with pytest.raises(ValueError, match="40 symbols need more than 5 bits"):
        code_lengths(counts, 5)


@pytest.mark.parametrize("lengths", [[1], [0, 0], [1, 1, 1], [1, 2], [16, 1], [2, 2, 2]])
def test_codes_that_are_not_complete_are_told(lengths: list[int]) -> None:
    assert not is_complete(np.array(lengths, np.uint8))


@pytest.mark.parametrize(
    ("counts", "bits"), [([0], 0), ([5], 0), ([1, 1], 2), ([2, 1, 1, 0], 6), ([[1, 1], [2, 2]], 6)]
)
def test_entropy_by_hand(counts: list[int], bits: float) -> None:
    assert entropy_bits(np.array(counts)) == pytest.approx(bits)


@given(
    symbols=st.lists(st.integers(0, 9), max_size=300),
    lane=st.sampled_from([1, 3, 64, 100]),
    alphabet=st.integers(10, 20),
)
@settings(deadline=None)
def test_lanes_decode_alike_in_step_and_bit_by_bit(symbols: list[int], lane: int, alphabet: int) -> None:
    coded = stream(np.array(symbols, np.int64), alphabet, lane)
    assert one_by_one(coded.data.tobytes(), coded.lengths, coded.count, lane) == symbols
    assert decode([coded], lane)[0].tolist() == symbols


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8"])
@pytest.mark.parametrize("limit", [8, 12, 15])
def test_streams_of_all_sizes_and_codes_decode_together(dtype: str, limit: int) -> None:
    rng = np.random.default_rng(1)
    made = []
    for count in (0, 1, 63, 64, 65, 5000, 70_001):
        alphabet = int(rng.integers(2, 200))
        made.append(np.minimum(rng.geometric(rng.uniform(0.01, 0.9), size=count) - 1, alphabet - 1))
    coded = [stream(symbols, 200, 64, dtype, limit) for symbols in made]
    for symbols, found in zip(made, decode(coded, 64), strict=True):
        assert found.dtype == dtype and np.array_equal(found, symbols)


def test_one_symbol_alone_takes_no_bits() -> None:
    coded = stream(np.zeros(1000, np.int64), 1, 64)
    assert coded.data.tobytes() == bytes(2 * 16)
    assert decode([coded], 64)[0].tolist() == [0] * 1000


def test_nothing_decodes_to_nothing() -> None:
    assert decode([], 64) == []
    assert decode([stream(np.zeros(0, np.int64), 3, 64)], 64)[0].tolist() == []


def test_codes_are_within_a_hundredth_of_the_entropy_of_weights() -> None:
    codes = np.clip(np.rint(np.random.default_rng(2).normal(size=400_000) * 30), -127, 127).astype(np.int64) + 127
    coded = stream(codes, 255, 2048)
    assert 8 * coded.data.size < 1.01 * entropy_bits(np.bincount(codes))


def test_lanes_that_do_not_fit_are_refused() -> None:
    coded = stream(np.arange(200) % 7, 7, 64)

    def damaged(data: bytes, count: int = coded.count) -> Coded:
        return Coded(np.frombuffer(data, np.uint8), coded.lengths, coded.items, count)

    data = coded.data.tobytes()
    with pytest.raises(DamagedError, match="is cut off"):
        decode([damaged(data[:7])], 64)
    for other in (data[:-1], data + b"\0"):
        with pytest.raises(DamagedError, match="do not fill"):
            decode([damaged(other)], 64)
    swapped = (int.from_bytes(data[:2], "little") - 1).to_bytes(2, "little"), (data[2] + 1).to_bytes(1, "little")
    with pytest.raises(DamagedError, match="does not end where"):
        decode([damaged(swapped[0] + swapped[1] + data[3:])], 64)
    with pytest.raises(DamagedError, match="does not end where"):
        decode([damaged(data, coded.count - 6)], 64)


@given(data=st.binary(min_size=8, max_size=400), count=st.integers(1, 300))
@settings(deadline=None)
def test_any_bytes_are_decoded_or_refused(data: bytes, count: int) -> None:
    lengths = np.array([1, 2, 3, 3], np.uint8)
    try:
        (found,) = decode([Coded(np.frombuffer(data, np.uint8), lengths, np.arange(4, dtype="u1"), count)], 64)
    except DamagedError:
        return
    assert found.size == count
