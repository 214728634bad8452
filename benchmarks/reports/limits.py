"""Whether a report's rows are slower or larger than a baseline's, as a check of changes: like with like, or not at
all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.measuring.statistics import NOISY, Ratio
from benchmarks.reports.compare import texts_of
from benchmarks.reports.report import Json, Report
from benchmarks.reports.tables import Table
from benchmarks.reports.texts import NONE, megabytes, milliseconds, plain, whole_percent
from benchmarks.reports.timings import AS_THEY_COME, Ranking, Work, works
from mobilekit.errors import InputError, short

FAILED, UNDECIDED, WITHIN = "failed", "undecided", "within"


@dataclass(frozen=True)
class Finding:
    """A row against the same row of the baseline. unit: of before and now. change: percent, above 0 for more. verdict:
    slower, larger, failed, undecided or within. why: of a verdict that needs it."""

    row: str
    what: str
    unit: str
    before: float | None
    now: float | None
    verdict: str
    why: str = ""

    @property
    def change(self) -> float | None:
        """In percent."""
        if self.before is None or self.now is None or not self.before:
            return None
        return 100 * (self.now / self.before - 1)

    @property
    def broken(self) -> bool:
        """Whether the limit does not hold."""
        return self.verdict not in (UNDECIDED, WITHIN)


def slower(report: Report, baseline: Report, percent: float) -> list[Finding]:
    """Every timing that both have, by the rows' names: slower where it takes more than `percent` longer.

    On the same machine (device, processor, cores) by the mean of the middle 80 %, undecided where a spread says that
    other work ran beside. Else by ratios to a base that both measured the rows against, the same file, undecided where
    the intervals overlap. Raises InputError where neither can be: other threads, machines without such a base, nothing
    in common, a made-up report against a measured one.
    """
    _refuse_unlike(report, baseline)
    alike = _same_machine(report, baseline)
    found = [*_broken_rows(report, baseline)]
    timed = [*(_by_mean if alike else _by_ratio)(report, baseline, percent)]
    if not timed and not found:
        raise InputError(_nothing(report, baseline, alike))
    return [*found, *timed]


def larger(report: Report, baseline: Report, percent: float) -> list[Finding]:
    """Every row whose bytes both have. Raises InputError where there is none."""
    found = []
    for now, before in _pairs(report, baseline):
        if now["bytes"] is not None and before["bytes"] is not None:
            more = now["bytes"] > before["bytes"] * (1 + percent / 100)
            sizes = float(before["bytes"]), float(now["bytes"])
            found.append(Finding(now["name"], "bytes", "MB", *sizes, "larger" if more else WITHIN))
    if not found:
        raise InputError(f"{report.origin}: no row of {baseline.origin} with bytes is in it; rows are matched by name.")
    return found


def findings_table(found: Sequence[Finding], baseline: Report, synthetic: bool) -> Table:
    """What was found, the broken first."""
    order = sorted(found, key=lambda each: (not each.broken, each.verdict != UNDECIDED))
    cells = [
        [each.row, each.what, *(_figure(value, each.unit) for value in (each.before, each.now)), _percent(each),
         f"{each.verdict}: {each.why}" if each.why else each.verdict]
        for each in order
    ]  # fmt: skip
    title = f"Against {baseline.origin}"
    head = ["row", "what", "before", "now", "change", "verdict"]
    return Table(f"SYNTHETIC: {title}" if synthetic else title, head, cells, left=2)


def summary(found: Sequence[Finding], baseline: Report) -> str:
    """The broken ones in a line."""
    broken = [each for each in found if each.broken]
    said = ", ".join(f"{each.row} {each.what} {each.verdict} ({_percent(each)})" for each in broken[:10])
    more = f" and {len(broken) - 10} more" if len(broken) > 10 else ""
    return plain(f"against {baseline.origin}: {said}{more}.")


def _percent(found: Finding) -> str:
    return NONE if found.change is None else f"{found.change:+.1f} %"


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return NONE
    if unit == "MB":
        return f"{megabytes(value)} MB"
    return f"{milliseconds(value)} {unit}" if unit == "ms" else f"{value:.3f} {unit}"


def _pairs(report: Report, baseline: Report) -> Iterator[tuple[Json, Json]]:
    for row in report.rows:
        before = baseline.row(row["name"])
        if before is not None:
            yield row, before


def _refuse_unlike(report: Report, baseline: Report) -> None:
    ours, theirs = report.content, baseline.content
    if ours["synthetic"] != theirs["synthetic"]:
        made_up, other = (report, baseline) if ours["synthetic"] else (baseline, report)
        raise InputError(f"{made_up.origin}: is synthetic, and {other.origin} is not; no timings to compare.")
    threads = [int(content["protocol"]["threads"]) for content in (ours, theirs)]
    if threads[0] != threads[1]:
        raise InputError(
            f"{report.origin}: was measured with {threads[0]} threads, and {baseline.origin} with {threads[1]}; measure"
            " one of them again."
        )


def _same_machine(report: Report, baseline: Report) -> bool:
    keys = ("name", "processor", "cpus")
    return all(report.content["device"][key] == baseline.content["device"][key] for key in keys)


def _broken_rows(report: Report, baseline: Report) -> Iterator[Finding]:
    for now, before in _pairs(report, baseline):
        if now["error"] is not None and before["error"] is None:
            yield Finding(now["name"], "all", "", None, None, FAILED, short(now["error"], 120))


def _shared_works(report: Report, baseline: Report) -> list[Work]:
    """Those of the same texts."""
    texts = texts_of(report), texts_of(baseline)
    return [
        work
        for work in works(report.rows)
        if work not in AS_THEY_COME or (texts[0] is not None and texts[0] == texts[1])
    ]


def _by_mean(report: Report, baseline: Report, percent: float) -> Iterator[Finding]:
    for now, before in _pairs(report, baseline):
        for work in _shared_works(report, baseline):
            runs = work.run(now), work.run(before)
            if runs[0] is None or runs[1] is None:
                continue
            means = float(runs[1]["middle80_mean_ms"]), float(runs[0]["middle80_mean_ms"])
            verdict, why = "slower" if means[1] > means[0] * (1 + percent / 100) else WITHIN, ""
            spread = max(runs[0]["spread"], runs[1]["spread"])
            if spread > NOISY:
                verdict, why = UNDECIDED, f"other work ran beside (spread {whole_percent(spread)})"
            yield Finding(now["name"], work.title, "ms", *means, verdict, why)


def _by_ratio(report: Report, baseline: Report, percent: float) -> Iterator[Finding]:
    rankings = Ranking(report), Ranking(baseline)
    for base_name in sorted({ratio["base"] for ratio in report.content["ratios"]}):
        bases = report.row(base_name), baseline.row(base_name)
        if bases[0] is None or bases[1] is None or not bases[0]["sha256"] or bases[0]["sha256"] != bases[1]["sha256"]:
            continue
        for now, before in _pairs(report, baseline):
            for work in _shared_works(report, baseline):
                ours = rankings[0].ratio(now, bases[0], work)
                theirs = rankings[1].ratio(before, bases[1], work)
                if ours is not None and theirs is not None:
                    what = f"{work.title}, against {short(base_name)}"
                    verdict, why = _verdict(ours, theirs, percent)
                    yield Finding(now["name"], what, "x", theirs.median, ours.median, verdict, why)


def _verdict(ours: Ratio, theirs: Ratio, percent: float) -> tuple[str, str]:
    if ours.median <= theirs.median * (1 + percent / 100):
        return WITHIN, ""
    if ours.low <= theirs.high:
        return UNDECIDED, "the intervals overlap"
    return "slower", ""


def _nothing(report: Report, baseline: Report, alike: bool) -> str:
    if alike:
        return (
            f"{report.origin}: no row of {baseline.origin} was timed in it at the same work; rows are matched by name."
        )
    return (
        f"{report.origin}: is of another machine than {baseline.origin}, and milliseconds of two machines say nothing "
        "of a change; measure both on one, or both with the same file as the base of ratios."
    )
