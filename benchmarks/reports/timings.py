"""The work that rows of a report were timed at, and which of them may be ranked by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.measuring.statistics import NOISY, Ratio
from benchmarks.measuring.turns import ROWS, TEXTS
from benchmarks.reports.report import Json, Report
from benchmarks.reports.texts import whole_percent


@dataclass(frozen=True)
class Work:
    """One kind of work. name: as the report's ratios have it. title: of its column, without the unit."""

    name: str
    title: str

    @property
    def unit(self) -> str:
        """What its milliseconds are of."""
        return f"ms {self.title}" if self.name.isdigit() else f"ms a {self.title}"

    def run(self, row: Json) -> Json | None:
        """The runs of a row at it, or None."""
        if self.name in (ROWS, TEXTS):
            found: Json | None = row["text_run" if self.name == ROWS else "text_pipeline"]
            return found
        return next((each["run"] for each in row["lengths"] if str(int(each["length"])) == self.name), None)

    def mean(self, row: Json) -> float | None:
        """Milliseconds, the mean of the middle 80 % of the runs: the figure that is shown and compared."""
        run = self.run(row)
        return None if run is None else float(run["middle80_mean_ms"])


AS_THEY_COME = (Work(ROWS, "text, run"), Work(TEXTS, "text, whole way"))


def lengths(rows: Sequence[Json]) -> list[int]:
    """Every length that a row was timed at."""
    return sorted({int(each["length"]) for row in rows for each in row["lengths"]})


def works(rows: Sequence[Json]) -> list[Work]:
    """Every work, lengths first; texts as they come always, since that is what an app does."""
    return [*(Work(str(length), f"at {length}") for length in lengths(rows)), *AS_THEY_COME]


class Ranking:
    """Which row is faster than which, as far as the rounds of a report agree on it."""

    def __init__(self, report: Report) -> None:
        self._rows = report.rows
        self._ratios: dict[tuple[str, str, str], Ratio] = {}
        for each in report.content["ratios"]:
            found = Ratio(each["median"], each["low"], each["high"])
            self._ratios.setdefault((each["row"], each["base"], each["work"]), found)

    def ratio(self, row: Json, base: Json, work: Work) -> Ratio | None:
        """How many times as long a row takes as another, or None where the two were not held against each other."""
        straight = self._ratios.get((row["name"], base["name"], work.name))
        back = self._ratios.get((base["name"], row["name"], work.name))
        # Of a row that took no time at all nothing takes a multiple.
        if straight is not None or back is None or not min(back.low, back.median, back.high):
            return straight
        return Ratio(1 / back.median, 1 / back.high, 1 / back.low)

    def tied(self, row: Json, other: Json, work: Work) -> bool:
        """Whether two were held against each other, or against the same third one, and the rounds do not agree on which
        of them is faster."""
        found = self.ratio(row, other, work)
        if found is not None:
            return not found.ranked
        for base in self._rows:
            first, second = self.ratio(row, base, work), self.ratio(other, base, work)
            if first is not None and second is not None:
                return first.low <= second.high and second.low <= first.high
        return False

    def too_noisy(self, work: Work) -> bool:
        """Whether so much else ran on the machine that half of the rows scatter beyond what an idle one does."""
        spreads = [float(run["spread"]) for row in self._rows if (run := work.run(row))]
        return bool(spreads) and median(spreads) > NOISY

    def order(self, work: Work) -> list[Json]:
        """The rows timed at a work, the fastest first."""
        timed = [(mean, row["name"], row) for row in self._rows if (mean := work.mean(row)) is not None]
        return [row for _, _, row in sorted(timed, key=lambda each: each[:2])]

    def remarks(self, works: Sequence[Work]) -> Iterator[str]:
        """In words: where it was too noisy, which rows scatter, and which cannot be told apart from the next."""
        for work in works:
            order = self.order(work)
            if self.too_noisy(work):
                too_much = f"half of the rows spread by over {whole_percent(NOISY)}"
                yield f"{work.title}: the machine was too noisy to rank ({too_much})"
                continue
            noisy = [row["name"] for row in order if (work.run(row) or {})["spread"] > NOISY]
            if noisy:
                yield f"{work.title}: other work ran beside {_listed(noisy)} (spread above {whole_percent(NOISY)})"
            tiers = [tier for tier in self._tiers(order, work) if len(tier) > 1]
            yield from (f"{work.title}: not told apart: {_listed(tier)}" for tier in tiers)

    def _tiers(self, order: Sequence[Json], work: Work) -> list[list[str]]:
        tiers: list[list[str]] = []
        for i, row in enumerate(order):
            if i and self.tied(row, order[i - 1], work):
                tiers[-1].append(row["name"])
            else:
                tiers.append([row["name"]])
        return tiers


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:12])
    return f"{shown} and {len(names) - 12} more" if len(names) > 12 else shown
