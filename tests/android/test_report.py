"""The report that the Android demo's own code wrote in its tests: Python reads it and joins it with a host's."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import run
from synthetic_reports import artifact, report

from benchmarks.measuring.statistics import summary
from benchmarks.measuring.texts import Texts
from benchmarks.reports.report import MARK, read_report, write_report

PHONE = Path(__file__).resolve().parents[2] / "android_demo/core/src/test/resources/report/synthetic.json"


def test_report_follows_the_schema_and_says_that_it_is_synthetic() -> None:
    found = read_report(PHONE)
    assert found.content["synthetic"] and found.content["kind"] == "android" and PHONE.read_bytes().startswith(MARK)
    steady, drifting, broken = found.rows
    assert steady["self_check"]["passed"] and steady["self_check"]["said"].startswith("output: 1.00000")
    assert drifting["memory"]["idle_bytes"] > 0 and broken["error"].startswith("the file is of a newer version")
    assert {each["work"] for each in found.content["ratios"]} == {"8", "16", "rows", "texts"}


def test_written_again_by_python_it_is_the_same(tmp_path: Path) -> None:
    write_report(read_report(PHONE).content, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == PHONE.read_bytes()


def test_figures_and_texts_are_those_of_bench() -> None:
    content = read_report(PHONE).content
    texts = Texts("made-up", (("x", None), ('x "y" é😀', None), ("x y", None)))
    assert content["protocol"]["texts"] == texts.to_dict()
    # The fake engine takes length / 4 ms.
    run_at_8 = content["rows"][0]["lengths"][0]["run"]
    wanted = summary([2.0] * run_at_8["runs"])
    assert (run_at_8["median_ms"], run_at_8["middle80_mean_ms"]) == (wanted.median, wanted.middle80_mean)


def test_compare_joins_it_with_a_host(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    phone = read_report(PHONE)
    hosts = [
        {**artifact("minilm-l6", "tflite", "int8"), "name": f"host-{i}", "sha256": row["sha256"], "engine": "litert"}
        for i, row in enumerate(phone.rows)
    ]
    host = report(hosts, protocol=phone.content["protocol"]).content
    for each in host["rows"]:
        each["lengths"] = phone.rows[1]["lengths"]
    write_report(host, tmp_path / "host.json")
    code, out, err = run(capsys, "compare", str(tmp_path / "host.json"), str(PHONE))
    assert code == 0 and not err, err
    assert out.startswith("SYNTHETIC") and "SYNTHETIC Imagined Phone" in out and "(1.00 x)" in out
