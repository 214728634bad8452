"""Kullback-Leibler divergence of classifiers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

from mobilekit.evaluation.divergence import divergence


def test_of_one_label_of_many_by_the_book() -> None:
    rng = np.random.default_rng(0)
    given, base = rng.normal(size=(2, 50, 4)) * 3
    p, q = scipy.special.softmax(base, 1), scipy.special.softmax(given, 1)
    assert divergence(given, base) == pytest.approx(float(scipy.special.rel_entr(p, q).sum(1).mean()))


def test_of_several_labels_by_the_book() -> None:
    rng = np.random.default_rng(1)
    given, base = rng.normal(size=(2, 50, 3)) * 3
    p, q = scipy.special.expit(base), scipy.special.expit(given)
    exact = scipy.special.rel_entr(p, q) + scipy.special.rel_entr(1 - p, 1 - q)
    assert divergence(given, base, several=True) == pytest.approx(float(exact.sum(1).mean()))


def test_nothing_between_equals_and_finite_between_extremes() -> None:
    extreme = np.array([[300.0, -300.0]])
    assert divergence(extreme, extreme) == 0
    # A constant on all logits changes no probability.
    assert divergence(extreme + 7, extreme) == 0
    assert np.isfinite(divergence(-extreme, extreme))
    assert divergence(-extreme, extreme) == pytest.approx(600)
