"""The tables of teachers and students, made from the records of their runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import mean
from typing import Any

from benchmarks.student_runs import HEADLINE, Row, runs

_METRIC = "accuracy"


def headline(content: dict[str, Any]) -> str:
    """A row a student: accuracy and share of the teacher over seeds, size, cost, time."""
    return "\n".join([*_lines(content["runs"], HEADLINE), "", _note(content["runs"])])


def _lines(records: Sequence[dict[str, Any]], rows: Iterable[Row]) -> list[str]:
    columns = "model | seeds | accuracy | of the teacher | aim | parameters | multiply-adds at 128 | minutes"
    lines = [f"| {columns} |", "|---|" + "---|" * columns.count("|")]
    for row in rows:
        found = figures(records, row.name)
        if not found:
            continue
        accuracies = [100 * each["values"][_METRIC] for each in found]
        shares = [100 * each["retained"] for each in found if each["retained"] is not None]
        share = f"{mean(shares):.1f} %" if shares else "-"
        met = bool(shares) and row.aim is not None and mean(shares) >= 100 * row.aim
        aim = "-" if row.aim is None else f"{100 * row.aim:g} %: {'met' if met else 'missed'}"
        cells = [
            row.about,
            str(len(found)),
            f"{mean(accuracies):.1f} %" + (f" ({_span(accuracies)})" if len(found) > 1 else ""),
            share,
            aim,
            "-" if found[0]["parameters"] is None else f"{found[0]['parameters'] / 1e6:.1f} M",
            "-" if found[0]["multiply_adds"] is None else f"{found[0]['multiply_adds'] / 1e6:.0f} M",
            f"{mean(each['seconds'] for each in found) / 60:.0f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def figures(records: Sequence[dict[str, Any]], row: str) -> list[dict[str, Any]]:
    """Figures that belong to a row of a table, one a run."""
    known, found = runs(), []
    for record in records:
        run, report = known.get(record["run"]), record["report"]
        if run is None:
            continue
        if run.row == row and "rows" in report:
            found.append(report["rows"][-1])
        elif run.row == row:
            found.append(_trained(report))
        elif run.alone == row:
            (alone,) = (each for each in report["rows"] if each["name"] == "the student alone")
            found.append(alone)
    return found


def _trained(report: dict[str, Any]) -> dict[str, Any]:
    size = {"parameters": report["parameters"], "multiply_adds": report["multiply_adds"]}
    return {"values": report["test"], "retained": None, "seconds": report["seconds"], **size}


def _span(values: Sequence[float]) -> str:
    return f"{min(values):.1f} to {max(values):.1f}"


def _note(records: Sequence[dict[str, Any]]) -> str:
    machine = records[0]["environment"]
    judged = next(record["report"]["data"] for record in records if "rows" in record["report"])
    return (
        f"Accuracy on the {judged['rows']:,} test sentences of `movie-sentiment` (mean over seeds, least and most), "
        "mean pooling, one linear map. Minutes of training, of the row's own run, on one "
        f"{machine['cpus']}-core virtual machine ({machine['processor']}), busy at times."
    )
