from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mobilekit.compression.nibbles import pack_nibbles, unpack_nibbles


def test_first_code_is_in_the_low_half() -> None:
    assert pack_nibbles(np.int8([[1, -7], [-8, 7], [3, 0]])).tolist() == [0x91, 0x78, 0x03]
    # An odd number of codes leaves the last half empty.
    assert pack_nibbles(np.int8([2, -1, 5])).tolist() == [0xF2, 0x05]


@given(st.lists(st.integers(-8, 7), max_size=20))
def test_unpacking_gives_the_codes_back(codes: list[int]) -> None:
    packed = pack_nibbles(np.array(codes, np.int8))
    assert packed.size == (len(codes) + 1) // 2
    assert unpack_nibbles(packed, len(codes)).tolist() == codes


@pytest.mark.parametrize("count", [-1, 4, 7])
def test_another_number_of_codes_than_the_bytes_hold_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match="do not hold"):
        unpack_nibbles(np.zeros(3, np.uint8), count)
