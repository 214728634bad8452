"""Tables of reports: order, marks, what is not ranked, and what is said beneath."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hostile_reports import hostile
from hypothesis import HealthCheck, given, settings
from synthetic_reports import accuracy, artifact, interval, report, row, runs

from benchmarks.reports.report import Report
from benchmarks.reports.tables import BEST, SYNTHETIC, Table, ratio_table, report_tables, timing_table
from mobilekit.cli.options import print_table
from mobilekit.errors import InputError

Json = dict[str, Any]


def timed(name: str, at: float, spread: float = 0.05, **changes: Any) -> Json:
    return row(name, target="tflite", lengths=[{"length": 32, "run": runs(at, spread)}], **changes)


def ratio(first: str, second: str, low: float, high: float, work: str = "32") -> Json:
    return {"row": first, "base": second, "work": work, "median": (low * high) ** 0.5, "low": low, "high": high}


def column(table: Table, title: str) -> dict[str, str]:
    at = table.head.index(title)
    return {cells[0]: cells[at] for cells in table.cells}


def best(table: Table, title: str) -> set[str]:
    at = table.head.index(title)
    return {table.cells[i][0] for i, j in table.best if j == at}


def only(found: Report) -> Table:
    (table,) = report_tables(found)
    return table


def test_rows_are_sorted_by_target_then_bytes_and_the_teacher_is_in_the_table_of_accuracy_alone() -> None:
    times, judged = report_tables(report(20))
    targets = [cells[2] for cells in times.cells]
    sizes = [(cells[2], float(cells[4].replace(",", ""))) for cells in times.cells if cells[4] != "-"]
    assert targets == [*sorted(each for each in targets if each != "-"), "-"] and sizes == sorted(sizes)
    assert "teacher" not in column(times, "name") and "teacher" in column(judged, "name")


def test_rows_are_sorted_by_any_column() -> None:
    found = report([timed("a", 3), timed("b", 1), row("c"), timed("d", 2)], ratios=[])
    assert [cells[0] for cells in report_tables(found, "32")[0].cells] == ["b", "d", "a", "c"]
    with pytest.raises(InputError, match="sort 'lod' is unknown; did you mean 'load'"):
        report_tables(found, "lod")


def test_what_was_not_measured_is_a_dash_and_core_ml_has_no_times() -> None:
    times, _ = report_tables(report([artifact("minilm-l6", "coreml", "int8"), artifact("minilm-l6", "tflite", "int8")]))
    core, lite = times.cells
    assert core[6:] == ["-"] * 8 and "-" not in lite


def test_figures_of_a_row() -> None:
    memory = {"idle_bytes": 1, "anonymous_bytes": 1_500_000, "file_bytes": 23_000_000, "peak_bytes": None}
    one = row(
        "a", kind="artifact", sha256="0" * 64, bytes=23_070_000, packed_bytes=20_900_000, load_ms=[9, 30.04, 31],
        text_run=runs(2), text_pipeline=runs(2.1), memory=memory, accuracy=accuracy(random.Random(1), 0.25),
    )  # fmt: skip
    times, judged = report_tables(report([one], ratios=[]))
    assert times.cells == [
        ["a", "artifact", "-", "-", "23.07", "20.90", "30.0", "2.01", "2.11", "1.50 + 23.00"],
    ]
    assert judged.cells == [
        ["a", "90.95 (89.72 to 92.18)", "99.30", "0.25 (-0.15 to 0.75)", "1.35 (0.65 to 2.15)", "98.5 %"]
    ]
    assert judged.head[1] == "accuracy in points (95 %)" and not times.best


def test_the_best_of_each_column_is_marked_and_what_ties_with_it() -> None:
    rows = [timed("a", 1.0, bytes=3), timed("b", 1.02, bytes=2), timed("c", 1.5, bytes=2), row("failed", error="x")]
    pairs = [ratio("b", "a", 0.98, 1.06), ratio("c", "a", 1.4, 1.6), ratio("c", "b", 1.4, 1.6)]
    table = only(report(rows, ratios=[]))
    assert best(table, "ms at 32") == {"a"} and best(table, "MB") == {"b", "c"} and best(table, "load ms") == set()
    table = only(report(rows, ratios=pairs))
    assert best(table, "ms at 32") == {"a", "b"}
    assert "at 32: not told apart: a, b" in table.remarks


def test_ratios_count_either_way_round() -> None:
    rows = [timed("a", 1.0), timed("b", 1.02)]
    table = only(report(rows, ratios=[ratio("a", "b", 0.94, 1.02)]))
    assert best(table, "ms at 32") == {"a", "b"}


def test_rows_held_against_the_same_third_one_tie_where_their_intervals_overlap() -> None:
    rows = [timed("base", 2.0), timed("a", 1.0), timed("b", 1.02), timed("c", 1.5)]
    pairs = [ratio("a", "base", 0.48, 0.52), ratio("b", "base", 0.49, 0.53), ratio("c", "base", 0.7, 0.8)]
    table = only(report(rows, ratios=pairs))
    assert best(table, "ms at 32") == {"a", "b"} and "at 32: not told apart: a, b" in table.remarks


def test_nothing_is_ranked_where_the_machine_was_too_noisy() -> None:
    table = only(report([timed("a", 1, 0.6), timed("b", 2, 0.5), timed("c", 3, 0.05)], ratios=[]))
    assert best(table, "ms at 32") == set()
    assert "at 32: the machine was too noisy to rank (half of the rows spread by over 35 %)" in table.remarks


def test_a_row_that_scattered_alone_is_named() -> None:
    table = only(report([timed("a", 1), timed("b", 2, 0.5), timed("c", 3)], ratios=[]))
    assert best(table, "ms at 32") == {"a"} and "at 32: other work ran beside b (spread above 35 %)" in table.remarks


def test_accuracies_on_other_data_are_told_and_not_ranked() -> None:
    chance = random.Random(0)
    better = {**accuracy(chance, 0.0, 400), "value": interval(0.99, 0.02)}
    rows = [row("all", accuracy=accuracy(chance, 0.1)), row("more", accuracy=accuracy(chance, 0.5))]
    _, judged = report_tables(report([*rows, row("some", accuracy=better)], ratios=[]))
    title = "accuracy in points (95 %)"
    assert column(judged, title)["some"] == "99.00 (97.00 to 100.00) of 400 rows" and best(judged, title) == {"all"}
    assert "on movie-sentiment: 400 of 2,000 rows, 12 of them cut to the longest length" in judged.remarks


def test_failed_rows_say_why_and_so_do_failed_self_checks() -> None:
    check = {"passed": False, "said": "cosine 0.9"}
    rows = [
        row("a", error="ValueError: no | such"),
        row("b", self_check=check),
        row("c", self_check={**check, "passed": True}),
    ]
    table = only(report(rows, ratios=[]))
    assert column(table, "kind") == {"a": "peer, failed", "b": "peer", "c": "peer"}
    assert table.remarks[:2] == (
        "a: not measured: ValueError: no | such",
        "b: failed its self-check on the device: cosine 0.9",
    )


def test_a_synthetic_report_says_so_in_every_title() -> None:
    assert all(table.title.startswith(SYNTHETIC) for table in report_tables(report(5)))
    assert not any("SYNTHETIC" in table.title for table in report_tables(report(5, synthetic=False)))


def test_stars_in_the_terminal_and_bold_in_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("t", ["name", "ms"], [["a|b [red]", "1"], ["c", "2"]], frozenset({(0, 1)}), ("one",))
    head, rows, left = table.terminal()
    assert (head, rows, left) == (["name", "ms"], [["a|b [red]", f"{BEST}1"], ["c", "2"]], 1)
    print_table(head, rows, left)
    assert capsys.readouterr().out.splitlines() == ["name       ms", "a|b [red]  *1", "c           2"]
    assert table.markdown().splitlines() == [
        "**t**", "", "| name | ms |", "|---|---|", r"| a\|b \[red\] | **1** |", "| c | 2 |", "", "- one",
    ]  # fmt: skip


def test_ratios_to_the_row_that_most_were_held_against() -> None:
    rows = [timed("a", 1.0), timed("b", 1.02), timed("c", 2.0), timed("d", 9)]
    found = report(rows, ratios=[ratio("b", "a", 0.98, 1.06), ratio("c", "a", 1.9, 2.1)])
    table = ratio_table(found)
    assert table is not None and table.title == "Times as long as a" and table.head == ["name", "at 32"]
    assert table.cells == [["b", "~ 1.02 (0.98 to 1.06)"], ["c", "2.00 (1.90 to 2.10)"]]
    assert ratio_table(report(rows, ratios=[])) is None


def test_every_timing_is_listed_with_its_spread() -> None:
    table = timing_table(report([timed("a", 10.0)], ratios=[]))
    assert table.cells == [["a", "at 32", "10.0", "10.0", "10.2", "0.05", "40"]]


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(pair=hostile())
def test_hostile_texts_stay_in_their_cells(pair: tuple[Report, Report], capsys: pytest.CaptureFixture[str]) -> None:
    for bad, plain in zip(report_tables(pair[0]), report_tables(pair[1]), strict=True):
        lines, model = bad.markdown().splitlines(), plain.markdown().splitlines()
        assert len(lines) - len(bad.remarks) == len(model) - len(plain.remarks)
        for line in lines:
            if line.startswith("| "):
                assert line.replace("\\\\", "").replace("\\|", "").count("|") == len(bad.head) + 1
        head, rows, left = bad.terminal()
        print_table(head, rows, left)
        assert "\x1b" not in capsys.readouterr().out
