"""Plots of reports: which there are, what is written in them, and that colours can be told apart."""

from __future__ import annotations

import sys
from itertools import combinations, pairwise
from typing import Any

import pytest
from hostile_reports import ATTACKS
from synthetic_reports import Json, accuracy, artifact, report, row, runs

from benchmarks.reports import drawing
from benchmarks.reports.drawing import HATCHES, SHADES, Look, looks, short_labels
from benchmarks.reports.plots import plots
from mobilekit.errors import MissingExtraError

matplotlib = pytest.importorskip("matplotlib")
ALL = ["bytes-accuracy.png", "latency-accuracy.png", "latency-length.png", "bytes-groups.png"]


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is drawn, instead of its bytes."""
    found: list[Any] = []

    def keep(figure: Any) -> bytes:
        figure.draw_without_rendering()
        found.append(figure)
        return b"png"

    for module in ("scatter", "length_plot", "group_plot"):
        monkeypatch.setattr(f"benchmarks.reports.{module}.png", keep)
    return found


def texts(figure: Any) -> list[Any]:
    """Every text that is drawn and has something in it: ticks beyond an axis's ends are not."""
    beyond = []
    for axes in figure.axes:
        for axis, ends in ((axes.xaxis, sorted(axes.get_xlim())), (axes.yaxis, sorted(axes.get_ylim()))):
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            beyond += [tick.label1 for tick in ticks if not ends[0] <= tick.get_loc() <= ends[1]]
    found = figure.findobj(matplotlib.text.Text)
    return [each for each in found if each.get_text().strip() and each.get_visible() and each not in beyond]


def test_all_plots_are_png_and_the_same_bytes_each_time() -> None:
    first, again = plots(report(5)), plots(report(5))
    assert [plot.file for plot in first] == ALL
    assert all(plot.png.startswith(b"\x89PNG\r\n\x1a\n") for plot in first)
    assert first == again


def test_without_accuracy_only_the_others_are_drawn(figures: list[Any]) -> None:
    assert [plot.file for plot in plots(report(5, with_accuracy=False))] == ALL[2:]
    assert plots(report([row("a"), row("b")])) == []


def test_synthetic_reports_say_so_in_every_plot(figures: list[Any]) -> None:
    assert all(plot.title.startswith("SYNTHETIC, not measured: ") for plot in plots(report(5)))
    assert all(any("SYNTHETIC" in text.get_text() for text in texts(figure)) for figure in figures)
    assert not any("SYNTHETIC" in plot.title for plot in plots(report(5, synthetic=False)))


@pytest.mark.parametrize("count", [2, 5, 15, 40])
def test_no_two_texts_of_a_plot_collide(count: int, figures: list[Any]) -> None:
    plots(report(count))
    assert len(figures) >= 3
    for figure in figures:
        width, height = figure.canvas.get_width_height()
        # Without the lines that lead to them.
        extent = matplotlib.text.Text.get_window_extent
        found = [(text.get_text(), extent(text)) for text in texts(figure)]
        for name, box in found:
            assert box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1, name
        for (first, a), (second, b) in combinations(found, 2):
            # A text's box has room for accents and descenders: letters do not touch where the boxes do by a little.
            across, up = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
            assert across <= 1 or up <= 2.5, f"{first!r} and {second!r}"


@pytest.mark.parametrize("count", [5, 15, 40])
def test_every_row_is_named_beside_its_point_and_none_lies_under_a_label(count: int, figures: list[Any]) -> None:
    found = report(count)
    plots(found)
    axes = figures[0].axes[0]
    labels = " ".join(text.get_text() for text in axes.texts)
    drawn = [each for each in found.rows if each["accuracy"] and each["bytes"]]
    assert all(label in labels for label in short_labels(drawn, target=False))
    points = [
        axes.transData.transform((each["bytes"] / 1e6, 100 * each["accuracy"]["value"]["value"])) for each in drawn
    ]
    for text in axes.texts:
        box = text.get_window_extent()
        assert not any(box.x0 < x < box.x1 and box.y0 < y < box.y1 for x, y in points), text.get_text()


def test_axes_have_units_and_are_logarithmic_where_values_span_decades(figures: list[Any]) -> None:
    plots(report(40))
    assert [figure.axes[0].get_xlabel() for figure in figures] == [
        "model file, MB", "ms a text, run, mean of the middle 80 % of runs", "length, tokens", "weights, MB",
    ]  # fmt: skip
    assert figures[0].axes[0].get_ylabel() == "accuracy, points" and figures[2].axes[0].get_ylabel().startswith("ms")
    assert figures[0].axes[0].get_xscale() == "log" and figures[2].axes[0].get_yscale() == "log"
    assert figures[3].axes[0].get_xscale() == "linear"


def test_the_front_is_of_rows_on_the_same_data(figures: list[Any]) -> None:
    import random

    def at(name: str, size: int, value: float, rows: int = 2000) -> Json:
        found = accuracy(random.Random(0), 0.0, rows)
        return row(name, bytes=size * 10**6, accuracy={**found, "value": {"value": value, "low": value, "high": value}})

    plots(report([at("a", 10, 0.80), at("b", 20, 0.79), at("c", 30, 0.90), at("d", 5, 0.99, rows=100)], ratios=[]))
    (front,) = [line for line in figures[0].axes[0].lines if line.get_drawstyle() == "steps-post"]
    assert list(front.get_xdata()) == [10, 30] and list(front.get_ydata()) == [80, 90]


def test_formulas_and_underscores_are_texts(figures: list[Any]) -> None:
    rows = [
        {**artifact("minilm-l6", "tflite", "int8"), "name": text, "model": text, "scheme": text, "target": text,
         "groups": {text: 10**6}, "sha256": f"{i:064x}"}
        for i, text in enumerate(ATTACKS)
    ]  # fmt: skip
    assert len(plots(report(rows, ratios=[]))) == 4
    legend = {text.get_text().strip() for text in figures[3].legends[0].get_texts()}
    assert len(legend) == len(SHADES)
    assert not any(text.get_parse_math() for figure in figures for text in texts(figure))


def test_a_hundred_rows_and_odd_values_can_be_drawn(figures: list[Any]) -> None:
    rows = [
        row(f"r{i}", lengths=[{"length": 1, "run": runs(0.0 if i == 3 else 1.0 + i)}], groups={"a": i})
        for i in range(100)
    ]
    assert [plot.file for plot in plots(report(rows, ratios=[]))] == ALL[2:]
    assert any("the first 48 of 100 rows" in text.get_text() for text in texts(figures[0]))


@pytest.mark.parametrize("least", [0.0, 5e-324, 1e-300])
@pytest.mark.filterwarnings("error")
def test_timings_of_nothing_can_be_drawn(least: float, figures: list[Any]) -> None:
    rows = report(5).rows
    for each in rows[0]["lengths"]:
        each["run"]["middle80_mean_ms"] = least
    rows[0]["text_run"]["middle80_mean_ms"], rows[0]["bytes"] = least, 0
    assert [plot.file for plot in plots(report(rows, ratios=[]))] == ALL
    assert {figure.axes[0].get_xscale() for figure in figures[:2]} == {"linear"}


def lightness(colour: str) -> float:
    """CIE L* of a colour, 0 to 100: what is left of it in grey."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in (red, green, blue)]
    y = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return float(116 * y ** (1 / 3) - 16) if y > 0.008856 else 903.3 * y


def test_targets_differ_in_grey_and_in_their_markers() -> None:
    rows = [
        row(f"r{i}", target=name) for i, name in enumerate(("executorch", "tflite", "coreml", "onnxruntime", "torch"))
    ]
    found = list(looks(rows).values())
    for first, second in combinations(found, 2):
        assert abs(lightness(first.colour) - lightness(second.colour)) > 12 and first.marker != second.marker
    assert looks(rows)["tflite"] == looks(rows[1:2])["tflite"]
    every: list[Look] = [*drawing._KNOWN.values(), *drawing._MORE]
    assert len({look.marker for look in every}) == len({look.sign for look in every}) == len(every)


def test_neighbours_of_stacked_bars_differ_in_grey() -> None:
    for i, (first, second) in enumerate(pairwise(SHADES)):
        assert abs(lightness(first) - lightness(second)) > 8 or HATCHES[i] != HATCHES[i + 1]


def test_labels_are_as_short_as_tells_rows_apart() -> None:
    rows = [
        artifact("minilm-l6", "tflite", "int8"),
        artifact("minilm-l6", "coreml", "int8"),
        row("torch eager", target="torch"),
    ]
    assert short_labels(rows, target=False) == ["int8", "int8", "torch eager"]
    assert short_labels(rows, target=True) == ["int8 tflite", "int8 coreml", "torch eager"]
    two = [{**artifact("minilm-l6", "tflite", "int8"), "engine": engine} for engine in ("litert", "litert_compiled")]
    assert short_labels(two, target=False) == ["int8 litert", "int8 litert_compiled"]
    more = [*rows, artifact("e5-small", "tflite", "int8")]
    assert short_labels(more, target=False)[0] == "minilm-l6 int8"


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"a plot needs matplotlib.*pip install 'mobilekit\[bench\]'"):
        plots(report(5))
