"""Reports that the documents' tables are made of: which artifacts are measured, and what is read back."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from measured_reports import REPORT, ROW, timed

from benchmarks.measured import artifacts_of, read_reports
from benchmarks.measured_pages import FOLDER, write_page
from benchmarks.measured_tables import full, milliseconds_of, short
from mobilekit.errors import InputError
from mobilekit.models.load import load


def test_the_artifacts_of_a_model_are_found_by_their_names(tmp_path: Path) -> None:
    for name in ("tiny-classifier-int8", "tiny-classifier-pal4", "tiny-embedding-int8"):
        for target in ("coreml", "tflite"):
            (tmp_path / name / target).mkdir(parents=True)
            (tmp_path / name / target / "manifest.json").write_text("{}")
    model = load("tiny-classifier")
    found = [f"{path.parent.name}/{path.name}" for path in artifacts_of(model, tmp_path, ())]
    assert found == [f"tiny-classifier-{s}/{t}" for s in ("int8", "pal4") for t in ("coreml", "tflite")]
    assert len(artifacts_of(model, tmp_path, ("pal4",))) == 2
    with pytest.raises(InputError, match="has no artifacts of tiny-classifier"):
        artifacts_of(model, tmp_path, ("pal3",))


def test_reports_are_read_back_and_validated(tmp_path: Path) -> None:
    file = tmp_path / "measured.json"
    assert read_reports(file) == {}
    file.write_text(json.dumps({"reports": {"tiny": REPORT}}))
    assert read_reports(file)["tiny"].rows == [ROW]
    file.write_text(json.dumps({"reports": {"tiny": {**REPORT, "rows": []}}}))
    with pytest.raises(InputError, match="tiny: no report of mobilekit"):
        read_reports(file)


def test_a_model_has_a_table_of_its_own() -> None:
    made = full({"reports": {"tiny": REPORT}}, "tiny")
    assert "SYNTHETIC" in made
    assert "| tiny-int8/tflite |" in made


REPORT_OF_THREE = {
    **REPORT,
    "rows": [
        timed("a.b-pal4/tflite", "litert", 3.0),
        timed("a.b-int8/tflite (litert_compiled)", "litert_compiled", 9.0),
        timed("a.b-int8/tflite", "litert", 2.0),
    ],
}


def test_a_short_table_has_a_line_an_artifact_by_its_usual_engine() -> None:
    lines = short({"reports": {"a.b": REPORT_OF_THREE}}, "a_b").splitlines()
    assert lines[0].startswith("| scheme | target | MB | packed MB | ") and lines[0].endswith("| ms at 32 |")
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| `int8`", "| `pal4`"]
    assert [line.split(" | ")[-1] for line in lines[2:]] == ["2.00 |", "3.00 |"]
    assert milliseconds_of({"reports": {"a.b": REPORT_OF_THREE}}, "a.b") == {
        ("int8", "tflite"): [2.0],
        ("pal4", "tflite"): [3.0],
    }


def test_a_page_has_the_plots_that_it_names(tmp_path: Path) -> None:
    model = next(iter(read_reports()))
    write_page(model, read_reports()[model], tmp_path)
    page = (tmp_path / f"{model}.md").read_text()
    pictures = re.findall(r"\]\((\S+\.png)\)", page)
    assert pictures and sorted(pictures) == sorted(file.name for file in tmp_path.glob("*.png"))
    assert "sizes and times" in page and f"# `{model}`" in page


def test_every_report_has_a_page_and_every_page_a_report() -> None:
    assert {file.stem for file in FOLDER.glob("*.md")} == set(read_reports())
