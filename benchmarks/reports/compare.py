"""Reports of several devices joined by the artifacts that they have in common; what differs is told, not mixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.reports.report import Json, Report
from benchmarks.reports.timings import AS_THEY_COME, Work, works
from mobilekit.errors import InputError, short, unknown


@dataclass(frozen=True)
class Entry:
    """An artifact in one report. report: its place among them."""

    report: int
    row: Json


@dataclass(frozen=True)
class Comparison:
    """Reports and what they share. names: of the reports, each another. base: the place of the one that ratios are to.
    artifacts: the name of each in the first report that has it, and its entries, by sha256. notes: what differs."""

    reports: tuple[Report, ...]
    names: tuple[str, ...]
    base: int
    artifacts: dict[str, tuple[str, tuple[Entry, ...]]]
    notes: tuple[str, ...]

    @property
    def synthetic(self) -> bool:
        """Whether a test made one of them."""
        return any(report.content["synthetic"] for report in self.reports)

    def works(self) -> list[Work]:
        """Every work that an artifact was timed at."""
        return works([entry.row for _, entries in self.artifacts.values() for entry in entries])

    def comparable(self, report: int, work: Work) -> bool:
        """Whether milliseconds of a work were measured as the base's were."""
        ours, theirs = (self.reports[i].content["protocol"] for i in (report, self.base))
        texts = texts_of(self.reports[report])
        same_texts = texts is not None and texts == texts_of(self.reports[self.base])
        return ours["threads"] == theirs["threads"] and (same_texts or work not in AS_THEY_COME)

    def ratio(self, sha256: str, entry: Entry, work: Work) -> float | None:
        """How many times as long an artifact takes as in the base report; None where that is itself, or cannot be told.

        A quotient of means that were measured apart from each other: without an interval.
        """
        if entry.report == self.base or not self.comparable(entry.report, work):
            return None
        entries = [each for each in self.artifacts[sha256][1] if each.report == self.base]
        # The same engine, where the base has several.
        if not entries:
            return None
        theirs = next((each for each in entries if each.row["engine"] == entry.row["engine"]), entries[0])
        ours, base = work.mean(entry.row), work.mean(theirs.row)
        return ours / base if ours is not None and base else None


def compare(reports: Sequence[Report], base: str | None = None) -> Comparison:
    """Join reports. base: the one that ratios are to, by its device's or file's name; None: the first.

    Raises InputError where a report has no artifact in common with any other, or no report is called `base`.
    """
    names = _names(reports)
    place = 0 if base is None else _place(reports, names, base)
    found: dict[str, tuple[str, tuple[Entry, ...]]] = {}
    for i, report in enumerate(reports):
        for row in report.rows:
            if row["sha256"] is not None and row["kind"] != "model":
                name, entries = found.get(row["sha256"], (row["name"], ()))
                found[row["sha256"]] = name, (*entries, Entry(i, row))
    shared = {sha256: each for sha256, each in found.items() if len({entry.report for entry in each[1]}) > 1}
    if len(reports) == 1:
        return Comparison(tuple(reports), names, place, found, ())
    _refuse_strangers(reports, shared)
    notes = (*_protocols(reports, names, place), *_differing(reports, names), *_alone(reports, names, shared))
    return Comparison(tuple(reports), names, place, shared, notes)


def _names(reports: Sequence[Report]) -> tuple[str, ...]:
    """The device's; with the file's where two are called the same."""
    origins = Counter(str(Path(report.origin)) for report in reports)
    for origin, count in origins.items():
        if count > 1:
            raise InputError(f"{origin}: given {count} times; give each report once.")
    devices = Counter(report.device for report in reports)
    found = [
        report.device if devices[report.device] == 1 else f"{report.device} ({report.origin})" for report in reports
    ]
    marked = zip(found, reports, strict=True)
    return tuple(f"SYNTHETIC {name}" if report.content["synthetic"] else name for name, report in marked)


def _place(reports: Sequence[Report], names: Sequence[str], base: str) -> int:
    for called in (
        lambda i: names[i],
        lambda i: reports[i].device,
        lambda i: reports[i].origin,
        lambda i: Path(reports[i].origin).name,
        lambda i: Path(reports[i].origin).stem,
    ):
        found = [i for i in range(len(reports)) if called(i) == base]
        if len(found) == 1:
            return found[0]
        if found:
            origins = ", ".join(reports[i].origin for i in found)
            raise InputError(f"--base '{short(base)}': {len(found)} reports are called so; give the file: {origins}.")
    raise unknown("--base", base, [short(report.origin) for report in reports])


def _refuse_strangers(reports: Sequence[Report], shared: dict[str, tuple[str, tuple[Entry, ...]]]) -> None:
    known = {entry.report for _, entries in shared.values() for entry in entries}
    for i, report in enumerate(reports):
        if i not in known:
            others = "the other report" if len(reports) == 2 else "any other report"
            raise InputError(
                f"{report.origin}: has no artifact in common with {others} (by sha256); give reports of the same files."
            )


def _protocols(reports: Sequence[Report], names: Sequence[str], base: int) -> Iterator[str]:
    theirs = reports[base].content["protocol"]
    for i, report in enumerate(reports):
        ours = report.content["protocol"]
        for name, show, so in _PROTOCOL:
            if show(ours) != show(theirs):
                follows = f": {so}" if so else ""
                yield f"{names[i]}: {name} {show(ours)} instead of {show(theirs)} of {names[base]}{follows}"


def _differing(reports: Sequence[Report], names: Sequence[str]) -> Iterator[str]:
    """Rows of one name that are not the same file."""
    found: dict[str, dict[str, list[str]]] = {}
    for name, report in zip(names, reports, strict=True):
        for row in report.rows:
            if row["sha256"] is not None:
                found.setdefault(row["name"], {}).setdefault(row["sha256"], []).append(name)
    for row_name, files in found.items():
        if len(files) > 1:
            said = "; ".join(f"{sha256[:12]} in {', '.join(where)}" for sha256, where in files.items())
            yield f"{row_name}: not the same file everywhere, and not mixed: sha256 {said}"


def _alone(
    reports: Sequence[Report], names: Sequence[str], shared: dict[str, tuple[str, tuple[Entry, ...]]]
) -> Iterator[str]:
    for name, report in zip(names, reports, strict=True):
        count = sum(row["kind"] != "model" and row["sha256"] not in shared for row in report.rows)
        if count:
            yield f"{name}: {count} of its {len(report.rows)} rows are in no other report, and not shown"


def texts_of(report: Report) -> tuple[Any, ...] | None:
    """Which texts came as they come, or None."""
    texts = report.content["protocol"]["texts"]
    return None if texts is None else (texts["sha256"], texts["count"])


def _texts_shown(protocol: Json) -> str:
    texts = protocol["texts"]
    return "none" if texts is None else f"{int(texts['count']):,} of {texts['name']} ({texts['sha256'][:12]})"


_PROTOCOL: tuple[tuple[str, Callable[[Json], object], str], ...] = (
    ("threads", lambda protocol: int(protocol["threads"]), "its milliseconds are not held against the base's"),
    ("texts", _texts_shown, "its milliseconds of texts are not held against the base's"),
    ("least runs", lambda protocol: int(protocol["least_runs"]), ""),
    ("least seconds", lambda protocol: float(protocol["least_seconds"]), ""),
    ("processes that load", lambda protocol: int(protocol["load_processes"]), ""),
    ("in turn", lambda protocol: "yes" if protocol["in_turn"] else "no", ""),
)
