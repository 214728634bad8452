"""The tables of `benchmarks.measured`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks import markdown
from benchmarks.reports.columns import columns
from benchmarks.reports.report import Json, Report, validated
from benchmarks.reports.tables import ratio_table, report_tables
from benchmarks.reports.texts import NONE, markdown_text
from benchmarks.reports.timings import AS_THEY_COME, works
from mobilekit.compression.schemes.registry import schemes

# The engine whose times a short table has, where a target has two.
_USUAL = ("executorch", "litert")


def full(content: Mapping[str, Any], model: str) -> str:
    """Sizes and times, accuracy, and ratios of one model's report in the results."""
    report = _report(content, model)
    tables = [*report_tables(report), ratio_table(report)]
    return "\n".join(table.markdown() for table in tables if table is not None).rstrip("\n")


def short(content: Mapping[str, Any], model: str) -> str:
    """A line an artifact of one model: what it weighs, what it gets right and what it takes; and one of the teacher."""
    report = _report(content, model)
    sizes, accuracy = columns(report.rows)
    by_key = {column.key: column for column in (*sizes, *accuracy)}
    timings = [column for column in sizes if column.work is not None and column.work not in AS_THEY_COME]
    shown = [*(by_key[key] for key in ("bytes", "packed", "metric", "float", "agreement")), *timings]
    rows = _by_scheme(report.rows)
    head = ["scheme", "target", *(column.title for column in shown)]
    lines = [[f"`{row['scheme']}`", row["target"], *(markdown_text(c.show(row)) for c in shown)] for row in rows]
    for row in report.rows:
        if row["kind"] == "model":
            lines.append([markdown_text(row["name"]), NONE, *(markdown_text(c.show(row)) for c in shown)])
    return "\n".join(markdown.table(head, lines))


def milliseconds_of(content: Mapping[str, Any], model: str) -> dict[tuple[str, str], list[float]]:
    """Scheme and target -> milliseconds at each exported length, least first, of a model's report."""
    report = _report(content, model)
    found = {}
    for row in _by_scheme(report.rows):
        times = [work.mean(row) for work in works(report.rows) if work not in AS_THEY_COME]
        found[row["scheme"], row["target"]] = [time for time in times if time is not None]
    return found


def key_of(model: str) -> str:
    """A model's name as the markers of tables have it."""
    return re.sub(r"\W", "_", model)


def _report(content: Mapping[str, Any], model: str) -> Report:
    """Of a model by its name or by `key_of` that."""
    name = next(name for name in content["reports"] if model in (name, key_of(name)))
    return validated(content["reports"][name], f"measured.json: {name}")


def _by_scheme(rows: Sequence[Json]) -> list[Json]:
    """The artifacts, by scheme and target, each through one engine: a target's usual one, or the only one."""
    order = {name: i for i, name in enumerate(schemes())}
    own = [row for row in rows if row["kind"] == "artifact" and (row["engine"] in _USUAL or row["target"] == "coreml")]
    return sorted(own, key=lambda row: (order[row["scheme"]], row["target"]))
