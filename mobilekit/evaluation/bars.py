"""Bar charts as SVG, written by hand: a few lines against a dependency of a hundred megabytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

_COLOURS = ("#1f6fb2", "#e08214", "#3a9a5b", "#9b4f96", "#8c6d31", "#c0392b")
_BAR, _GAP, _LEFT, _WIDTH, _TOP, _BETWEEN = 11, 9, 170, 360, 58, 90


@dataclass(frozen=True)
class Bar:
    """A value, and where it may lie (None: as exactly as it says)."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Panel:
    """One measure. bars: by row and series; what is missing is left out."""

    title: str
    bars: Mapping[tuple[str, str], Bar]


def bars_svg(title: str, rows: Sequence[str], series: Sequence[str], panels: Sequence[Panel]) -> str:
    """Panels side by side, a row of bars for each name, one bar a series; the same text for the same values."""
    height = len(series) * _BAR + _GAP
    full = (_LEFT + len(panels) * (_WIDTH + _BETWEEN), _TOP + len(rows) * height + 30)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{full[0]}" height="{full[1]}" '
        f'viewBox="0 0 {full[0]} {full[1]}" font-family="sans-serif" font-size="11">',
        f'<rect width="{full[0]}" height="{full[1]}" fill="white"/>',
        _text(8, 18, title, 'font-size="14" font-weight="bold"'),
    ]
    for i, name in enumerate(series):
        x = _LEFT + 110 * i
        parts.append(f'<rect x="{x}" y="26" width="10" height="10" fill="{_colour(i)}"/>')
        parts.append(_text(x + 14, 35, name))
    for i, name in enumerate(rows):
        parts.append(_text(_LEFT - 8, _TOP + i * height + height / 2, name, 'text-anchor="end"'))
    for i, panel in enumerate(panels):
        parts += _panel(panel, rows, series, _LEFT + i * (_WIDTH + _BETWEEN), height)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(panel: Panel, rows: Sequence[str], series: Sequence[str], left: float, height: int) -> list[str]:
    ends = [end for bar in panel.bars.values() for end in (bar.value, bar.low, bar.high) if end is not None]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    scale = _WIDTH / ((high - low) or 1.0)

    def place(value: float) -> float:
        return left + (value - low) * scale

    bottom = _TOP + len(rows) * height
    parts = [_text(left, _TOP - 8, panel.title, 'font-weight="bold"')]
    for value in dict.fromkeys((low, 0.0, high)):
        parts.append(f'<path d="M{place(value):.1f} {_TOP}V{bottom}" stroke="#999" stroke-width="0.6"/>')
        parts.append(_text(place(value), bottom + 14, f"{value:.3g}", 'text-anchor="middle"'))
    for i, row in enumerate(rows):
        for j, name in enumerate(series):
            bar = panel.bars.get((row, name))
            if bar is not None:
                parts += _bar(bar, place, _TOP + i * height + j * _BAR + _GAP / 2, _colour(j))
    return parts


def _bar(bar: Bar, place: Callable[[float], float], y: float, colour: str) -> list[str]:
    start, end = sorted((place(0.0), place(bar.value)))
    parts = [f'<rect x="{start:.1f}" y="{y:.1f}" width="{end - start:.1f}" height="{_BAR - 2}" fill="{colour}"/>']
    last = end
    if bar.low is not None and bar.high is not None:
        middle, last = y + (_BAR - 2) / 2, max(end, place(bar.high))
        parts.append(f'<path d="M{place(bar.low):.1f} {middle:.1f}H{place(bar.high):.1f}" stroke="#333"/>')
    return [*parts, _text(last + 3, y + _BAR - 3, f"{bar.value:.3g}", 'font-size="9" fill="#444"')]


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(text)}</text>'


def _colour(i: int) -> str:
    return _COLOURS[i % len(_COLOURS)]
