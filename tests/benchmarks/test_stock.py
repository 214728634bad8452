"""The comparison with the engines' stock routes."""

from __future__ import annotations

import pytest

from benchmarks.stock import HEADS, TARGETS, measure, ratios
from mobilekit.models.config import EncoderConfig

TINY = EncoderConfig(vocab_size=600, hidden_size=32, layers=1, heads=2, intermediate_size=64, embedding_size=32)


def test_ratios_are_taken_pair_by_pair() -> None:
    # Both slow down tenfold between the rounds, together: the ratio stays, that of the medians of all would not.
    found = ratios([2.0, 20.0, 2.0, 20.0, 2.0], [1.0, 10.0, 1.0, 10.0, 1.0])
    assert found == {"ratio_median": 2.0, "ratio_p10": 2.0, "ratio_p90": 2.0}
    assert ratios([1.0, 2.0, 3.0], [1.0, 1.0, 1.0]) == {"ratio_median": 2.0, "ratio_p10": 1.2, "ratio_p90": 2.8}


@pytest.mark.slow
@pytest.mark.parametrize("head", HEADS)
def test_ours_and_the_stock_route_give_the_same_answer(head: str) -> None:
    found = measure(TINY, HEADS[head], 16, 2)
    assert [row["target"] for row in found["rows"]] == list(TARGETS)
    for row in found["rows"]:
        assert row["max_abs_difference"] <= 1e-5
        assert 0 < row["ours_ms_min"] <= row["ours_ms_median"]
        assert 0 < row["stock_ms_min"] <= row["stock_ms_median"]
    assert found["between"]["ratio_median"] > 0
