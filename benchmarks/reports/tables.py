"""A report as a table: for the terminal, and in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks import markdown
from benchmarks.reports.columns import Column, columns
from benchmarks.reports.report import Json, Report
from benchmarks.reports.texts import markdown_text, milliseconds, plain
from benchmarks.reports.timings import AS_THEY_COME, Ranking, works
from mobilekit.errors import unknown

SYNTHETIC = "SYNTHETIC: made by a test; nothing in it was measured on the device that it names"
# A column whose best figure ties with others marks them all.
BEST = "*"


@dataclass(frozen=True)
class Table:
    """Cells as texts, not yet escaped. best: (row, column) of the best figures. left: how many columns are text."""

    title: str
    head: list[str]
    cells: list[list[str]]
    best: frozenset[tuple[int, int]] = frozenset()
    remarks: tuple[str, ...] = ()
    left: int = 1

    def terminal(self) -> tuple[list[str], list[list[str]], int]:
        """Head, rows and number of text columns, as `print_table` takes them: the best figures have a star."""
        rows = [
            [(BEST if (i, j) in self.best else "") + plain(cell) for j, cell in enumerate(row)]
            for i, row in enumerate(self.cells)
        ]
        return [plain(title) for title in self.head], rows, self.left

    def said(self) -> list[str]:
        """The remarks, for the terminal."""
        return [plain(remark) for remark in self.remarks]

    def markdown(self) -> str:
        """Title, table and remarks; the best figures are bold."""

        def cell(i: int, j: int) -> str:
            text = markdown_text(self.cells[i][j])
            return f"**{text}**" if (i, j) in self.best else text

        rows = [[cell(i, j) for j in range(len(self.head))] for i in range(len(self.cells))]
        lines = [f"**{markdown_text(self.title)}**", "", *markdown.table(list(map(markdown_text, self.head)), rows)]
        if self.remarks:
            lines += ["", *(f"- {markdown_text(remark)}" for remark in self.remarks)]
        return "\n".join(lines) + "\n"


def report_tables(report: Report, sort: str = "target") -> list[Table]:
    """A report's rows: sizes and times; and accuracy, where a row has one.

    sort: `target` (and bytes within one), or the key of a column. Raises InputError where no column has that key.
    """
    times, accuracy = columns(report.rows)
    rows = ordered(report.rows, [*times, *accuracy[1:]], sort)
    # The teacher is no file, and is measured for accuracy alone.
    files = [row for row in rows if row["kind"] != "model" or row["bytes"] is not None or row["error"] is not None]
    judged = [row for row in rows if row["accuracy"] is not None]
    tables = [_table(report, "sizes and times", files, times, tuple(_timing_remarks(report)), 4)]
    if judged:
        tables.append(_table(report, "accuracy", judged, accuracy, tuple(_accuracy_remarks(judged)), 1))
    return tables


def _table(
    report: Report, what: str, rows: Sequence[Json], shown: Sequence[Column], remarks: tuple[str, ...], left: int
) -> Table:
    ranking = Ranking(report)
    best = {(i, j) for j, column in enumerate(shown) for i in _best(rows, column, ranking)}
    cells = [[column.show(row) for column in shown] for row in rows]
    return Table(f"{title(report)}: {what}", [c.title for c in shown], cells, frozenset(best), remarks, left)


def title(report: Report, banner: bool = True) -> str:
    """What a report is of; with a banner, a synthetic one says so first."""
    device = report.content["device"]
    threads = int(report.content["protocol"]["threads"])
    about = f"{report.device} ({device['processor']}, {device['system']}), {threads} thread{'s' if threads > 1 else ''}"
    return f"{SYNTHETIC}. {about}" if banner and report.content["synthetic"] else about


def ordered(rows: Sequence[Json], shown: Sequence[Column], sort: str = "target") -> list[Json]:
    """Rows in the order that a table has them; those without a value come last."""
    if sort == "target":
        return sorted(rows, key=_by_target)
    column = next((each for each in shown if each.key == sort), None)
    if column is None:
        raise unknown("sort", sort, ["target", *(each.key for each in shown)])

    def key(row: Json) -> tuple[bool, float, str, str]:
        value = column.value(row)
        return value is None, (value or 0.0) * (-1 if column.best == "most" else 1), column.show(row), row["name"]

    return sorted(rows, key=key)


def _by_target(row: Json) -> tuple[bool, str, bool, int, str]:
    """What is no file (the teacher) comes last."""
    return row["target"] is None, row["target"] or "", row["bytes"] is None, row["bytes"] or 0, row["name"]


def _best(rows: Sequence[Json], column: Column, ranking: Ranking) -> list[int]:
    """Those with the best value among what could be shipped, and those that its rounds do not tell apart from it."""
    values = {i: value for i, row in enumerate(rows) if (value := column.value(row)) is not None}
    values = {i: value for i, value in values.items() if rows[i]["kind"] != "model"}
    if column.key == "metric":
        values = _comparable(rows, values)
    if not column.best or len(values) < 2 or (column.work is not None and ranking.too_noisy(column.work)):
        return []
    value = (min if column.best == "least" else max)(values.values())
    first = next(i for i in values if values[i] == value)
    work = column.work
    return [i for i in values if values[i] == value or (work is not None and ranking.tied(rows[i], rows[first], work))]


def _comparable(rows: Sequence[Json], values: dict[int, float]) -> dict[int, float]:
    """Those measured by the metric, on the data, that most rows were."""
    measured = [(rows[i]["accuracy"]["metric"], rows[i]["accuracy"]["data"]["sha256"]) for i in values]
    usual = max(measured, key=measured.count, default=None)
    return {i: value for (i, value), each in zip(values.items(), measured, strict=True) if each == usual}


def _timing_remarks(report: Report) -> Iterator[str]:
    for row in report.rows:
        if row["error"] is not None:
            yield f"{row['name']}: not measured: {row['error']}"
    yield from (
        f"{row['name']}: failed its self-check on the device: {row['self_check']['said']}"
        for row in report.rows
        if row["self_check"] is not None and not row["self_check"]["passed"]
    )
    yield from Ranking(report).remarks(works(report.rows))
    texts = report.content["protocol"]["texts"]
    if texts is not None and any(work.run(row) for work in AS_THEY_COME for row in report.rows):
        about = f"texts as they come: {int(texts['count']):,} of {texts['name']}"
        yield f"{about}; run: the engine alone; whole way: tokenize, run, decode"
    yield f"ms: the mean of the middle 80 % of runs; {BEST} or bold: the best of its column, and what ties with it"


def _accuracy_remarks(rows: Sequence[Json]) -> Iterator[str]:
    found: dict[str, Json] = {row["accuracy"]["data"]["sha256"]: row["accuracy"]["data"] for row in rows}
    for data in found.values():
        cut = f", {int(data['cut']):,} of them cut to the longest length" if data["cut"] else ""
        yield f"on {data['name']}: {int(data['rows']):,} of {int(data['of']):,} rows{cut}"
    yield "points: hundredths of the metric, in brackets the 95 % interval (of a loss: paired); below 0 is a gain"


def ratio_table(report: Report) -> Table | None:
    """How many times as long rows take as the one that most were held against, or None where there are no ratios."""
    bases = [ratio["base"] for ratio in report.content["ratios"]]
    if not bases:
        return None
    base = report.row(max(sorted(set(bases)), key=bases.count))
    assert base is not None
    ranking = Ranking(report)
    shown = [work for work in works(report.rows) if any(ranking.ratio(row, base, work) for row in report.rows)]
    cells = []
    for row in ordered(report.rows, []):
        ratios = [None if row is base else ranking.ratio(row, base, work) for work in shown]
        if any(ratios):
            cells.append([row["name"], *("-" if r is None else _ratio(r.median, r.low, r.high) for r in ratios)])
    head = ["name", *(work.title for work in shown)]
    remark = "the median over rounds in which both ran, and its 95 % interval; ~: not told apart"
    return Table(f"Times as long as {base['name']}", head, cells, remarks=(remark,))


def timing_table(report: Report) -> Table:
    """Every run's figures."""
    head = ["name", "work", "mean of middle 80 % ms", "median ms", "90th percentile ms", "spread", "runs"]
    cells = []
    for row in ordered(report.rows, []):
        for work in works(report.rows):
            run = work.run(row)
            if run is not None:
                times = [milliseconds(run[name]) for name in ("middle80_mean_ms", "median_ms", "p90_ms")]
                cells.append([row["name"], work.title, *times, f"{run['spread']:.2f}", f"{int(run['runs']):,}"])
    return Table("Timings", head, cells, left=2)


def _ratio(value: float, low: float, high: float) -> str:
    tied = "~ " if low <= 1 <= high else ""
    return f"{tied}{value:.2f} ({low:.2f} to {high:.2f})"
