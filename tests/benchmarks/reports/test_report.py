"""What is a report and what is not."""

from __future__ import annotations

import json
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from fuzz_support import damaged
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_reports import artifact, report, row

from benchmarks.reports.report import read_report, validated, write_report
from mobilekit.errors import InputError

Json = dict[str, Any]
GOOD = report(5)


def test_a_report_is_read_as_it_was_written_in_the_same_bytes(tmp_path: Path) -> None:
    file, again = tmp_path / "a.json", tmp_path / "b.json"
    write_report(GOOD.content, file)
    write_report(dict(reversed(GOOD.content.items())), again)
    found = read_report(file)
    assert found.content == GOOD.content and found.origin == str(file) and found.device == "made-up"
    assert file.read_bytes() == again.read_bytes()
    assert found.row(GOOD.rows[1]["name"]) == GOOD.rows[1] and found.row("no such row") is None


def test_only_a_report_is_replaced_and_only_by_force(tmp_path: Path) -> None:
    file, thesis = tmp_path / "a.json", tmp_path / "thesis"
    thesis.write_text("x")
    write_report(GOOD.content, file)
    with pytest.raises(InputError, match="exists already; --force"):
        write_report(GOOD.content, file)
    write_report(GOOD.content, file, force=True)
    with pytest.raises(InputError, match="is not of the kind that mobilekit would write"):
        write_report(GOOD.content, thesis, force=True)
    assert thesis.read_text() == "x"


def test_what_is_no_report_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no report of mobilekit: kind: 'tablet' is not one of"):
        write_report({**GOOD.content, "kind": "tablet"}, tmp_path / "a.json")
    assert not list(tmp_path.iterdir())


NAME = GOOD.rows[0]["name"]
CONTRADICTIONS = [
    ({"schema": 2}, "schema 2 is newer than mobilekit reads"),
    ({"schema": 10**5000}, "schema a number of 16610 bits is newer"),
    ({"extra": 1}, "'extra' was unexpected"),
    ({"rows": []}, "rows: .* non-empty"),
    ({"rows": [GOOD.rows[0]] * 2}, "2 rows are called"),
    ({"rows": [row("a\x1b[31m")]}, "control characters"),
    ({"rows": [row("a", error="two\nlines")]}, "control characters"),
    ({"rows": [row("a", kind="artifact")]}, "the artifact a has no sha256 or bytes"),
    ({"rows": [row("a", load_ms=[float("nan")])]}, "a number in it is nan"),
    ({"rows": [row("a", load_ms=[float("inf")])]}, "a number in it is inf"),
    ({"rows": [row("a", load_ms=[1e10])]}, "is greater than the maximum"),
    ({"rows": [row("a", load_ms=[-1])]}, "is less than the minimum"),
    ({"rows": [row("a", load_ms=[1] * 10_001)]}, "longer than 10,000"),
    ({"rows": [{}] * 9_999}, "no report of mobilekit: "),
    ({"rows": [{**artifact("minilm-l6", "tflite", "int8"), "lengths": GOOD.rows[1]["lengths"][::-1]}]}, "ascend"),
    ({"ratios": [{"row": NAME, "base": "x", "work": "32", "median": 1, "low": 1, "high": 1}]}, "a ratio is of x, and"),
    ({"ratios": [{"row": NAME, "base": NAME, "work": "32", "median": 1, "low": 2, "high": 1}]}, "ends below its begin"),
    ({"made_at": "yesterday"}, "made_at: 'yesterday' does not match"),
]


@pytest.mark.parametrize(("changes", "message"), CONTRADICTIONS, ids=[message for _, message in CONTRADICTIONS])
def test_what_contradicts_the_schema_or_itself_is_refused(changes: Json, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        validated({**GOOD.content, "ratios": [], **changes}, "a.json")
    assert str(caught.value).startswith("a.json: ") and len(str(caught.value)) < 400


def test_reports_beyond_4_mb_are_not_read(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(" " * (4 * 2**20 + 1))
    with pytest.raises(InputError, match=r"a.json: 4,194,305 bytes are too many; it has to have at most 4,194,304"):
        read_report(file)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 900 + "]" * 900,
        "[" * 100_000,
        '{"schema": 1, "rows": ' + "[" * 900 + "]" * 900 + "}",
        '{"rows": [' + "{}," * 1_300_000 + "{}]}",
        '{"rows": ["' + "x" * 4_000_000 + '"]}',
        '{"rows": [' + ", ".join(["[" + "0," * 9_000 + "0]"] * 200) + "]}",
    ],
    ids=["deep", "deeper than JSON", "deep inside", "many", "long", "many of many"],
)
def test_hostile_files_are_refused_soon(text: str, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(text)
    started = time.process_time()
    with pytest.raises(InputError) as caught:
        read_report(file)
    assert time.process_time() - started < 10 and len(str(caught.value)) < 500


@settings(max_examples=100, deadline=timedelta(seconds=2))
@given(data=st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_files_of_anything_are_refused_in_one_line(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.getbasetemp() / "anything.json"
    file.write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_report(file)
    assert "\n" not in str(caught.value)


@settings(max_examples=100, deadline=timedelta(seconds=2))
@given(content=damaged(GOOD.content))
def test_a_damaged_report_is_taken_or_one_line_says_why(content: object) -> None:
    try:
        found = validated(content, "a")
    except InputError as error:
        assert str(error).startswith("a: ") and "\n" not in str(error)
    else:
        assert found.rows and json.dumps(found.content, allow_nan=False)
