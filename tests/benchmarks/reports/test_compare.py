"""Reports of several devices: joined by what they share, and what differs told."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pytest
from hostile_reports import hostile
from hypothesis import HealthCheck, given, settings
from page_reader import Reader
from synthetic_reports import Json, artifact, report, row, runs, sha256

from benchmarks.reports.compare import Comparison, compare
from benchmarks.reports.compare_views import (
    comparison_csv,
    comparison_json,
    comparison_page,
    comparison_plot,
    comparison_table,
)
from benchmarks.reports.plots import Plot
from benchmarks.reports.report import Report
from benchmarks.reports.tables import SYNTHETIC
from mobilekit.errors import InputError

PICTURE = Plot("timings.png", "t", b"\x89PNG")


def device(name: str, **changes: Any) -> Json:
    return {"name": name, "system": "none", "processor": "imagined", "cpus": 8, "memory_bytes": 8 * 10**9, **changes}


def one(file: str, at: float, **changes: Any) -> Json:
    """A row of a file, timed at a length and on texts."""
    named = {"name": file, "sha256": sha256(file), "bytes": 10**6, "kind": "artifact", "engine": "litert", **changes}
    timed = {"lengths": [{"length": 32, "run": runs(at)}], "text_run": runs(at / 2)}
    return row(named.pop("name"), **{**timed, **named})


def reported(name: str, *rows: Json, origin: str = "", **changes: Any) -> Report:
    found = report(list(rows), [], **{"device": device(name), **changes})
    return Report(found.content, origin or f"{name}.json")


def protocol(**changes: Any) -> Json:
    return {**report(2).content["protocol"], **changes}


HOST = reported("host", one("a", 1.0), one("b", 2.0), one("c", 3.0))
PHONE = reported("phone", one("a", 2.5), one("b", 3.0), kind="android")


def cells(found: Comparison) -> list[list[str]]:
    return comparison_table(found).cells


def test_the_same_files_are_joined_whatever_their_rows_are_called() -> None:
    other = reported("phone", one("a", 2.5, name="called otherwise"), kind="ios")
    found = compare([HOST, other])
    mean = 1.003
    assert cells(found) == [
        ["a", "SYNTHETIC host", "litert", "-", f"{mean:.2f}", f"{mean / 2:.3f}", "-", "-"],
        ["a", "SYNTHETIC phone", "litert", "-", f"{2.5 * mean:.2f} (2.50 x)", f"{1.25 * mean:.2f} (2.50 x)", "-", "-"],
    ]
    assert found.notes == ("SYNTHETIC host: 2 of its 3 rows are in no other report, and not shown",)


@pytest.mark.parametrize("base", ["phone", "SYNTHETIC phone", "phone.json"])
def test_ratios_are_to_the_base_that_was_asked_for(base: str) -> None:
    found = compare([HOST, PHONE], base)
    assert cells(found)[0][4] == "1.00 (0.40 x)" and "(" not in cells(found)[1][4]
    assert "on SYNTHETIC phone" in comparison_table(found).remarks[0]


def test_devices_of_one_name_are_told_apart_by_their_files() -> None:
    found = compare(
        [reported("phone", one("a", 1), origin="x/1.json"), reported("phone", one("a", 2), origin="2.json")]
    )
    assert found.names == ("SYNTHETIC phone (x/1.json)", "SYNTHETIC phone (2.json)")
    with pytest.raises(InputError, match=r"--base 'phone': 2 reports are called so; give the file: x/1.json, 2.json"):
        compare(found.reports, "phone")
    assert compare(found.reports, "1").base == 0


def test_an_artifact_that_differs_is_told_and_not_mixed() -> None:
    found = compare([HOST, reported("phone", one("a", 2.5), one("c", 9.0, sha256=sha256("another")), kind="ios")])
    assert {line[0] for line in cells(found)} == {"a"}
    (note,) = [note for note in found.notes if note.startswith("c: ")]
    assert "not the same file everywhere, and not mixed: sha256" in note
    assert f"{sha256('c')[:12]} in SYNTHETIC host; {sha256('another')[:12]} in SYNTHETIC phone" in note


def test_other_threads_are_told_and_not_held_against_the_base() -> None:
    found = compare([HOST, reported("phone", one("a", 2.5), protocol=protocol(threads=4))])
    assert cells(found)[1][4:6] == ["2.51 †", "1.25 †"]
    assert any(
        note
        == "SYNTHETIC phone: threads 4 instead of 2 of SYNTHETIC host: its milliseconds are not held against the base's"
        for note in found.notes
    )


@pytest.mark.parametrize("texts", [None, {"name": "movie-sentiment", "sha256": sha256("others"), "count": 200}])
def test_other_texts_are_told_and_only_lengths_are_held_against_the_base(texts: Json | None) -> None:
    found = compare([HOST, reported("phone", one("a", 2.5), protocol=protocol(texts=texts))])
    assert cells(found)[1][4:6] == ["2.51 (2.50 x)", "1.25 †"]
    assert any("SYNTHETIC phone: texts " in note for note in found.notes)


def test_other_numbers_of_runs_are_told() -> None:
    other = protocol(least_runs=5, least_seconds=0.5, load_processes=1, in_turn=False)
    found = compare([HOST, reported("phone", one("a", 2.5), protocol=other)])
    assert cells(found)[1][4] == "2.51 (2.50 x)"
    said = "\n".join(found.notes)
    for note in ("least runs 5 instead of 20", "least seconds 0.5 instead of 1.0", "in turn no instead of yes"):
        assert note in said
    assert "processes that load 1 instead of 3" in said


def test_two_engines_of_one_device_are_held_against_the_same_engine() -> None:
    two = [one("a", 1.0, name="a on cpu"), one("a", 4.0, name="a on gpu", engine="gpu")]
    found = compare([reported("host", *two), reported("phone", one("a", 8.0, engine="gpu"))])
    assert cells(found)[2][4] == "8.02 (2.00 x)"


def test_nothing_in_common_is_refused_and_two_targets_may_meet_in_a_third_report() -> None:
    other = reported("phone", one("x", 1.0))
    with pytest.raises(InputError, match=r"^host.json: has no artifact in common with the other report \(by sha256\)"):
        compare([HOST, other])
    with pytest.raises(InputError, match=r"^phone.json: has no artifact in common with any other report"):
        compare([HOST, other, reported("third", one("a", 1.0))])
    android, ios = reported("android", one("a", 1.0)), reported("ios", one("b", 1.0))
    assert set(compare([HOST, android, ios]).artifacts) == {sha256("a"), sha256("b")}


def test_a_report_is_not_held_against_itself_and_an_unknown_base_is_refused() -> None:
    with pytest.raises(InputError, match=r"host.json: given 2 times; give each report once"):
        compare([HOST, HOST])
    with pytest.raises(InputError, match=r"--base 'hots.json' is unknown; did you mean 'host.json'"):
        compare([HOST, PHONE], "hots.json")


def test_csv_has_a_line_a_timing() -> None:
    lines = list(csv.DictReader(io.StringIO(comparison_csv(compare([HOST, PHONE])))))
    assert len(lines) == 8
    last = lines[-1]
    assert (last["artifact"], last["measured_on"], last["work"]) == ("b", "SYNTHETIC phone", "rows")
    assert (last["kind"], last["synthetic"], last["threads"], last["times_base"]) == ("android", "true", "2", "1.5")
    assert float(last["median_ms"]) == 1.5 and lines[0]["times_base"] == ""


def test_json_has_the_same() -> None:
    found = comparison_json(compare([HOST, PHONE]))
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["base"] == "SYNTHETIC host" and found["synthetic"] and len(found["artifacts"]) == 2
    measured = found["artifacts"][0]["measured"][1]
    assert measured["times_base"] == {"32": 2.5, "rows": 2.5} and measured["comparable"]["texts"]


def test_page_and_table_say_that_a_report_is_synthetic() -> None:
    real, other = (reported(name, one("a", 1.0), synthetic=False) for name in ("host", "phone"))
    for reports, synthetic in (([HOST, PHONE], True), ([real, PHONE], True), ([real, other], False)):
        found = compare(reports)
        assert comparison_table(found).title.startswith(SYNTHETIC) == synthetic
        assert ("SYNTHETIC" in comparison_page(found, PICTURE)) == synthetic


def test_the_plot_shows_other_protocols_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    figures: list[Any] = []
    monkeypatch.setattr("benchmarks.reports.dot_plot.png", lambda figure: figures.append(figure) or b"png")
    plot = comparison_plot(compare([HOST, PHONE, reported("third", one("a", 9.0), protocol=protocol(threads=4))]))
    assert (
        plot is not None and plot.title == "SYNTHETIC, not measured: The same artifacts on each device, ms a text, run"
    )
    (axes,) = figures[0].axes
    faces = [line.get_markerfacecolor() for line in axes.lines if line.get_marker() not in ("None", None, "")]
    assert len(faces) == 5 and faces.count("white") == 1
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b"]
    assert "hollow: another protocol" in [text.get_text() for text in figures[0].legends[0].get_texts()]
    assert comparison_plot(compare([report([artifact("minilm-l6", "coreml", "int8")])])) is None


@settings(max_examples=25, deadline=timedelta(seconds=20), suppress_health_check=[HealthCheck.too_slow])
@given(pair=hostile())
def test_hostile_reports_stay_text_in_every_form(pair: tuple[Report, Report]) -> None:
    found = compare([pair[0], Report({**pair[0].content, "kind": "ios"}, "other")])
    page = Reader(comparison_page(found, PICTURE))
    plain = Reader(comparison_page(compare([pair[1], Report({**pair[1].content, "kind": "ios"}, "other")]), PICTURE))
    assert sorted(tag for tag, _ in page.tags) == sorted(tag for tag, _ in plain.tags)
    for line in csv.reader(io.StringIO(comparison_csv(found))):
        assert len(line) == 14 and not any(cell.lstrip().startswith(("=", "+", "-", "@")) for cell in line)
    assert comparison_table(found).markdown().count("\n\n") == 2
    assert json.dumps(comparison_json(found), allow_nan=False)
