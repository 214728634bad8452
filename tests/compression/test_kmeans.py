from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mobilekit.compression.kmeans import BINS, LIMIT, best_levels, bins, nearest
from mobilekit.models.load import load

WEIGHTED = st.lists(st.tuples(st.floats(-8, 8, width=16), st.floats(0, 4, width=16)), min_size=1, max_size=7)


def sums(values: np.ndarray, weights: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """Mass and moment in the half steps of -limit .. limit, by the definition."""
    edges = np.arange(-2 * limit, 2 * limit + 1) / 2
    place = np.searchsorted(edges, values, side="right")
    count = len(edges) + 1
    return np.bincount(place, weights, count), np.bincount(place, weights * values, count)


def error(values: np.ndarray, weights: np.ndarray, levels: np.ndarray) -> float:
    return float((weights * ((values[:, None] - levels.astype(np.float64)) ** 2).min(axis=1)).sum())


def least_error(values: np.ndarray, weights: np.ndarray, clusters: int, limit: int) -> float:
    """The least error of all ways to cut the sorted values into at most `clusters` intervals with an integer each."""
    order = np.argsort(values)
    values, weights = values[order], weights[order]
    found = np.inf
    for parts in range(1, min(clusters, len(values)) + 1):
        for cuts in itertools.combinations(range(1, len(values)), parts - 1):
            total = 0.0
            for part in itertools.pairwise([0, *cuts, len(values)]):
                own, share = values[slice(*part)], weights[slice(*part)]
                mean = float((own * share).sum() / share.sum()) if share.sum() else 0.0
                level = np.clip(np.rint(mean), -limit, limit)
                total += float((share * (own - level) ** 2).sum())
            found = min(found, total)
    return found


@given(WEIGHTED, st.integers(1, 5), st.integers(2, 6))
@settings(max_examples=300)
def test_no_partition_is_better(weighted: list[tuple[float, float]], clusters: int, limit: int) -> None:
    values, weights = np.array(weighted).T
    levels, cost = best_levels(*sums(values, weights, limit), clusters)
    assert len(levels) == min(clusters, 2 * limit + 1)
    assert (np.diff(levels) > 0).all() and np.abs(levels).max() <= limit
    found = error(values, weights, levels)
    assert found == pytest.approx(least_error(values, weights, clusters, limit), rel=1e-9, abs=1e-9)
    assert cost + (weights * values**2).sum() == pytest.approx(found, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("clusters", [1, 2, 3, 6, 9])
def test_no_choice_of_levels_is_better(clusters: int) -> None:
    rng = np.random.default_rng(clusters)
    values, weights = rng.standard_t(3, 500) * 2, rng.random(500)
    levels, _ = best_levels(*sums(values, weights, 4), clusters)
    every = (error(values, weights, np.array(c)) for c in itertools.combinations(range(-4, 5), clusters))
    assert error(values, weights, levels) == pytest.approx(min(every), rel=1e-12)


def test_weights_that_differ_by_many_orders_are_told_apart() -> None:
    values = np.array([-100.0, -99, 3, 4, 60, 61])
    heavy = np.array([1e-12, 1e-12, 1e3, 1e3, 1e-12, 1e-12])
    levels, _ = best_levels(*sums(values, heavy, LIMIT), 3)
    assert {3, 4} <= set(levels.tolist())


def test_as_many_levels_as_there_are_make_no_rounding_but_to_integers() -> None:
    values = np.random.default_rng(0).uniform(-LIMIT, LIMIT, 3000)
    levels, cost = best_levels(*sums(values, np.ones(3000), LIMIT), 256)
    assert levels.tolist() == list(range(-LIMIT, LIMIT + 1))
    assert cost + (values**2).sum() == pytest.approx(((values - np.rint(values)) ** 2).sum(), rel=1e-9)


@given(st.lists(st.integers(-200 * 64, 200 * 64), min_size=1, max_size=20))
def test_half_steps_are_those_of_the_definition(values: list[int]) -> None:
    edges = np.arange(-2 * LIMIT, 2 * LIMIT + 1) / 2
    assert len(edges) + 1 == BINS
    exact = np.array(values, np.float32) / 64
    assert bins(exact).tolist() == np.searchsorted(edges, exact, side="right").tolist()


@given(st.sets(st.integers(-LIMIT, LIMIT), min_size=1, max_size=16), st.integers(-200 * 64, 200 * 64))
def test_nearest_level_is_looked_up_by_half_step(chosen: set[int], value: int) -> None:
    levels = np.array(sorted(chosen), np.int8)
    code = nearest(levels)[bins(np.array([value], np.float32) / 64)][0]
    distances = np.abs(levels - value / 64)
    assert distances[code] == distances.min()
    assert (distances[code + 1 :] > distances.min()).all()


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [2, 4, 8, 16])
def test_rows_of_a_real_layer_are_no_worse_than_scikit_learn(clusters: int) -> None:
    from sklearn.cluster import KMeans

    weight = load("minilm-l6").tensors()["layers.1.ffn.down.weight"][:4]
    for row in (weight / np.abs(weight).max(axis=1, keepdims=True) * LIMIT).astype(np.float64):
        levels, _ = best_levels(*sums(row, np.ones(len(row)), LIMIT), clusters)
        centres = KMeans(clusters, n_init=10, random_state=0).fit(row[:, None]).cluster_centers_[:, 0]
        assert error(row, np.ones(len(row)), levels) <= error(row, np.ones(len(row)), np.rint(centres)) * (1 + 1e-9)
        # Nor do integers cost much against centroids that are free.
        assert error(row, np.ones(len(row)), levels) <= error(row, np.ones(len(row)), centres) * 1.02
