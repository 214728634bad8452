"""The figures that hosts and phones both take of many timings."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.measuring.statistics import ratio, summary


def test_figures_of_eleven_runs_by_hand() -> None:
    found = summary([10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 100])
    assert (found.median, found.p90, found.runs) == (15, 19, 11)
    # Between 11 (10 %) and 19 (90 %), both in.
    assert found.middle80_mean == pytest.approx(15)
    assert found.spread == pytest.approx((19 - 11) / 15)


def test_percentiles_are_interpolated() -> None:
    found = summary([1, 2, 3, 4])
    assert found.median == 2.5
    assert found.p90 == pytest.approx(3.7)
    # 10 % is 1.3, 90 % is 3.7: two runs are between.
    assert found.middle80_mean == 2.5


@pytest.mark.parametrize("values", [[7.0], [7.0, 7.0], [5.0, 9.0]])
def test_few_runs_have_figures(values: list[float]) -> None:
    found = summary(values)
    assert found.median == found.middle80_mean == np.mean(values)
    assert found.runs == len(values)


def test_an_idle_machine_is_not_noisy_and_a_busy_one_is() -> None:
    rng = np.random.default_rng(0)
    assert not summary(10 + rng.normal(0, 0.2, 100)).noisy
    assert summary(np.where(rng.random(100) < 0.3, 20.0, 10.0)).noisy


def test_a_ratio_is_taken_round_by_round() -> None:
    # The machine slows down to a third, for both: what one loses to the other stays.
    slow = [[20.0 * k, 22.0 * k] for k in (1, 1, 2, 3, 3)]
    fast = [[10.0 * k, 11.0 * k] for k in (1, 1, 2, 3, 3)]
    found = ratio(slow, fast)
    assert found.median == pytest.approx(2)
    assert found.low == pytest.approx(2)
    assert found.ranked


def test_what_rounds_do_not_agree_on_is_not_ranked() -> None:
    rng = np.random.default_rng(1)
    first, second = (rng.lognormal(0, 0.3, (30, 1)).tolist() for _ in range(2))
    found = ratio(first, second)
    assert found.low < 1 < found.high
    assert not found.ranked


def test_a_ratio_needs_both_in_every_round() -> None:
    with pytest.raises(ValueError, match="shorter|longer"):
        ratio([[1.0]], [[1.0], [2.0]])
