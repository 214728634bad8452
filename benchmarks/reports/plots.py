"""All plots of a report."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.reports.group_plot import group_plot
from benchmarks.reports.length_plot import length_plot
from benchmarks.reports.report import Json, Report
from benchmarks.reports.scatter import Costs, scatter
from benchmarks.reports.tables import ordered, title
from benchmarks.reports.timings import Work, works


@dataclass(frozen=True)
class Plot:
    """A plot. file: its name. title: what it shows. png: its bytes."""

    file: str
    title: str
    png: bytes


def plots(report: Report) -> list[Plot]:
    """Those that a report has figures for: without accuracy, only times and bytes. Raises MissingExtraError without
    matplotlib."""
    rows, about = ordered(report.rows, []), title(report, banner=False)
    size = Costs("model file, MB", lambda row: None if row["bytes"] is None else row["bytes"] / 1e6)
    work = _usual_work(rows)
    time = Costs(f"{work.unit}, mean of the middle 80 % of runs", work.mean)
    found = (
        ("bytes-accuracy", "Bytes against accuracy", lambda title: scatter(rows, size, title, about)),
        ("latency-accuracy", "Latency against accuracy", lambda title: scatter(rows, time, title, about)),
        ("latency-length", "Latency by length", lambda title: length_plot(rows, title, about)),
        ("bytes-groups", "Bytes by group of tensors", lambda title: group_plot(rows, title, about)),
    )
    made = []
    for file, name, draw in found:
        shown = f"SYNTHETIC, not measured: {name}" if report.content["synthetic"] else name
        png = draw(shown)
        if png is not None:
            made.append(Plot(f"{file}.png", shown, png))
    return made


def _usual_work(rows: list[Json]) -> Work:
    """The one that most rows were timed at: texts as they come through the engine, or else the longest length."""
    timed = [row for row in rows if row["accuracy"] is not None]
    *at, texts, whole = works(rows)
    return max((texts, *reversed(at), whole), key=lambda work: sum(work.mean(row) is not None for row in timed))
