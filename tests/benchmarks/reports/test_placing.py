"""Labels of plots: over nothing, within the plot, near their points."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchmarks.reports.placing import Field, clusters, place, spread

AREA = (0.0, 0.0, 900.0, 600.0)
MARKER = 6.0


def field(points: NDArray[np.float64], line: NDArray[np.float64] | None = None) -> Field:
    taken = np.hstack([points - MARKER, points + MARKER])
    return Field(AREA, taken, np.arange(len(points)), np.empty((0, 2)) if line is None else line)


def boxes(points: NDArray[np.float64], sizes: NDArray[np.float64]) -> list[NDArray[np.float64] | None]:
    spots = place(points, np.full(len(points), MARKER), sizes, field(points))
    return [
        None if spot is None else np.array([spot.left, spot.bottom, spot.left + w, spot.bottom + h])
        for spot, (w, h) in zip(spots, sizes, strict=True)
    ]


def touch(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    return bool(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3])


@pytest.mark.parametrize("count", [1, 5, 15, 40])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_labels_collide_with_nothing(count: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    # Half of them in one corner, as files of one scheme are.
    points = np.concatenate(
        [chance.uniform(60, 540, (count // 2, 2)), chance.uniform(100, 260, (count - count // 2, 2))]
    )
    sizes = np.column_stack([chance.uniform(30, 110, count), np.full(count, 13.0)])
    found = [box for box in boxes(points, sizes) if box is not None]
    assert len(found) == count
    for i, box in enumerate(found):
        assert box[0] >= 0 and box[1] >= 0 and box[2] <= 900 and box[3] <= 600
        assert not any(touch(box, other) for other in found[:i])
        assert not any(touch(box, np.concatenate([p - MARKER, p + MARKER])) for p in points)


def test_a_label_alone_is_right_beside_its_point_without_a_line() -> None:
    (spot,) = place(
        np.array([[300.0, 300.0]]), np.array([MARKER]), np.array([[50.0, 12.0]]), field(np.array([[300.0, 300.0]]))
    )
    assert spot is not None and spot.line_to is None
    assert 306 <= spot.left <= 315 and abs(spot.bottom + 6 - 300) < 1


def test_a_label_that_has_no_place_is_left_out() -> None:
    points = np.array([[450.0, 300.0]])
    assert place(points, np.array([MARKER]), np.array([[1000.0, 12.0]]), field(points)) == [None]


def test_labels_keep_off_a_line_where_they_can() -> None:
    points = np.array([[300.0, 300.0]])
    flat = np.array([[300.0, 300.0], [800.0, 300.0]])
    (spot,) = place(points, np.array([MARKER]), np.array([[50.0, 12.0]]), field(points, flat))
    assert spot is not None
    assert not spot.bottom < 300 < spot.bottom + 12 or spot.left + 50 <= 300


def test_points_that_cover_each_other_are_one_group() -> None:
    points = np.array([[0.0, 0.0], [100.0, 0.0], [1.0, 1.0], [100.0, 50.0]])
    assert sorted(map(sorted, clusters(points, 8.0))) == [[0, 2], [1], [3]]


@given(st.lists(st.floats(0, 1000), max_size=40))
def test_spread_places_are_apart_and_in_order(wanted: list[float]) -> None:
    places = spread(sorted(wanted), 10.0, 0.0, 1000.0)
    assert len(places) == len(wanted)
    assert all(b - a >= 10 - 1e-6 for a, b in pairwise(places))
    assert all(-1e-6 <= p <= 1000 + 1e-6 for p in places)


def test_spread_moves_nothing_that_has_room() -> None:
    assert spread([10.0, 100.0, 300.0], 20.0, 0.0, 400.0) == [10.0, 100.0, 300.0]
    assert spread([100.0, 100.0], 20.0, 0.0, 400.0) == [90.0, 110.0]
