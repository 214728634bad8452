"""The plot of latency by length: a line a row, its label at its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.reports.drawing import (
    INK,
    canvas,
    heading,
    legend,
    looks,
    png,
    scale,
    short_labels,
    target_of,
)
from benchmarks.reports.placing import spread
from benchmarks.reports.report import Json
from benchmarks.reports.timings import lengths

# More lines cannot be told apart.
MOST = 48
# Inches that a label takes.
_LINE = 0.165


def length_plot(rows: Sequence[Json], title: str, about: str) -> bytes | None:
    """A PNG, or None where no row was timed at a length."""
    timed = [row for row in rows if row["lengths"]]
    if not timed:
        return None
    shown = timed[:MOST]
    if len(shown) < len(timed):
        about = f"{about}; the first {len(shown)} of {len(timed)} rows"
    labels = short_labels(shown, target=False)
    with canvas(9.6, max(5.4, 1.6 + _LINE * len(shown))) as figure:
        top = legend(figure, *_legend(shown), heading(figure, title, about))
        height = figure.get_figheight()
        room = 0.03 + 0.0072 * max(map(len, labels))
        axes = figure.add_axes((0.075, 0.55 / height, 0.905 - room, top - 0.7 / height))
        _axes(axes, shown)
        look = looks(shown)
        for row in shown:
            style = look[target_of(row)]
            x, y = _line(row)
            axes.plot(
                x, y, marker=style.marker, color=style.colour, linewidth=1.1, markersize=5.5, markeredgecolor="white",
                markeredgewidth=0.6, alpha=0.9,
            )  # fmt: skip
        _draw_labels(axes, shown, labels, figure.dpi)
        return png(figure)


def _line(row: Json) -> tuple[list[int], list[float]]:
    return [int(e["length"]) for e in row["lengths"]], [float(e["run"]["middle80_mean_ms"]) for e in row["lengths"]]


def _legend(rows: Sequence[Json]) -> tuple[list[Any], list[str]]:
    from matplotlib.lines import Line2D

    found = looks(rows)
    return [
        Line2D([], [], color=style.colour, marker=style.marker, linewidth=1.1, markersize=6) for style in found.values()
    ], list(found)


def _axes(axes: Any, rows: Sequence[Json]) -> None:
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    ticks = lengths(rows)
    if len(ticks) > 2 and ticks[-1] >= 4 * ticks[0]:
        axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FixedFormatter([str(tick) for tick in ticks]))
    axes.xaxis.set_minor_locator(NullLocator())
    values = [value for row in rows for value in _line(row)[1]]
    positive = [value for value in values if value > 0] or [1.0]
    scale(axes.yaxis, values)
    if axes.get_yscale() == "log":
        axes.set_ylim(min(positive) / 1.25, max(positive) * 1.25)
    else:
        axes.set_ylim(0, (max(values) or 1.0) * 1.08)
    axes.set_xlabel("length, tokens")
    axes.set_ylabel("ms a run, mean of the middle 80 %")


def _draw_labels(axes: Any, rows: Sequence[Json], labels: Sequence[str], dpi: float) -> None:
    """At the right, spread so that none covers another, each with a line from the end of its own."""
    ends = [(_line(row)[0][-1], _line(row)[1][-1]) for row in rows]
    look = looks(rows)
    pixels = axes.transData.transform(ends)
    order = sorted(range(len(rows)), key=lambda i: pixels[i][1])
    box = axes.get_window_extent()
    gap = min(_LINE * dpi, box.height / max(1, len(rows)))
    places = spread([float(pixels[i][1]) for i in order], gap, box.y0 + gap / 2, box.y1)
    for i, place in zip(order, places, strict=True):
        axes.annotate(
            f"{look[target_of(rows[i])].sign} {labels[i]}", ends[i], (box.x1 + 0.16 * dpi, place),
            textcoords="figure pixels", va="center", size=7.6, color=INK, annotation_clip=False,
            arrowprops={
                "arrowstyle": "-", "color": look[target_of(rows[i])].colour, "linewidth": 0.5, "alpha": 0.7,
                "shrinkA": 1, "shrinkB": 4, "relpos": (0, 0.5),
            },
        )  # fmt: skip
