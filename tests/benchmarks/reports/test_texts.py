"""Texts of reports are shown as they are, and do nothing."""

from __future__ import annotations

import csv
import io
import re
import unicodedata

import pytest
from hostile_reports import ATTACKS
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reports.texts import (
    csv_text,
    cut,
    hundredths,
    markdown_text,
    megabytes,
    milliseconds,
    plain,
    points,
)

TEXTS = st.sampled_from(ATTACKS) | st.text(max_size=60)


@given(TEXTS)
def test_plain_texts_have_nothing_that_nobody_sees(text: str) -> None:
    shown = plain(text)
    assert all(c in "\u200c\u200d" or unicodedata.category(c)[0] != "C" for c in shown)
    assert plain(shown) == shown
    if text.isascii() and text.isprintable():
        assert shown == text


def test_what_turns_the_reading_round_is_shown_as_its_number() -> None:
    assert plain("a\u202eb\x1b[31m\U0001f9d1\u200d\U0001f680") == "a\\u{202e}b\\u{1b}[31m\U0001f9d1\u200d\U0001f680"


@given(TEXTS)
def test_cells_of_csv_are_no_formulas(text: str) -> None:
    out = io.StringIO()
    csv.writer(out).writerow([csv_text(text), "next"])
    ((cell, after),) = list(csv.reader(io.StringIO(out.getvalue())))
    assert after == "next" and not cell.lstrip().startswith(("=", "+", "-", "@", "\t", "\r"))
    assert cell in (plain(text), f"'{plain(text)}")


@given(TEXTS)
def test_markdown_shows_a_text_as_it_is(text: str) -> None:
    shown = markdown_text(text)
    assert not re.search(r"(?<!\\)(?:\\\\)*[|`*_\[\]$~!#]", re.sub(r"&#64;", "", shown)) or not shown
    assert "<" not in shown and ">" not in shown and "\n" not in shown
    assert not re.search(r"(?<!\\):(?=//)|(?i:\bwww)\.|@", shown)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("minilm-l6-int8 tflite", "minilm-l6-int8 tflite"),
        ("a|b", r"a\|b"),
        ("a & <b>", "a &amp; &lt;b&gt;"),
        ("snake_case", r"snake\_case"),
        ("https://x", r"https\://x"),
    ],
)
def test_markdown_of_usual_texts(text: str, shown: str) -> None:
    assert markdown_text(text) == shown


def test_numbers() -> None:
    assert [milliseconds(v) for v in (0.0, 0.0314, 1.234, 12.34, 123.4, 1e9)] == [
        "0.000",
        "0.031",
        "1.23",
        "12.3",
        "123",
        "1,000,000,000",
    ]
    assert [megabytes(v) for v in (0, 22_790_000, 123_400_000, 5e9, -1e6)] == [
        "0.00",
        "22.79",
        "123.4",
        "5,000",
        "-1.00",
    ]
    assert [hundredths(v) for v in (0.9123, -0.00001, 1e9)] == ["91.23", "0.00", "1.00e+11"]
    assert points(-0.001) == "0.00" and points(1.25) == "1.25"
    assert cut("abcdef", 6) == "abcdef" and cut("abcdefg", 6) == "abcde…"
