"""What of an embedding space another keeps."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from mobilekit.evaluation.embeddings import neighbour_agreement, pair_correlation


@pytest.fixture
def rows() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(700, 8))


def test_a_turned_and_scaled_space_is_the_same(rows: np.ndarray) -> None:
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(8, 8)))[0]
    lengths = np.random.default_rng(2).uniform(0.5, 2, (700, 1))
    assert pair_correlation(rows @ turn * lengths, rows) == pytest.approx(1)
    assert neighbour_agreement(rows @ turn * lengths, rows) == 1


def test_an_unrelated_space_is_not(rows: np.ndarray) -> None:
    other = np.random.default_rng(3).normal(size=rows.shape)
    assert abs(pair_correlation(other, rows)) < 0.1
    assert neighbour_agreement(other, rows) < 0.05


def test_pairs_are_fixed_and_never_of_a_row_with_itself(rows: np.ndarray) -> None:
    noisy = rows + 0.3 * np.random.default_rng(4).normal(size=rows.shape)
    assert pair_correlation(noisy, rows) == pair_correlation(noisy, rows)
    assert pair_correlation(noisy, rows, seed=1) != pair_correlation(noisy, rows)
    # Two rows: every pair is of both, whose cosine is one value.
    assert pair_correlation(rows[:2], rows[:2]) == 0


def test_correlation_and_neighbours_by_the_book(rows: np.ndarray) -> None:
    few, other = rows[:40], rows[:40] + 0.5 * np.random.default_rng(5).normal(size=(40, 8))

    def cosines(values: np.ndarray) -> np.ndarray:
        unit = values / np.linalg.norm(values, axis=1, keepdims=True)
        return unit @ unit.T

    first, second = cosines(other), cosines(few)
    upper = np.triu_indices(40, 1)
    exact = scipy.stats.spearmanr(first[upper], second[upper]).statistic
    assert pair_correlation(other, few, pairs=20000) == pytest.approx(exact, abs=0.02)
    for values in (first, second):
        np.fill_diagonal(values, -2)
    assert neighbour_agreement(other, few) == pytest.approx((first.argmax(1) == second.argmax(1)).mean())
