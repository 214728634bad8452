from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mobilekit.compression.bitfields import pack_bits, packed_size, unpack_bits


def test_codes_begin_at_the_lowest_bit_and_go_on_in_the_next_byte() -> None:
    assert pack_bits(np.uint8([1, 0, 1, 1, 0, 0, 0, 1, 1]), 1).tolist() == [0b10001101, 1]
    assert pack_bits(np.uint8([[0, 3], [2, 1], [3, 0]]), 2).tolist() == [0b01101100, 0b0011]
    assert pack_bits(np.uint8([1, 2, 3, 7]), 3).tolist() == [0b11_010_001, 0b0000_111_0]
    assert pack_bits(np.uint8([0x9, 0x1, 0x3]), 4).tolist() == [0x19, 0x03]
    assert pack_bits(np.uint8([63, 1]), 6).tolist() == [0b01_111111, 0]
    assert pack_bits(np.uint8([200, 7]), 8).tolist() == [200, 7]


@settings(deadline=None)
@given(st.integers(1, 8), st.integers(0, 10_000), st.sampled_from([0, 1, 7, 8, 9, 100, 2**17 + 3]))
def test_unpacking_gives_the_codes_back(bits: int, seed: int, count: int) -> None:
    codes = np.random.default_rng(seed).integers(0, 2**bits, count).astype(np.uint8)
    packed = pack_bits(codes, bits)
    assert packed.size == packed_size(count, bits)
    assert np.array_equal(unpack_bits(packed, count, bits), codes)


def test_all_bits_of_every_width_are_those_of_numpy() -> None:
    codes = np.random.default_rng(0).integers(0, 256, 1000).astype(np.uint8)
    for bits in range(1, 8):
        own = codes % 2**bits
        plain = np.packbits(np.unpackbits(own[:, None], axis=1, bitorder="little")[:, :bits], bitorder="little")
        assert np.array_equal(pack_bits(own, bits), plain)


@pytest.mark.parametrize("count", [-1, 0, 5, 9])
def test_another_number_of_codes_than_the_bytes_hold_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match="do not hold"):
        unpack_bits(np.zeros(3, np.uint8), count, 3)
