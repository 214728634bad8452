"""What all plots share: colours and markers, the look, axes with units, and PNG bytes. By matplotlib, loaded late."""

from __future__ import annotations

import contextlib
import io
import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.reports.report import Json
from benchmarks.reports.texts import cut, plain
from mobilekit.errors import MissingExtraError

DPI = 120
INK, FAINT, GRID = "#20242a", "#6b7280", "#e3e6ea"


@dataclass(frozen=True)
class Look:
    """How a target's points are drawn. sign: the marker in a text. Colours differ in lightness too, so that grey copies
    tell them apart."""

    colour: str
    marker: str
    sign: str


# From dark to light, safe for the colour-blind (after Okabe and Ito 2008, and Wong 2011).
_KNOWN = {
    "executorch": Look("#14376b", "o", "●"),
    "tflite": Look("#c2410c", "s", "■"),
    "coreml": Look("#2a9d8f", "^", "▲"),
}
_MORE = (
    Look("#e9b44c", "D", "◆"),
    Look("#000000", "v", "▼"),
    Look("#8f6bb3", "P", "✚"),
    Look("#9fc9ea", "X", "✖"),
    Look("#7a7a7a", "*", "★"),
)
# Less is nothing, and has no logarithm that can be drawn.
_LEAST = 1e-9
SHADES = ("#14376b", "#e9b44c", "#2a9d8f", "#c2410c", "#9fc9ea", "#8f6bb3", "#5c5c5c", "#f2e3c6")
HATCHES = ("", "///", "", "...", "", "xx", "", "\\\\\\")

_STYLE = {
    # A text of a report is text, not a formula.
    "text.parse_math": False,
    "text.usetex": False,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#9aa1ab",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.use_mathtext": False,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "hatch.linewidth": 0.7,
    "figure.facecolor": "white",
}


@contextlib.contextmanager
def canvas(width: float, height: float) -> Iterator[Any]:
    """A figure of so many inches, in the common look. Raises MissingExtraError without matplotlib."""
    try:
        from matplotlib import style
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("matplotlib", "bench", "a plot") from error
    with style.context(["default", _STYLE]), warnings.catch_warnings():
        # A script that its font has not is shown as boxes.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure = Figure(figsize=(width, height), dpi=DPI)
        FigureCanvasAgg(figure)
        yield figure


def png(figure: Any) -> bytes:
    """The figure's bytes: the same for the same content."""
    with io.BytesIO() as out:
        figure.savefig(out, format="png", dpi=DPI, metadata={"Software": None})
        return out.getvalue()


def heading(figure: Any, title: str, about: str) -> float:
    """Title and a line about it at the top left; returns the height that is left for the rest, as a share."""
    height = figure.get_figheight()
    figure.text(0.015, 1 - 0.10 / height, label_text(title, 110), va="top", size=12, weight="bold")
    figure.text(0.015, 1 - 0.36 / height, label_text(about, 150), va="top", size=8.5, color=FAINT)
    return float(1 - 0.62 / height)


def legend(figure: Any, handles: Sequence[Any], texts: Sequence[str], top: float, columns: int = 7) -> float:
    """A legend in lines under the heading, where no point can be; returns the height that is left."""
    columns = max(1, min(len(texts), columns))
    lines = math.ceil(len(texts) / columns)
    figure.legend(
        handles,
        [label_text(text, 34) for text in texts],
        loc="upper left",
        bbox_to_anchor=(0.008, top + 0.02),
        ncols=columns,
        fontsize=8.5,
        handletextpad=0.4,
        columnspacing=1.4,
    )
    return float(top - 0.24 * lines / figure.get_figheight())


def halo() -> list[Any]:
    """White around a text, so that it can be read over a line."""
    from matplotlib.patheffects import Normal, Stroke

    return [Stroke(linewidth=2.2, foreground="white"), Normal()]


def label_text(text: str, most: int = 36) -> str:
    """A text of a report as a plot has it. matplotlib leaves out what begins with an underscore."""
    shown = cut(plain(text), most)
    return f" {shown}" if shown.startswith("_") else shown


def looks(rows: Sequence[Json]) -> dict[str, Look]:
    """Each target's look, by its name; what has no target is `other`."""
    names = sorted({target_of(row) for row in rows})
    others = [name for name in names if name not in _KNOWN]
    found = {name: _KNOWN[name] for name in names if name in _KNOWN}
    return found | {name: _MORE[i % len(_MORE)] for i, name in enumerate(others)}


def device_looks(count: int) -> list[Look]:
    """The looks of so many devices."""
    every = (*_KNOWN.values(), *_MORE)
    return [every[i % len(every)] for i in range(count)]


def target_of(row: Json) -> str:
    """A row's target, or what stands in its place."""
    return str(row["target"] or "other")


def spans_decades(values: Sequence[float]) -> bool:
    """Whether an axis of them should be logarithmic: most of a decade is enough for the small ones to lie on a heap."""
    return min(values) > _LEAST and max(values) / min(values) >= 4


def scale(axis: Any, values: Sequence[float]) -> None:
    """Ticks in plain numbers; logarithmic where the values span decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    if spans_decades(values):
        getattr(axis.axes, f"set_{axis.axis_name}scale")("log")
        span = max(values) / min(values)
        steps = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0) if span < 10 else (1.0, 2.0, 5.0) if span < 2000 else (1.0,)
        axis.set_major_locator(LogLocator(10, steps))
        axis.set_minor_locator(NullLocator())
        axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))


def short_labels(rows: Sequence[Json], target: bool) -> list[str]:
    """As short a label for each row as tells it from the others: its scheme, with its engine or its model, or its name.

    target: whether the target has to be in it, where nothing else shows it.
    """
    models = {row["model"] for row in rows}

    def choices(row: Json) -> tuple[str, ...]:
        scheme, model = row["scheme"], row["model"]
        if scheme is None or row["kind"] != "artifact":
            return (row["name"],)
        tail = (row["target"],) if target and row["target"] else ()
        engine = (row["engine"],) if row["engine"] else ()
        short = [(scheme, *tail), (scheme, *engine)] if len(models) == 1 else []
        return (*(" ".join(each) for each in (*short, (model, scheme, *tail), (model, scheme, *engine))), row["name"])

    all_choices = [choices(row) for row in rows]
    # Without the target in it, only rows of the same target must differ.
    groups = ["" if target else target_of(row) for row in rows]
    found = []
    for mine, group in zip(all_choices, groups, strict=True):
        rivals = [each for each, other in zip(all_choices, groups, strict=True) if other == group]
        found.append(next((c for c in mine if sum(c in rival for rival in rivals) == 1), mine[-1]))
    return [label_text(each) for each in found]
