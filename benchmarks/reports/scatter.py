"""Plots of a cost against accuracy: a point a row, each labelled, and the Pareto front."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.reports.columns import metric
from benchmarks.reports.drawing import (
    FAINT,
    INK,
    canvas,
    halo,
    heading,
    label_text,
    legend,
    looks,
    png,
    scale,
    short_labels,
    target_of,
)
from benchmarks.reports.placing import Field, Spot, clusters, place
from benchmarks.reports.report import Json

# Of points that lie together so many are named, in lines of so many characters.
_MOST_TOGETHER, _WIDEST = 12, 26
_REFERENCE = "reference"
# Pixels around a label.
_ROOM = np.array([4, 2])
# Points across.
_MARKER = 7.7
_FRONT = "#9aa1ab"


@dataclass(frozen=True)
class Costs:
    """What accuracy is drawn against. axis: its name and unit. cost: of a row, in that unit, or None."""

    axis: str
    cost: Callable[[Json], float | None]


def scatter(rows: Sequence[Json], what: Costs, title: str, about: str) -> bytes | None:
    """A PNG, or None where fewer than two rows have both a cost and accuracy."""
    shown = [row for row in rows if row["kind"] != "model" and metric(row) is not None and what.cost(row) is not None]
    if len(shown) < 2:
        return None
    with canvas(9.6, 6.4 if len(shown) <= 20 else 7.4) as figure:
        top = heading(figure, title, about)
        top = _legend(figure, shown, top)
        axes = figure.add_axes((0.085, 0.095, 0.895, top - 0.115))
        points = _points(shown, what)
        axes.set_xlabel(what.axis)
        axes.set_ylabel(f"{label_text(_metric_name(shown))}, points")
        _limits(axes, shown, points)
        references = [row for row in rows if row["kind"] == "model" and metric(row) is not None][:2]
        _draw_references(axes, references)
        front = _front(shown, points)
        if len(front) > 1:
            axes.plot(*front.T, drawstyle="steps-post", color=_FRONT, linewidth=1.4, zorder=1)
        _draw_points(axes, shown, points)
        _draw_labels(figure, axes, shown, points, front)
        return png(figure)


def _points(rows: Sequence[Json], what: Costs) -> NDArray[np.float64]:
    return np.array([[what.cost(row), 100 * (metric(row) or 0.0)] for row in rows], np.float64)


def _metric_name(rows: Sequence[Json]) -> str:
    names = {row["accuracy"]["metric"] for row in rows}
    return min(names) if len(names) == 1 else "metric"


def _limits(axes: Any, rows: Sequence[Json], points: NDArray[np.float64]) -> None:
    """Room for labels on all sides."""
    scale(axes.xaxis, [float(x) for x in points[:, 0]])
    if axes.get_xscale() == "log":
        low, high = np.log(points[:, 0].min()), np.log(points[:, 0].max())
        axes.set_xlim(float(np.exp(low - 0.09 * (high - low))), float(np.exp(high + 0.16 * (high - low))))
    else:
        low, high = points[:, 0].min(), points[:, 0].max()
        room = (high - low) or abs(high) or 1.0
        axes.set_xlim(max(0.0, float(low - 0.09 * room)), float(high + 0.16 * room))
    # As far as the intervals reach, so that a difference that is none does not look like one.
    low = min(100 * row["accuracy"]["value"]["low"] for row in rows)
    high = max(100 * row["accuracy"]["value"]["high"] for row in rows)
    room = (high - low) or 1.0
    axes.set_ylim(low - 0.06 * room, high + 0.06 * room)


def _usual_data(rows: Sequence[Json]) -> str:
    measured = [row["accuracy"]["data"]["sha256"] for row in rows]
    return str(max(measured, key=measured.count))


def _front(rows: Sequence[Json], points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The points that no other one beats at less cost, of rows that were measured on the same data; ascending."""
    usual = _usual_data(rows)
    order = sorted(
        (tuple(point) for row, point in zip(rows, points, strict=True) if row["accuracy"]["data"]["sha256"] == usual),
        key=lambda point: (point[0], -point[1]),
    )
    front: list[tuple[float, ...]] = []
    for point in order:
        if not front or point[1] > front[-1][1]:
            front.append(point)
    return np.array(front, np.float64).reshape(-1, 2)


def _draw_points(axes: Any, rows: Sequence[Json], points: NDArray[np.float64]) -> None:
    look, usual = looks(rows), _usual_data(rows)
    for row, (x, y) in zip(rows, points, strict=True):
        style = look[target_of(row)]
        solid = row["accuracy"]["data"]["sha256"] == usual
        ends = [100 * row["accuracy"]["value"][end] for end in ("low", "high")]
        axes.plot([x, x], ends, color=style.colour, alpha=0.22, linewidth=1.2, zorder=1.5)
        face, edge = (style.colour, "white") if solid else ("white", style.colour)
        axes.plot(
            [x], [y], style.marker, markersize=_MARKER - 0.7, markerfacecolor=face, markeredgecolor=edge,
            markeredgewidth=0.7 if solid else 1.5, zorder=3,
        )  # fmt: skip


def _draw_references(axes: Any, rows: Sequence[Json]) -> None:
    """The teacher has no bytes here: a line at what it reaches."""
    low, high = axes.get_ylim()
    for row in rows:
        value = 100 * (metric(row) or 0.0)
        if low <= value <= high + 0.4 * (high - low):
            axes.axhline(value, color=FAINT, linestyle=(0, (4, 3)), linewidth=1, zorder=1, gid=_REFERENCE)
            axes.set_ylim(low, max(high, value + 0.06 * (high - low)))
            low, high = axes.get_ylim()
            axes.annotate(
                label_text(row["name"]), (0.004, value), (0, 2), xycoords=("axes fraction", "data"),
                textcoords="offset points", size=8, color=FAINT, style="italic", gid=_REFERENCE,
            )  # fmt: skip


def _legend(figure: Any, rows: Sequence[Json], top: float) -> float:
    from matplotlib.lines import Line2D

    handles: list[Any] = []
    texts = []
    for name, style in looks(rows).items():
        handles.append(Line2D([], [], color=style.colour, marker=style.marker, linestyle="", markersize=7))
        texts.append(name)
    handles.append(Line2D([], [], color=_FRONT, linewidth=1.4))
    texts.append("Pareto front; bars: 95 %")
    if len({row["accuracy"]["data"]["sha256"] for row in rows}) > 1:
        handles.append(Line2D([], [], marker="o", color=FAINT, markerfacecolor="white", linestyle=""))
        texts.append("hollow: on other rows of data")
    return legend(figure, handles, texts, top)


def _draw_labels(
    figure: Any, axes: Any, rows: Sequence[Json], points: NDArray[np.float64], front: NDArray[np.float64]
) -> None:
    renderer = figure.canvas.get_renderer()
    marker = figure.dpi / 72 * _MARKER / 2
    pixels = np.asarray(axes.transData.transform(points), np.float64)
    groups = clusters(pixels, 1.8 * marker)
    size = 8.5 if len(rows) <= 20 else 7.5
    texts = [axes.text(0, 0, text, size=size, color=INK, zorder=4, linespacing=1.1) for text in _texts(rows, groups)]
    for text in texts:
        text.set_path_effects(halo())
    anchors = np.array([pixels[group].mean(0) for group in groups])
    reach = np.array([np.abs(pixels[group] - anchor).max() for group, anchor in zip(groups, anchors, strict=True)])
    owners = np.array([next(i for i, group in enumerate(groups) if j in group) for j in range(len(rows))], np.intp)
    # What references are called, and their lines.
    others = [each.get_window_extent(renderer) for each in (*axes.texts, *axes.lines) if each.get_gid() == _REFERENCE]
    taken = np.array([[box.x0, box.y0, box.x1, box.y1] for box in others], np.float64).reshape(-1, 4)
    area = axes.get_window_extent(renderer)
    field = Field(
        (area.x0 + 2, area.y0 + 2, area.x1 - 2, area.y1 - 2),
        np.concatenate([np.hstack([pixels - marker, pixels + marker]), taken]),
        np.concatenate([owners, np.full(len(taken), -1)]),
        np.asarray(axes.transData.transform(_stairs(front)), np.float64) if len(front) else front,
    )
    sizes = np.array([text.get_window_extent(renderer).size for text in texts]) + _ROOM
    for text, spot, anchor in zip(texts, place(anchors, reach + marker, sizes, field), anchors, strict=True):
        _put(axes, text, spot, anchor)


def _texts(rows: Sequence[Json], groups: Sequence[Sequence[int]]) -> list[str]:
    """A label for each group of points: of rows of different targets, the marker's sign says whose are whose."""
    labels, look = short_labels(rows, target=False), looks(rows)
    found = []
    for group in groups:
        by_target: dict[str, list[str]] = {}
        for i in group:
            by_target.setdefault(target_of(rows[i]), []).append(labels[i])
        signs: dict[tuple[str, ...], str] = {}
        for name, each in sorted(by_target.items()):
            key = tuple(sorted(each))
            signs[key] = signs.get(key, "") + look[name].sign
        lines = [_wrapped(each, f"{sign} " if len(signs) > 1 else "") for each, sign in signs.items()]
        found.append("\n".join(lines))
    return found


def _wrapped(labels: Sequence[str], sign: str) -> str:
    shown = [label + "," for label in labels[:_MOST_TOGETHER]]
    shown[-1] = shown[-1][:-1] if len(shown) == len(labels) else f"{shown[-1]} +{len(labels) - len(shown)}"
    lines = [sign + shown[0]]
    for label in shown[1:]:
        if len(lines[-1]) + len(label) > _WIDEST:
            # Beneath what stands behind the sign.
            lines.append(" " * 2 * len(sign) + label)
        else:
            lines[-1] += f" {label}"
    return "\n".join(lines)


def _stairs(front: NDArray[np.float64]) -> NDArray[np.float64]:
    """The corners of the front's line."""
    corners = [front[:1]]
    for before, after in pairwise(front):
        corners.append(np.array([[after[0], before[1]], after]))
    return np.concatenate(corners)


def _put(axes: Any, text: Any, spot: Spot | None, anchor: NDArray[np.float64]) -> None:
    if spot is None:
        text.remove()
        return
    inverse = axes.transData.inverted()
    text.set_position(inverse.transform((spot.left + 2, spot.bottom + 1)))
    text.set_verticalalignment("bottom")
    if spot.line_to is not None:
        (x, y), (end_x, end_y) = inverse.transform(anchor), inverse.transform(spot.line_to)
        axes.plot([x, end_x], [y, end_y], color=FAINT, linewidth=0.8, zorder=2)
