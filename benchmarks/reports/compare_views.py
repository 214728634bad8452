"""A comparison as a table, CSV, JSON, a plot and a page."""

from __future__ import annotations

import csv
import io
from typing import Any

from benchmarks.reports.columns import load_ms, resident
from benchmarks.reports.compare import Comparison, Entry
from benchmarks.reports.dot_plot import Dots, dot_plot
from benchmarks.reports.markup import bullets, document, html_table, picture, section
from benchmarks.reports.page import device_table
from benchmarks.reports.plots import Plot
from benchmarks.reports.report import Json
from benchmarks.reports.tables import SYNTHETIC, Table
from benchmarks.reports.texts import NONE, csv_text, megabytes, milliseconds, times
from benchmarks.reports.timings import AS_THEY_COME, Work

_OTHER = "†"


def comparison_table(found: Comparison) -> Table:
    """A row for each artifact on each device; in brackets how many times as long as in the base report."""
    works = found.works()
    cells = []
    flagged = False
    for sha256, (name, entries) in found.artifacts.items():
        for entry in entries:
            shown = [_timing(found, sha256, entry, work) for work in works]
            flagged |= any(_OTHER in cell for cell in shown)
            load, memory = load_ms(entry.row), resident(entry.row)
            cells.append(
                [
                    *(name, found.names[entry.report], entry.row["engine"] or NONE),
                    NONE if load is None else milliseconds(load),
                    *shown,
                    NONE if memory is None else megabytes(memory),
                ]
            )
    head = ["artifact", "measured on", "engine", "load ms", *(work.unit for work in works), "MB over idle"]
    title = "The same artifacts on each device"
    remarks = [f"in brackets: times as long as on {found.names[found.base]}, means measured apart; no interval"]
    remarks += [f"{_OTHER}: another protocol: not held against the base"] if flagged else []
    return Table(
        f"{SYNTHETIC}. {title}" if found.synthetic else title, head, cells, remarks=(*remarks, *found.notes), left=3
    )


def comparison_csv(found: Comparison) -> str:
    """A line for each timing, figures as they are; no cell is a formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    head = (
        "artifact sha256 measured_on kind synthetic engine threads work middle80_mean_ms median_ms p90_ms spread runs"
    )
    writer.writerow([*head.split(), "times_base"])
    for sha256, (name, entries) in found.artifacts.items():
        for entry in entries:
            content = found.reports[entry.report].content
            for work in found.works():
                run = work.run(entry.row)
                if run is None:
                    continue
                ratio = found.ratio(sha256, entry, work)
                texts = (name, sha256, found.names[entry.report], content["kind"], str(content["synthetic"]).lower())
                figures = (run[key] for key in ("middle80_mean_ms", "median_ms", "p90_ms", "spread", "runs"))
                writer.writerow(
                    [
                        *map(csv_text, (*texts, entry.row["engine"] or "")),
                        int(content["protocol"]["threads"]),
                        csv_text(work.name),
                        *figures,
                        "" if ratio is None else round(ratio, 4),
                    ]
                )
    return out.getvalue()


def comparison_json(found: Comparison) -> Json:
    """The same for machines."""
    return {
        "schema": 1,
        "base": found.names[found.base],
        "synthetic": found.synthetic,
        "reports": [
            {
                "name": name,
                "file": report.origin,
                **{key: report.content[key] for key in ("kind", "synthetic", "made_at", "device", "protocol")},
            }
            for name, report in zip(found.names, found.reports, strict=True)
        ],
        "artifacts": [
            {"name": name, "sha256": sha256, "measured": [_measured(found, sha256, entry) for entry in entries]}
            for sha256, (name, entries) in found.artifacts.items()
        ],
        "notes": list(found.notes),
    }


def comparison_plot(found: Comparison) -> Plot | None:
    """The work that most artifacts were timed at on most devices, or None where none was timed."""
    entries = [entry for _, every in found.artifacts.values() for entry in every]
    *at, texts, whole = found.works()
    work = max(
        (texts, *reversed(at), whole), key=lambda each: sum(each.mean(entry.row) is not None for entry in entries)
    )
    dots = [
        Dots(
            name,
            [
                (entry.report, mean, found.comparable(entry.report, work))
                for entry in every
                if (mean := work.mean(entry.row)) is not None
            ],
        )
        for name, every in found.artifacts.values()
    ]
    title = f"The same artifacts on each device, {work.unit}"
    title = f"SYNTHETIC, not measured: {title}" if found.synthetic else title
    png = dot_plot(dots, found.names, title, f"{work.unit}, mean of the middle 80 % of runs")
    return None if png is None else Plot("timings.png", title, png)


def comparison_page(found: Comparison, plot: Plot | None) -> str:
    """One HTML page that needs nothing beside it."""
    devices = device_table(found.reports, found.names)
    body = [
        section("Devices and protocols", html_table(devices)),
        section("What differs", bullets(found.notes) or "nothing"),
        section("Table", html_table(comparison_table(found))),
        *([section("Plot", picture(plot.png, plot.title))] if plot is not None else []),
    ]
    return document("Benchmarks compared", body, SYNTHETIC if found.synthetic else "")


def _timing(found: Comparison, sha256: str, entry: Entry, work: Work) -> str:
    mean, ratio = work.mean(entry.row), found.ratio(sha256, entry, work)
    if mean is None:
        return NONE
    if ratio is not None:
        return f"{milliseconds(mean)} ({times(ratio)})"
    return milliseconds(mean) if found.comparable(entry.report, work) else f"{milliseconds(mean)} {_OTHER}"


def _measured(found: Comparison, sha256: str, entry: Entry) -> dict[str, Any]:
    row = entry.row
    ratios = {
        work.name: round(ratio, 4) for work in found.works() if (ratio := found.ratio(sha256, entry, work)) is not None
    }
    keys = ("engine", "error", "load_ms", "lengths", "text_run", "text_pipeline", "memory", "self_check")
    return {
        "report": found.names[entry.report],
        "row": row["name"],
        **{key: row[key] for key in keys},
        "times_base": ratios,
        "comparable": {work.name: found.comparable(entry.report, work) for work in (*found.works(), *AS_THEY_COME)},
    }
