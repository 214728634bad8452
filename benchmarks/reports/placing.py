"""Where the labels of a plot go: none over a point, over another label, or out of the plot. In pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Directions around a point, the preferred ones (right, then above) first, and how far away, in heights of a label.
_ANGLES = np.deg2rad([0, 45, 315, 90, 270, 180, 135, 225, *(a + 7.5 for a in range(15, 360, 15))])
_DISTANCES = (0.35, 0.8, 1.4, 2.1, 3.0, 4.2, 5.6, 7.2, 9.0, 11.0, 14.0, 18.0)
_PASSES = 6
_STEPS = 32
# What crossing costs, in heights of a label; and lying nearer to what another label is of.
_CROSSED_LABEL, _CROSSED_POINT, _CROSSED_LINE, _ON_LINE, _NEARER = 40.0, 12.0, 8.0, 3.0, 3.0
# A line within so many pixels of another is not seen.
_NEAR, _HIDDEN = 4.0, 5.0


@dataclass(frozen=True)
class Spot:
    """Where a label goes: its lower left corner; and the end of a line from its point, where it is not beside it."""

    left: float
    bottom: float
    line_to: tuple[float, float] | None


@dataclass(frozen=True)
class Field:
    """Where labels may go. area: left, bottom, right, top. taken: [k, 4], boxes that no label may touch. owners: [k],
    the number of the label whose own points a box is, or -1. line: [m, 2], corners of a line, across and up, that
    labels had better not lie on."""

    area: tuple[float, float, float, float]
    taken: Array
    owners: NDArray[np.intp]
    line: Array


def place(anchors: Array, reach: Array, sizes: Array, field: Field) -> list[Spot | None]:
    """A place for each label, or None where there is none.

    anchors: [n, 2], what is labelled: a point, or the middle of several that lie together. reach: [n], half of its
    width. sizes: [n, 2], width and height of the labels.
    """
    return _Placing(anchors, reach, sizes, field).run()


def clusters(points: Array, distance: float) -> list[list[int]]:
    """Points that lie so close together that their markers cover each other, in groups of no great width."""
    groups: list[list[int]] = []
    for i in sorted(range(len(points)), key=lambda i: (points[i][0], points[i][1])):
        near = [g for g in groups if np.hypot(*(points[g].mean(0) - points[i])) < distance]
        if near:
            min(near, key=lambda g: float(np.hypot(*(points[g].mean(0) - points[i])))).append(i)
        else:
            groups.append([i])
    return groups


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Ascending places nearest to the wanted ascending ones that are at least `gap` apart, between low and high as far
    as there is room."""
    blocks: list[tuple[float, int]] = []
    # Each block: the mean of where its members want its first one, and how many they are.
    for value in wanted:
        blocks.append((value, 1))
        while len(blocks) > 1 and blocks[-1][0] < blocks[-2][0] + gap * blocks[-2][1]:
            (last, more), (first, count) = blocks.pop(), blocks.pop()
            mean = (first * count + (last - gap * count) * more) / (count + more)
            blocks.append((mean, count + more))
    places = [start + gap * i for start, count in blocks for i in range(count)]
    for i in range(len(places)):
        places[i] = max(places[i], low + gap * i)
    for i in range(len(places)):
        places[-1 - i] = min(places[-1 - i], high - gap * i)
    return places


class _Placing:
    def __init__(self, anchors: Array, reach: Array, sizes: Array, field: Field) -> None:
        self._anchors, self._reach, self._sizes, self._field = anchors, reach, sizes, field
        self._unit = float(sizes[:, 1].min()) if len(sizes) else 1.0
        # Label -> its box, and the end of its line.
        self._boxes: dict[int, Array] = {}
        self._ends: dict[int, Array] = {}

    def run(self) -> list[Spot | None]:
        order = sorted(range(len(self._sizes)), key=lambda i: -self._crowd(i))
        for _ in range(_PASSES):
            before = dict(self._boxes)
            for i in order:
                self._boxes.pop(i, None)
                self._ends.pop(i, None)
                self._put(i)
            # Those without a place choose first the next time.
            order.sort(key=lambda i: i in self._boxes)
            if before.keys() == self._boxes.keys() and all(np.array_equal(before[i], self._boxes[i]) for i in before):
                break
        return [self._spot(i) for i in range(len(self._sizes))]

    def _crowd(self, i: int) -> float:
        """How large it is, and how close the others are."""
        distance = np.hypot(*(self._anchors - self._anchors[i]).T) / self._unit
        return float(np.exp(-distance / 4).sum() + self._sizes[i].sum() / self._unit)

    def _put(self, i: int) -> None:
        boxes, ends, costs = self._candidates(i)
        free = self._inside(boxes) & ~_overlap(boxes, self._field.taken).any(1)
        others = [j for j in self._boxes if j != i]
        placed = np.array([self._boxes[j] for j in others]).reshape(-1, 4)
        free &= ~_overlap(boxes, placed).any(1)
        if not free.any():
            return
        boxes, ends, costs = boxes[free], ends[free], costs[free]
        costs = costs + self._crossings(i, boxes, ends, others, placed)
        best = int(costs.argmin())
        self._boxes[i], self._ends[i] = boxes[best], ends[best]

    def _candidates(self, i: int) -> tuple[Array, Array, Array]:
        width, height = self._sizes[i]
        distances = np.repeat(_DISTANCES, len(_ANGLES)) * self._unit
        angles = np.tile(_ANGLES, len(_DISTANCES))
        reach = self._reach[i] + distances
        across, up = np.cos(angles), np.sin(angles)
        centre = self._anchors[i] + np.stack([across * (reach + width / 2), up * (reach + height / 2)], 1)
        half = np.array([width, height]) / 2
        boxes = np.hstack([centre - half, centre + half])
        ends = np.clip(self._anchors[i], boxes[:, :2], boxes[:, 2:])
        preferred = np.tile(np.arange(len(_ANGLES)) * 0.02, len(_DISTANCES))
        return boxes, ends, distances / self._unit + preferred

    def _inside(self, boxes: Array) -> NDArray[np.bool_]:
        left, bottom, right, top = self._field.area
        inside = (boxes[:, 0] >= left) & (boxes[:, 1] >= bottom) & (boxes[:, 2] <= right) & (boxes[:, 3] <= top)
        return np.asarray(inside)

    def _crossings(self, i: int, boxes: Array, ends: Array, others: list[int], placed: Array) -> Array:
        """What each candidate crosses with its line, and covers of others' lines."""
        cost = _NEARER * self._nearer(i, boxes)
        foreign = self._field.taken[self._field.owners != i]
        cost += _CROSSED_POINT * self._along(i, ends, foreign)
        cost += _CROSSED_LABEL * self._along(i, ends, placed)
        if others:
            first, last = self._anchors[others], np.array([self._ends[j] for j in others])
            cost += _CROSSED_LINE * _cross(self._anchors[i], ends, first, last).sum(1)
            steps = _between(first, last)
            cost += _CROSSED_LABEL * _covers(boxes, steps).any(2).sum(1)
        line = self._field.line
        if len(line) > 1:
            steps = _between(line[:-1], line[1:])
            cost += _ON_LINE * _covers(boxes, steps).any(2).sum(1)
        return cost + self._hidden(i, ends)

    def _hidden(self, i: int, ends: Array) -> Array:
        """What lines cost that nobody sees: straight up or down, where intervals are, or along the field's line."""
        steps = _between(np.broadcast_to(self._anchors[i], ends.shape), ends)
        away = np.hypot(*(ends - self._anchors[i]).T) - self._reach[i]
        hidden = np.abs(ends[:, 0] - self._anchors[i][0]) < _NEAR
        line = self._field.line
        if len(line) > 1:
            # The line goes across and up only: its parts are boxes without width.
            parts = np.hstack([np.minimum(line[:-1], line[1:]), np.maximum(line[:-1], line[1:])])
            nearest = np.clip(steps[:, :, None], parts[:, :2], parts[:, 2:])
            along = np.hypot(*np.moveaxis(steps[:, :, None] - nearest, 3, 0)).min(2) < _NEAR
            hidden = hidden | (along.mean(1) > 1 / 2)
        return np.where(hidden & (away > self._unit), _HIDDEN, 0.0)

    def _nearer(self, i: int, boxes: Array) -> Array:
        """How many other anchors are hardly further from a box than its own."""
        nearest = np.clip(self._anchors, boxes[:, None, :2], boxes[:, None, 2:])
        away = np.hypot(*np.moveaxis(nearest - self._anchors, 2, 0)) - self._reach
        return np.asarray((away < 1.3 * away[:, i : i + 1] + 1).sum(1) - 1, np.float64)

    def _along(self, i: int, ends: Array, boxes: Array) -> Array:
        """How many boxes the line from the point to each end crosses."""
        steps = _between(np.broadcast_to(self._anchors[i], ends.shape), ends)[:, 1:]
        x, y = steps[:, :, None, 0], steps[:, :, None, 1]
        inside = (x > boxes[:, 0]) & (x < boxes[:, 2]) & (y > boxes[:, 1]) & (y < boxes[:, 3])
        return np.asarray(inside.any(1).sum(1), np.float64)

    def _spot(self, i: int) -> Spot | None:
        if i not in self._boxes:
            return None
        left, bottom = self._boxes[i][:2]
        end = self._ends[i]
        beside = np.hypot(*(end - self._anchors[i])) <= self._reach[i] + 0.7 * self._unit
        return Spot(float(left), float(bottom), None if beside else (float(end[0]), float(end[1])))


def _overlap(first: Array, second: Array) -> NDArray[np.bool_]:
    """[n, m]: which boxes of two lists touch."""
    a, b = first[:, None], second[None]
    apart = (a[..., 2] <= b[..., 0]) | (b[..., 2] <= a[..., 0]) | (a[..., 3] <= b[..., 1]) | (b[..., 3] <= a[..., 1])
    return np.asarray(~apart)


def _between(first: Array, last: Array) -> Array:
    """[n, steps, 2]: points along lines."""
    along = np.linspace(0, 1, _STEPS)[None, :, None]
    return np.asarray(first[:, None] * (1 - along) + last[:, None] * along)


def _covers(boxes: Array, steps: Array) -> NDArray[np.bool_]:
    """[boxes, lines, steps]: which points along lines lie in which box."""
    b = boxes[:, None, None]
    x, y = steps[None, ..., 0], steps[None, ..., 1]
    return np.asarray((x > b[..., 0]) & (x < b[..., 2]) & (y > b[..., 1]) & (y < b[..., 3]))


def _cross(point: Array, ends: Array, first: Array, last: Array) -> NDArray[np.bool_]:
    """[ends, lines]: which lines from a point to each end cross which other lines."""

    def side(a: Array, b: Array, c: Array) -> Array:
        (x, y), (across, up) = np.moveaxis(b - a, -1, 0), np.moveaxis(c - a, -1, 0)
        return np.asarray(x * up - y * across)

    start, e, f, g = np.broadcast_arrays(point[None, None], ends[:, None], first[None], last[None])
    return np.asarray((side(start, e, f) * side(start, e, g) < 0) & (side(f, g, start) * side(f, g, e) < 0))
