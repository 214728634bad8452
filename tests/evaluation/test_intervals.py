"""Intervals and comparisons against hand-computed values and scipy's own."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from mobilekit.errors import InputError
from mobilekit.evaluation.intervals import (
    Interval,
    bootstrap,
    mcnemar,
    mean_of,
    paired_bootstrap,
    wilson,
    wilson_of_groups,
)


@pytest.mark.parametrize(("successes", "total"), [(0, 10), (10, 10), (1, 1), (81, 263), (1290, 1500)])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_wilson_equals_scipy(successes: int, total: int, level: float) -> None:
    theirs = binomtest(successes, total).proportion_ci(level, method="wilson")
    ours = wilson(successes, total, level)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12) and ours.level == level
    assert 0 <= ours.low <= successes / total <= ours.high <= 1


def test_groups_of_draws_count_as_many_independent_ones_as_have_their_variance() -> None:
    rng = np.random.default_rng(0)
    # All draws of a group are alike: one draw a group. All are independent: all count.
    alike = rng.random(200) < 0.7
    ours, theirs = wilson_of_groups(alike, 8), wilson(int(alike.sum()), 200)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=2e-3)
    free = rng.binomial(8, 0.7, 2000) / 8
    ours, theirs = wilson_of_groups(free, 8), wilson(int(8 * free.sum()), 16000)
    assert ours.high - ours.low == pytest.approx(theirs.high - theirs.low, rel=0.05)
    # Never fewer than the groups, nor more than the draws; and something is said of groups that do not differ.
    assert wilson_of_groups([1.0] * 5, 8) == wilson(5, 5) and wilson_of_groups([0.5] * 4, 2) == wilson(2, 4)
    assert wilson_of_groups([0.5, 0.5, 0.5, 0.51], 4).low == pytest.approx(wilson(8, 16).low, abs=5e-3)
    for shares, draws in (([], 2), ([0.5], 0), ([1.5], 1), ([[0.5]], 1)):
        with pytest.raises(InputError, match="make no shares"):
            wilson_of_groups(shares, draws)


def test_groups_cover_as_often_as_they_say() -> None:
    rng, within = np.random.default_rng(1), 0
    for _ in range(400):
        chance = rng.beta(2, 1, 60)
        within += 2 / 3 in wilson_of_groups(rng.binomial(8, chance) / 8, 8)
    assert 0.92 < within / 400 < 0.98


def test_wilson_by_hand() -> None:
    # Newcombe 1998, table I: 81 of 263 and 15 of 148.
    assert (round(wilson(81, 263).low, 4), round(wilson(81, 263).high, 4)) == (0.2553, 0.3662)
    assert (round(wilson(15, 148).low, 4), round(wilson(15, 148).high, 4)) == (0.0624, 0.1605)


def test_bootstrap_of_a_mean_is_as_wide_as_theory_says() -> None:
    values = (np.arange(1500) < 1290).astype(float)
    interval = bootstrap(mean_of(values), len(values), seed=3)
    half = 1.96 * math.sqrt(0.86 * 0.14 / 1500)
    assert interval.low == pytest.approx(0.86 - half, abs=0.003) and interval.high == pytest.approx(
        0.86 + half, abs=0.003
    )
    assert 0.86 in interval and 0.9 not in interval
    assert (
        interval == bootstrap(mean_of(values), len(values), seed=3) != bootstrap(mean_of(values), len(values), seed=4)
    )


def test_bootstrap_of_one_value_has_no_width() -> None:
    assert bootstrap(mean_of([0.5, 0.5]), 2) == Interval(0.5, 0.5)
    assert mean_of([True, False])(np.arange(2)) == 0.5


def test_paired_bootstrap_sees_what_single_intervals_cannot() -> None:
    generator = np.random.default_rng(0)
    first = generator.random(1500) < 0.86
    second = first & (generator.random(1500) >= 0.02)
    difference = paired_bootstrap(mean_of(first), mean_of(second), 1500)
    assert difference.value == pytest.approx(first.mean() - second.mean())
    assert 0 < difference.interval.low < difference.value < difference.interval.high < 0.03
    assert difference.p_value == pytest.approx(2 / 1001)
    assert bootstrap(mean_of(first), 1500).low < second.mean()


def test_equal_systems_do_not_differ() -> None:
    same = mean_of([True, False, True])
    assert paired_bootstrap(same, same, 3).p_value == 1 and paired_bootstrap(same, same, 3).interval == Interval(
        0.0, 0.0
    )
    assert mcnemar([True, False], [True, False]) == 1
    assert mcnemar([True, False], [False, True]) == 1


@pytest.mark.parametrize(
    ("only_first", "only_second"), [(1, 0), (5, 0), (10, 3), (3, 10), (8, 7), (40, 15), (3000, 2900)]
)
def test_mcnemar_equals_the_exact_binomial_test(only_first: int, only_second: int) -> None:
    first = np.repeat([True, True, False, False], [7, only_first, only_second, 9])
    second = np.repeat([True, False, True, False], [7, only_first, only_second, 9])
    assert mcnemar(first, second) == pytest.approx(binomtest(only_first, only_first + only_second).pvalue, rel=1e-9)


def test_mcnemar_by_hand() -> None:
    # Five of five one way: 2 * (1/2)**5.
    assert mcnemar([True] * 5, [False] * 5) == pytest.approx(0.0625)


def test_wrong_counts_are_refused() -> None:
    for successes, total in ((2, 1), (-1, 1), (0, 0)):
        with pytest.raises(InputError, match=f"{successes} of {total} is not a share"):
            wilson(successes, total)
    with pytest.raises(InputError, match="level 95 is not between 0 and 1"):
        wilson(1, 2, 95)
    with pytest.raises(InputError, match="0 examples and 1000 samples"):
        bootstrap(mean_of([]), 0)
    with pytest.raises(InputError, match="2 and 1 examples; both systems need the same ones"):
        mcnemar([True, False], [True])
