"""A report as one HTML page that needs nothing beside it: device, protocol, tables, plots, what changed, failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.reports.markup import Markup, bullets, document, element, html_table, picture, section
from benchmarks.reports.plots import Plot, plots
from benchmarks.reports.report import Json, Report
from benchmarks.reports.tables import SYNTHETIC, Table, ordered, ratio_table, report_tables, timing_table
from benchmarks.reports.texts import NONE, hundredths, megabytes
from mobilekit.staging import staged_file

# What a page of ours begins with, so that --force takes the place of nothing else.
MARK = b'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy"'
# So many of the changed rows are listed a row.
_LISTED = 20


def page(report: Report, pictures: Sequence[Plot]) -> str:
    """The page's HTML."""
    content = report.content
    title = f"Benchmark on {report.device}"
    banner = SYNTHETIC if content["synthetic"] else ""
    return document(title, _sections(report, pictures), banner)


def write_page(report: Report, file: Path, force: bool = False) -> None:
    """Write the page with all plots. Raises InputError where something is in the way, MissingExtraError without
    matplotlib."""
    with staged_file(file, force, MARK) as staged:
        staged.write_text(page(report, plots(report)), encoding="utf-8")


def _sections(report: Report, pictures: Sequence[Plot]) -> Iterator[Markup]:
    content = report.content
    tool = content["tool"]
    yield element("p", f"made {content['made_at']} by {tool['name']} {tool['version']}", class_="soft")
    yield section("Device and protocol", html_table(device_table([report])), html_table(_versions(report)))
    ratios = ratio_table(report)
    tables = [*report_tables(report), *([ratios] if ratios else [])]
    yield section("Table", [html_table(_labelled(report, table)) for table in tables])
    if pictures:
        yield section("Plots", [picture(each.png, each.title) for each in pictures])
    yield from _accuracy(report)
    failures = list(_failures(report.rows))
    yield section("Failures", bullets(failures) or element("p", "none", class_="soft"))
    yield section("All timings", html_table(_labelled(report, timing_table(report))))


def _labelled(report: Report, table: Table) -> Table:
    synthetic = report.content["synthetic"] and not table.title.startswith(SYNTHETIC)
    return replace(table, title=f"SYNTHETIC: {table.title}") if synthetic else table


def device_table(reports: Sequence[Report], names: Sequence[str] = ()) -> Table:
    """What was measured on, and how: a column a report."""
    cells = [[name, *(show(report.content) for report in reports)] for name, show in _DEVICE]
    shown = [row for row in cells if any(cell != NONE for cell in row[1:])]
    title = "SYNTHETIC" if any(report.content["synthetic"] for report in reports) else ""
    return Table(title, ["", *(names or [report.device for report in reports])], shown, left=1 + len(reports))


def _of_device(name: str) -> Callable[[Json], str]:
    def show(content: Json) -> str:
        value = content["device"].get(name)
        if isinstance(value, list):
            return ", ".join(value) or NONE
        return NONE if value is None else str(value)

    return show


def _texts(content: Json) -> str:
    texts = content["protocol"]["texts"]
    return NONE if texts is None else f"{int(texts['count']):,} of {texts['name']}, sha256 {texts['sha256'][:12]}"


def _runs(content: Json) -> str:
    protocol = content["protocol"]
    return f"at least {int(protocol['least_runs']):,} and {protocol['least_seconds']:g} s of each work"


def _versions(report: Report) -> Table:
    cells = [[name, version or NONE] for name, version in sorted(report.content["versions"].items())]
    title = "SYNTHETIC: versions" if report.content["synthetic"] else "Versions"
    return Table(title, ["package", "version"], cells, left=2)


def _accuracy(report: Report) -> Iterator[Markup]:
    judged = [row for row in ordered(report.rows, []) if row["accuracy"] is not None]
    by_length = _by_length(judged)
    if by_length is not None:
        yield section("Accuracy by length", html_table(_labelled(report, by_length)))
    changed = _changed(judged)
    if changed is not None:
        tables = [changed, *_changed_rows(judged)]
        heading = "Rows of data that are answered otherwise than by the float model"
        yield section(heading, [html_table(_labelled(report, table)) for table in tables])


def _by_length(rows: Sequence[Json]) -> Table | None:
    """A column a bucket of lengths."""
    found = {
        row["name"]: {(int(b["from"]), int(b["to"])): b for b in row["accuracy"]["by_length"]}
        for row in rows
        if row["accuracy"]["by_length"]
    }
    buckets = sorted({bucket for each in found.values() for bucket in each})
    if not buckets:
        return None

    def cell(buckets: dict[tuple[int, int], Json], bucket: tuple[int, int]) -> str:
        value = buckets.get(bucket)
        return NONE if value is None else f"{hundredths(value['value'])} ({int(value['rows']):,} rows)"

    cells = [[name, *(cell(each, bucket) for bucket in buckets)] for name, each in found.items()]
    head = ["name", *(f"{low} to {high} tokens" for low, high in buckets)]
    return Table("The metric in points, by the tokens of the input", head, cells)


def _changed(rows: Sequence[Json]) -> Table | None:
    found = [(row["name"], row["accuracy"]["changed"]) for row in rows if row["accuracy"]["changed"] is not None]
    if not found:
        return None
    cells = [[name, *(f"{int(each[key]):,}" for key in ("count", "better", "worse"))] for name, each in found]
    return Table("How many", ["name", "changed", "now right", "now wrong"], cells)


def _changed_rows(rows: Sequence[Json]) -> Iterator[Table]:
    for row in rows:
        changed = row["accuracy"]["changed"]
        if changed is None or not changed["rows"]:
            continue
        shown = changed["rows"][:_LISTED]
        cells = [[f"{int(e['row']):,}", e["right"] or NONE, e["float"], e["given"]] for e in shown]
        more = int(changed["count"]) - len(shown)
        remarks = (f"{more:,} more",) if more > 0 else ()
        yield Table(row["name"], ["row of the data", "right", "float model", "here"], cells, remarks=remarks, left=4)


def _failures(rows: Sequence[Json]) -> Iterator[str]:
    for row in rows:
        if row["error"] is not None:
            yield f"{row['name']}: not measured: {row['error']}"
        check = row["self_check"]
        if check is not None and not check["passed"]:
            yield f"{row['name']}: failed its self-check on the device: {check['said']}"


_DEVICE = (
    ("kind", lambda content: str(content["kind"])),
    ("system", _of_device("system")),
    ("processor", _of_device("processor")),
    ("machine", _of_device("machine")),
    ("cores", _of_device("cpus")),
    ("features", _of_device("cpu_features")),
    ("memory MB", lambda content: megabytes(content["device"]["memory_bytes"])),
    ("governor", _of_device("governor")),
    ("load average, 1 min", _of_device("load_average_1_min")),
    ("thermal state before", _of_device("thermal_before")),
    ("thermal state after", _of_device("thermal_after")),
    ("battery %", _of_device("battery_percent")),
    ("charging", _of_device("charging")),
    ("threads", lambda content: str(int(content["protocol"]["threads"]))),
    ("processes that load", lambda content: str(int(content["protocol"]["load_processes"]))),
    ("runs", _runs),
    ("in turn", lambda content: "yes" if content["protocol"]["in_turn"] else "no"),
    ("texts as they come", _texts),
    ("made at", lambda content: str(content["made_at"])),
)
