"""The plot of a comparison: a line an artifact, on it a marker a device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.reports.drawing import FAINT, GRID, canvas, device_looks, heading, label_text, legend, png, scale

MOST = 60
_LINE = 0.24


@dataclass(frozen=True)
class Dots:
    """An artifact: the report's place, milliseconds, and whether they were measured as the base's."""

    name: str
    points: list[tuple[int, float, bool]]


def dot_plot(lines: Sequence[Dots], devices: Sequence[str], title: str, axis: str) -> bytes | None:
    """A PNG, or None where nothing was timed."""
    timed = [line for line in lines if line.points]
    if not timed:
        return None
    shown = timed[:MOST]
    about = f"{len(shown)} of {len(timed)} artifacts" if len(shown) < len(timed) else "by sha256 of the file"
    labels = [label_text(line.name, 44) for line in shown]
    used = sorted({i for line in shown for i, _, _ in line.points})
    looks = device_looks(len(devices))
    with canvas(9.6, max(2.8, 1.7 + _LINE * len(shown))) as figure:
        from matplotlib.lines import Line2D

        handles = [
            Line2D([], [], color=looks[i].colour, marker=looks[i].marker, linestyle="", markersize=7) for i in used
        ]
        texts = [devices[i] for i in used]
        if not all(alike for line in shown for _, _, alike in line.points):
            handles.append(Line2D([], [], color=FAINT, marker="o", markerfacecolor="white", linestyle=""))
            texts.append("hollow: another protocol")
        top = legend(figure, handles, texts, heading(figure, title, about), columns=4)
        height = figure.get_figheight()
        left = 0.025 + 0.0075 * max(map(len, labels))
        axes = figure.add_axes((left, 0.52 / height, 0.965 - left, top - 0.66 / height))
        values = [value for line in shown for _, value, _ in line.points]
        for y, line in enumerate(shown):
            ends = [value for _, value, _ in line.points]
            axes.plot([min(ends), max(ends)], [y, y], color=GRID, linewidth=3, zorder=1)
            for i, value, alike in line.points:
                face, edge = (looks[i].colour, "white") if alike else ("white", looks[i].colour)
                axes.plot(
                    [value], [y], looks[i].marker, markersize=7.5, markerfacecolor=face, markeredgecolor=edge,
                    markeredgewidth=0.7 if alike else 1.5, zorder=3,
                )  # fmt: skip
        axes.set_yticks(range(len(shown)), labels, fontsize=8)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(axis)
        scale(axes.xaxis, values)
        if axes.get_xscale() == "log":
            axes.set_xlim(min(values) / 1.15, max(values) * 1.15)
        else:
            axes.set_xlim(0, (max(values) or 1.0) * 1.06)
        return png(figure)
