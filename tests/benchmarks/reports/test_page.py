"""The page of a report: what is in it, that it needs nothing beside it, and that no text in a report adds markup."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from hostile_reports import hostile
from hypothesis import HealthCheck, given, settings
from page_reader import Reader
from synthetic_reports import report, row

from benchmarks.reports.markup import Markup, element
from benchmarks.reports.page import page, write_page
from benchmarks.reports.plots import Plot
from benchmarks.reports.report import Report
from benchmarks.reports.tables import SYNTHETIC
from mobilekit.errors import InputError

PICTURES = [Plot("a.png", "Bytes against accuracy", b"\x89PNG")]
_ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "class", "role", "scope", "src", "alt"}


def test_every_part_is_in_the_page() -> None:
    rows = [*report(20).rows, row("checked", self_check={"passed": False, "said": "cosine 0.2"})]
    found = Reader(page(report(rows), PICTURES))
    said = "\n".join(found.texts)
    for heading in ("Device and protocol", "Table", "Plots", "Accuracy by length", "Failures", "All timings"):
        assert heading in found.texts
    assert "Rows of data that are answered otherwise than by the float model" in found.texts
    assert "imagined" in said and "at least 20 and 1 s of each work" in said and "200 of movie-sentiment" in said
    assert "1 to 16 tokens" in said and "90.20 (666 rows)" in said
    assert "coremltools palettized: not measured: ValueError: cannot palettize | a `tied` table" in said
    assert "checked: failed its self-check on the device: cosine 0.2" in said
    assert "class=best" in found.values and "src=data:image/png;base64,iVBORw==" in found.values


def test_a_page_needs_nothing_beside_it() -> None:
    text = page(report(20), PICTURES)
    assert not re.search(r"https?:|//[a-z]|<script|<link|@import|url\(|javascript:", text)
    assert {name for _, names in Reader(text).tags for name in names} <= _ATTRIBUTES
    assert "prefers-color-scheme: dark" in text and "default-src &#x27;none&#x27;" in text


def test_a_synthetic_report_is_labelled_at_the_top_and_in_every_table() -> None:
    text = page(report(5), PICTURES)
    assert text.index(SYNTHETIC) < text.index("<h1>")
    captions = re.findall(r"<caption>(.*?)</caption>", text)
    assert len(captions) > 6 and all(caption.startswith("SYNTHETIC") for caption in captions)
    assert "SYNTHETIC" not in page(report(5, synthetic=False), PICTURES)


def test_without_failures_plots_and_accuracy_their_parts_say_so_or_are_left_out() -> None:
    found = Reader(page(report(3, with_accuracy=False), []))
    assert "none" in found.texts and not {"Plots", "Accuracy by length"} & set(found.texts)


@settings(max_examples=30, deadline=timedelta(seconds=20), suppress_health_check=[HealthCheck.too_slow])
@given(pair=hostile())
def test_no_text_of_a_report_adds_a_tag_or_an_attribute(pair: tuple[Report, Report]) -> None:
    bad, plain = (Reader(page(each, PICTURES)) for each in pair)
    assert {tag for tag, _ in bad.tags} <= {tag for tag, _ in plain.tags}
    assert {name for _, names in bad.tags for name in names} <= _ATTRIBUTES
    # As many cells: which are marked as best depends on whether metrics have the same name.
    assert sorted(tag for tag, _ in bad.tags) == sorted(tag for tag, _ in plain.tags)
    assert [value for value in bad.values if value.startswith("src=")] == ["src=data:image/png;base64,iVBORw=="]


def test_elements_escape_what_is_no_markup() -> None:
    inner = element("b", "<i>", class_='"x"')
    assert inner == '<b class="&quot;x&quot;">&lt;i&gt;</b>' and isinstance(inner, Markup)
    assert element("p", inner, ["&", ["'"]]) == f"<p>{inner}&amp;&#x27;</p>"
    assert element("img", src="a", alt="b") == '<img src="a" alt="b">'


def test_only_a_page_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.reports.page.plots", lambda report: PICTURES)
    file, thesis = tmp_path / "a.html", tmp_path / "thesis.html"
    thesis.write_text("<!doctype html>\n<html>mine")
    write_page(report(5), file)
    first = file.read_bytes()
    with pytest.raises(InputError, match="exists already; --force"):
        write_page(report(5), file)
    write_page(report(5), file, force=True)
    assert file.read_bytes() == first
    with pytest.raises(InputError, match="not of the kind that mobilekit would write"):
        write_page(report(5), thesis, force=True)
