"""The tables of teachers and students, made from the records of their runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import mean
from typing import Any

from benchmarks.markdown import table
from benchmarks.student_ablations import PAIR_TASKS, groups
from benchmarks.student_runs import HEADLINE, Row, runs

_METRIC = "accuracy"


def headline(content: dict[str, Any]) -> str:
    """A row a student: accuracy and share of the teacher over seeds, size, cost, time."""
    return "\n".join([*_lines(content["runs"], HEADLINE), "", _note(content["runs"])])


def _lines(records: Sequence[dict[str, Any]], rows: Iterable[Row]) -> list[str]:
    columns = "model | seeds | accuracy | of the teacher | aim | parameters | multiply-adds at 128 | minutes"
    lines = []
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
        lines.append(cells)
    return table(columns.split(" | "), lines)


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
        f"{machine['cpus']}-core virtual machine ({machine['processor']}), busy at times.{_teachers(records)}"
    )


def _teachers(records: Sequence[dict[str, Any]]) -> str:
    """Where the same command gave several teachers (other versions, threads or processors round otherwise): which."""
    known, found = runs(), set[str]()
    for record in records:
        run = known.get(record["run"])
        if run is not None and "teacher-0" in run.needs and "rows" in record["report"]:
            found.add(f"{100 * record['report']['rows'][0]['values'][_METRIC]:.1f} %")
    if len(found) < 2:
        return ""
    return (
        f" Runs were made against {len(found)} trainings of the teacher by the same command, with "
        f"{' and '.join(sorted(found))}: a share is always of the run's own."
    )


def parts(content: dict[str, Any]) -> str:
    """What each part of a recipe is worth: one seed a row, against the whole of it."""
    lines = []
    for group, rows in groups().items():
        whole = figures(content["runs"], rows[0].name)
        for row in rows:
            found = figures(content["runs"], row.name)
            if not found:
                continue
            own = 100 * found[0]["values"][_METRIC]
            against = "-" if row is rows[0] or not whole else f"{own - 100 * whole[0]['values'][_METRIC]:+.1f} points"
            lines.append([group, row.about, f"{own:.1f} %", against])
    return "\n".join(table(["group", "run", "accuracy", "against the whole"], lines))


def pairs(content: dict[str, Any]) -> str:
    """Pair tasks: what is learned of words and pairs, and what it is worth for a task."""
    columns = "model | pair task | masked loss | words right | pairs right | 95 % interval | accuracy when fine-tuned"
    lines = []
    records = {record["run"]: record["report"] for record in content["runs"]}
    runs = [("`albert`", task, f"pairs-{task}") for task in PAIR_TASKS] + [("the teacher", "sop", "pairs-teacher")]
    for model, task, run in runs:
        if run not in records:
            continue
        report, tuned = records[run], records.get(f"{run}-tuned")
        test, interval = report["test"], report["pair_interval"]
        cells = [
            model,
            task,
            f"{test['loss']:.2f} nats (without context {report['unigram_entropy']:.2f})",
            f"{100 * test['accuracy']:.1f} %",
            "-" if interval is None else f"{100 * test['pair_accuracy']:.1f} %",
            "-" if interval is None else f"{100 * interval['low']:.0f} to {100 * interval['high']:.0f} %",
            "-" if tuned is None else f"{100 * tuned['test'][_METRIC]:.1f} %",
        ]
        lines.append(cells)
    return "\n".join(table(columns.split(" | "), lines))
