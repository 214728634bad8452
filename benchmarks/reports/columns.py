"""The columns that a report's rows are shown in: what stands in a cell, and what it is sorted and marked by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.reports.report import Json
from benchmarks.reports.texts import NONE, hundredths, megabytes, milliseconds, points
from benchmarks.reports.timings import Work, works

Value = Callable[[Json], float | None]
Show = Callable[[Json], str]


@dataclass(frozen=True)
class Column:
    """One column. value: None where it was not measured. best: which value is, `least` or `most`, where one is. work:
    what it times."""

    key: str
    title: str
    show: Show
    value: Value = lambda row: None
    best: str = ""
    work: Work | None = None


def columns(rows: Sequence[Json]) -> tuple[list[Column], list[Column]]:
    """Those that a report's rows need: of sizes and times, and of accuracy (the name alone where none was measured)."""
    return [*_ABOUT, *_SIZES, *map(_timing, works(rows)), _MEMORY], [_ABOUT[0], _metric(rows), *_AGAINST]


def load_ms(row: Json) -> float | None:
    """The median over new processes."""
    return float(median(row["load_ms"])) if row["load_ms"] else None


def resident(row: Json) -> float | None:
    """Bytes over the idle engine, anonymous and of files."""
    memory = row["memory"]
    return None if memory is None else float(memory["anonymous_bytes"] + memory["file_bytes"])


def metric(row: Json) -> float | None:
    """The metric that decides."""
    return None if row["accuracy"] is None else float(row["accuracy"]["value"]["value"])


def interval(found: Json, show: Callable[[float], str], value: str = "value") -> str:
    """A figure and its 95 % interval."""
    return f"{show(found[value])} ({show(found['low'])} to {show(found['high'])})"


def _text(name: str) -> Show:
    return lambda row: NONE if row[name] is None else str(row[name])


def _shown(value: Value, show: Callable[[float], str]) -> Show:
    def cell(row: Json) -> str:
        found = value(row)
        return NONE if found is None else show(found)

    return cell


def _bytes(name: str) -> Value:
    return lambda row: None if row[name] is None else float(row[name])


def _timing(work: Work) -> Column:
    return Column(work.name, work.unit, _shown(work.mean, milliseconds), work.mean, "least", work)


def _resident_cell(row: Json) -> str:
    memory = row["memory"]
    return NONE if memory is None else f"{megabytes(memory['anonymous_bytes'])} + {megabytes(memory['file_bytes'])}"


def _metric(rows: Sequence[Json]) -> Column:
    """Rows that answered fewer of the data than others, or other data, say so."""
    found = [row["accuracy"] for row in rows if row["accuracy"] is not None]
    names = {each["metric"] for each in found}
    most = max((each["data"]["rows"] for each in found), default=0)

    def cell(row: Json) -> str:
        accuracy = row["accuracy"]
        if accuracy is None:
            return NONE
        subset = f" of {int(accuracy['data']['rows']):,} rows" if accuracy["data"]["rows"] < most else ""
        named = f"{accuracy['metric']} " if len(names) > 1 else ""
        return named + interval(accuracy["value"], hundredths) + subset

    title = f"{min(names)} in points (95 %)" if len(names) == 1 else "metric in points (95 %)"
    return Column("metric", title, cell, metric, "most")


def _of_accuracy(name: str, inner: str = "value") -> Value:
    def value(row: Json) -> float | None:
        found = row["accuracy"] and row["accuracy"][name]
        return float(found[inner]) if found else None

    return value


def _lost(name: str) -> Show:
    def cell(row: Json) -> str:
        found = row["accuracy"] and row["accuracy"][name]
        return interval(found, points, "points") if found else NONE

    return cell


_ABOUT = (
    Column("name", "name", _text("name")),
    Column("kind", "kind", lambda row: f"{row['kind']}, failed" if row["error"] is not None else str(row["kind"])),
    Column("target", "target", _text("target")),
    Column("scheme", "scheme", _text("scheme")),
)
_SIZES = (
    Column("bytes", "MB", _shown(_bytes("bytes"), megabytes), _bytes("bytes"), "least"),
    Column("packed", "packed MB", _shown(_bytes("packed_bytes"), megabytes), _bytes("packed_bytes"), "least"),
    Column("load", "load ms", _shown(load_ms, milliseconds), load_ms, "least"),
)
_MEMORY = Column("memory", "MB over idle: own + files", _resident_cell, resident, "least")
_AGAINST = (
    Column(
        *("agreement", "agreement", _shown(_of_accuracy("agreement"), hundredths)),
        *(_of_accuracy("agreement"), "most"),
    ),
    Column("float", "points lost to float", _lost("from_float"), _of_accuracy("from_float", "points")),
    Column("teacher", "points lost to teacher", _lost("from_teacher"), _of_accuracy("from_teacher", "points")),
    Column(
        *("retained", "of the teacher", _shown(_of_accuracy("retained"), lambda share: f"{100 * share:.1f} %")),
        _of_accuracy("retained"),
    ),
)
