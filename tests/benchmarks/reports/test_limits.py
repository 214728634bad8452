"""A report against an older one: what is slower or larger, what cannot be decided, and what may not be compared."""

from __future__ import annotations

from typing import Any

import pytest
from synthetic_reports import Json, report, row, runs, sha256

from benchmarks.reports.limits import Finding, findings_table, larger, slower, summary
from benchmarks.reports.report import Report
from mobilekit.errors import InputError


def timed(name: str, at: float, spread: float = 0.05, **changes: Any) -> Json:
    known = {"sha256": sha256(name), "bytes": 10**6, "text_run": runs(at, spread), **changes}
    return row(name, lengths=[{"length": 32, "run": runs(at, spread)}], **known)


def reported(*rows: Json, name: str = "new.json", ratios: list[Json] | None = None, **changes: Any) -> Report:
    return Report(report(list(rows), ratios or [], **changes).content, name)


def old(*rows: Json, **changes: Any) -> Report:
    return reported(*rows, name="old.json", **changes)


def ratio(name: str, base: str, middle: float, half: float = 0.02) -> Json:
    return {"row": name, "base": base, "work": "32", "median": middle, "low": middle - half, "high": middle + half}


def device(**changes: Any) -> Json:
    return {**report(2).content["device"], **changes}


def verdicts(found: list[Finding]) -> dict[str, str]:
    return {f"{each.row} {each.what}": each.verdict for each in found}


def test_rows_of_the_same_machine_are_held_against_each_other_by_their_means() -> None:
    found = slower(reported(timed("a", 1.09), timed("b", 1.11)), old(timed("a", 1.0), timed("b", 1.0)), 10)
    assert verdicts(found) == {
        "a at 32": "within", "a text, run": "within", "b at 32": "slower", "b text, run": "slower",
    }  # fmt: skip
    change = found[2].change
    assert change is not None and round(change, 6) == 11.0
    assert (
        summary(found, old(timed("a", 1)))
        == "against old.json: b at 32 slower (+11.0 %), b text, run slower (+11.0 %)."
    )


def test_faster_rows_pass_a_limit_of_nothing() -> None:
    assert not any(each.broken for each in slower(reported(timed("a", 0.5)), old(timed("a", 1.0)), 0))


@pytest.mark.parametrize(("now", "before"), [(0.5, 0.05), (0.05, 0.5)])
def test_noise_in_either_report_is_undecided_and_does_not_fail(now: float, before: float) -> None:
    found = slower(reported(timed("a", 2.0, now)), old(timed("a", 1.0, before)), 10)
    assert {each.verdict for each in found} == {"undecided"} and not any(each.broken for each in found)
    assert found[0].why == "other work ran beside (spread 50 %)"


def test_a_row_that_fails_now_breaks_the_limit() -> None:
    found = slower(reported(timed("b", 1.0), row("a", error="it died")), old(timed("a", 1.0), timed("b", 1.0)), 10)
    assert verdicts(found)["a all"] == "failed" and found[0].broken and found[0].why == "it died"
    # It failed then, too: nothing new.
    assert "a all" not in verdicts(
        slower(reported(timed("b", 1.0), row("a", error="x")), old(timed("b", 1.0), row("a", error="x")), 10)
    )


def test_other_texts_are_not_compared() -> None:
    texts = {"name": "movie-sentiment", "sha256": sha256("others"), "count": 200}
    protocol = {**report(2).content["protocol"], "texts": texts}
    found = slower(reported(timed("a", 1.0), protocol=protocol), old(timed("a", 1.0)), 10)
    assert verdicts(found) == {"a at 32": "within"}


def test_other_machines_are_held_against_each_other_by_ratios_to_the_same_file() -> None:
    new = reported(timed("base", 5.0), timed("a", 6.0), ratios=[ratio("a", "base", 1.2)], device=device(cpus=4))
    before = old(timed("base", 1.0), timed("a", 1.0), ratios=[ratio("a", "base", 1.0)])
    (found,) = slower(new, before, 10)
    assert (found.row, found.what, found.verdict, found.unit) == ("a", "at 32, against base", "slower", "x")
    # The limit holds at 25 %, and wide intervals decide nothing.
    assert not slower(new, before, 25)[0].broken
    wide = reported(timed("base", 5.0), timed("a", 6.0), ratios=[ratio("a", "base", 1.2, 0.3)], device=device(cpus=4))
    assert slower(wide, before, 10)[0].verdict == "undecided"


@pytest.mark.parametrize("changes", [{"name": "another"}, {"processor": "another"}, {"cpus": 64}])
def test_milliseconds_of_other_machines_are_refused(changes: Json) -> None:
    with pytest.raises(
        InputError, match=r"^new.json: is of another machine than old.json, .*; measure both on one, or "
    ):
        slower(reported(timed("a", 1.0), device=device(**changes)), old(timed("a", 1.0)), 10)


def test_ratios_to_another_file_of_that_name_do_not_count() -> None:
    ratios = [ratio("a", "base", 1.0)]
    other = timed("base", 1.0, sha256=sha256("other"))
    with pytest.raises(InputError, match="is of another machine"):
        slower(
            reported(other, timed("a", 1.0), ratios=ratios, device=device(cpus=4)),
            old(timed("base", 1.0), timed("a", 1.0), ratios=ratios),
            10,
        )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"synthetic": False}, "old.json: is synthetic, and new.json is not"),
        (
            {"protocol": {**report(2).content["protocol"], "threads": 4}},
            "was measured with 4 threads, and old.json with 2",
        ),
    ],
)
def test_unlike_reports_are_refused(changes: Json, message: str) -> None:
    with pytest.raises(InputError, match=message):
        slower(reported(timed("a", 1.0), **changes), old(timed("a", 1.0)), 10)


def test_nothing_in_common_is_refused() -> None:
    with pytest.raises(
        InputError, match="new.json: no row of old.json was timed in it at the same work; rows are matched"
    ):
        slower(reported(timed("a", 1.0)), old(timed("b", 1.0)), 10)
    with pytest.raises(InputError, match="new.json: no row of old.json with bytes is in it"):
        larger(reported(timed("a", 1.0)), old(timed("b", 1.0)), 10)


def test_bytes_count_on_any_machine() -> None:
    new = reported(timed("a", 1.0, bytes=1_020_000), timed("b", 1.0, bytes=1_005_000), device=device(cpus=4))
    found = larger(new, old(timed("a", 1.0), timed("b", 1.0)), 1)
    assert verdicts(found) == {"a bytes": "larger", "b bytes": "within"}


def test_the_broken_are_shown_first() -> None:
    found = slower(reported(timed("a", 1.0), timed("b", 2.0)), old(timed("a", 1.0), timed("b", 1.0)), 10)
    table = findings_table(found, old(timed("a", 1.0)), synthetic=True)
    assert [cells[0] for cells in table.cells] == ["b", "b", "a", "a"]
    assert table.cells[0] == ["b", "at 32", "1.00 ms", "2.01 ms", "+100.0 %", "slower"]
    assert table.title == "SYNTHETIC: Against old.json"
