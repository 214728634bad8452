"""The plot of bytes by group of tensors: a stacked bar a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.reports.drawing import HATCHES, INK, SHADES, canvas, heading, legend, png, scale, short_labels
from benchmarks.reports.report import Json
from benchmarks.reports.texts import megabytes

MOST = 60
_LINE = 0.21
_OTHERS = "others"


def group_plot(rows: Sequence[Json], title: str, about: str) -> bytes | None:
    """A PNG, or None where no row says what its groups take."""
    told = _files(row for row in rows if sum(row["groups"].values()))
    if not told:
        return None
    shown = told[:MOST]
    if len(shown) < len(told):
        about = f"{about}; the first {len(shown)} of {len(told)} rows"
    labels = short_labels(shown, target=True)
    groups = _groups(shown)
    with canvas(9.6, max(2.6, 1.5 + _LINE * len(shown))) as figure:
        from matplotlib.patches import Patch

        looks: list[dict[str, Any]] = [
            {"facecolor": SHADES[i], "hatch": HATCHES[i], "edgecolor": "white"} for i in range(len(groups))
        ]
        top = legend(figure, [Patch(**look) for look in looks], groups, heading(figure, title, about))
        height = figure.get_figheight()
        left = 0.02 + 0.0075 * max(map(len, labels))
        axes = figure.add_axes((left, 0.52 / height, 0.93 - left, top - 0.66 / height))
        ends = [0.0] * len(shown)
        for group, look in zip(groups, looks, strict=True):
            sizes = [_bytes(row, group, groups) / 1e6 for row in shown]
            axes.barh(range(len(shown)), sizes, 0.72, ends, linewidth=0.6, **look)
            ends = [end + size for end, size in zip(ends, sizes, strict=True)]
        for i, end in enumerate(ends):
            axes.annotate(
                megabytes(end * 1e6), (end, i), (4, 0), textcoords="offset points", va="center", size=7.6, color=INK
            )
        axes.set_yticks(range(len(shown)), labels, fontsize=8)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        scale(axes.xaxis, [0.0, *ends])
        axes.set_xlim(0, (max(ends) or 1.0) * 1.08)
        axes.grid(False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("weights, MB")
        return png(figure)


def _files(rows: Iterable[Json]) -> list[Json]:
    """The first row of each file: what two engines run is the same bytes."""
    found: dict[str, Json] = {}
    for row in rows:
        found.setdefault(row["sha256"] or row["name"], row)
    return list(found.values())


def _groups(rows: Sequence[Json]) -> list[str]:
    """The largest first; the rest together."""
    sums: Counter[str] = Counter()
    for row in rows:
        sums.update({group: int(size) for group, size in row["groups"].items()})
    names = [name for name, _ in sorted(sums.items(), key=lambda each: (-each[1], each[0]))]
    return names if len(names) <= len(SHADES) else [*names[: len(SHADES) - 1], _OTHERS]


def _bytes(row: Json, group: str, groups: Sequence[str]) -> float:
    if group == _OTHERS and group not in row["groups"]:
        return float(sum(size for name, size in row["groups"].items() if name not in groups))
    return float(row["groups"].get(group, 0))
