from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from mobilekit.evaluation.bars import Bar, Panel, bars_svg

SPACE = "{http://www.w3.org/2000/svg}"
PANEL = Panel(
    "lost & <found>",
    {("first", "a"): Bar(2.0, 1.0, 4.0), ("first", "b"): Bar(-1.0), ("second", "a"): Bar(0.5)},
)


def drawn(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def widths(root: ElementTree.Element, colour: str) -> list[float]:
    # The small squares are the legend's.
    bars = [r for r in root.iter(f"{SPACE}rect") if r.get("fill") == colour and r.get("height") != "10"]
    return [float(r.get("width", "")) for r in bars]


def test_bars_are_as_long_as_their_values_and_missing_ones_are_left_out() -> None:
    root = drawn(bars_svg("all", ["first", "second"], ["a", "b"], [PANEL]))
    # 360 points from -1 to 4.
    assert widths(root, "#1f6fb2") == [144.0, 36.0] and widths(root, "#e08214") == [72.0]
    interval = next(p.get("d") for p in root.iter(f"{SPACE}path") if p.get("stroke") == "#333")
    assert interval is not None and interval.startswith("M314.0 ") and interval.endswith("H530.0")


def test_names_are_escaped_and_everything_is_inside() -> None:
    root = drawn(bars_svg("a < b", ["<first>", "second"], ["a", "b"], [PANEL, PANEL]))
    texts = [t.text for t in root.iter(f"{SPACE}text")]
    assert "<first>" in texts and texts.count("lost & <found>") == 2 and "a < b" in texts
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    assert all(float(e.get("x", "0")) < width and float(e.get("y", "0")) < height for e in root)


def test_nothing_at_all_is_a_picture_too() -> None:
    assert drawn(bars_svg("x", ["first"], ["a"], [Panel("p", {})])) is not None
    assert bars_svg("x", ["first"], ["a"], [PANEL]) == bars_svg("x", ["first"], ["a"], [PANEL])
