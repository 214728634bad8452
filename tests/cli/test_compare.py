"""`mobilekit compare`: what it prints and writes, and its exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_support import run
from synthetic_reports import artifact, report

from benchmarks.reports.report import write_report

SHARED = [artifact("minilm-l6", target, "int8") for target in ("tflite", "executorch")]


def device(name: str) -> dict[str, Any]:
    return {**report(2).content["device"], "name": name}


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, the current one, with host.json, phone.json and, of the host, slower.json."""
    monkeypatch.chdir(tmp_path)
    slow = [artifact("minilm-l6", target, "int8", speed=1.5) for target in ("tflite", "executorch")]
    write_report(report(SHARED, device=device("host")).content, Path("host.json"))
    write_report(report(slow, [], device=device("phone"), kind="android").content, Path("phone.json"))
    write_report(report(slow, device=device("host")).content, Path("slower.json"))
    return tmp_path


def test_two_reports_are_one_table(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "compare", "host.json", "phone.json")
    assert code == 0 and not err
    assert out.startswith("SYNTHETIC") and "SYNTHETIC phone" in out and "(1.50 x)" in out


def test_one_report_is_shown_with_its_marks(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "compare", "host.json")
    assert code == 0 and out.count("SYNTHETIC") == 2 and "points lost to teacher" in out and "*" in out


def test_json_is_for_machines(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "compare", "host.json", "phone.json", "--base", "phone", "--json")
    found = json.loads(out)
    assert code == 0 and found["base"] == "SYNTHETIC phone" and found["limits"] == []
    ratios = [m["times_base"]["32"] for each in found["artifacts"] for m in each["measured"] if m["times_base"]]
    assert ratios == [pytest.approx(1 / 1.5, abs=1e-4)] * 2


def test_folders_hold_all_that_can_be_made(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    code, out, _ = run(capsys, "compare", "host.json", "phone.json", "--out", "both")
    assert code == 0
    names = ["comparison.csv", "comparison.html", "comparison.json", "comparison.md", "timings.png"]
    assert sorted(file.name for file in Path("both").iterdir()) == names and f"both: {', '.join(names)}" in out
    assert run(capsys, "compare", "host.json", "--out", "one")[0] == 0
    plots = {"bytes-accuracy.png", "latency-accuracy.png", "latency-length.png", "bytes-groups.png"}
    made = {file.name for file in Path("one").iterdir()}
    assert made == {*plots, "report.html", "report.md", "comparison.csv", "comparison.json"}
    first = {file.name: file.read_bytes() for file in Path("one").iterdir()}
    assert run(capsys, "compare", "host.json", "--out", "one", "--force")[0] == 0
    assert {file.name: file.read_bytes() for file in Path("one").iterdir()} == first


def test_a_slower_report_is_exit_3_with_its_rows(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["compare", "slower.json", "--baseline", "host.json", "--fail-if-slower"]
    code, out, err = run(capsys, *line, "20")
    assert code == 3 and re.search(r"\+50\.0 % +slower", out)
    assert err.count("\n") == 1 and "error: against host.json: minilm-l6-int8 tflite at 16 slower (+50.0 %)" in err
    assert run(capsys, *line, "60")[0] == 0
    code, out, _ = run(capsys, *line, "20", "--json")
    assert code == 3 and {each["verdict"] for each in json.loads(out)["limits"]} == {"slower"}


def test_noise_is_said_and_passes(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = json.loads(Path("slower.json").read_text())
    for row in content["rows"]:
        for each in row["lengths"]:
            each["run"]["spread"] = 0.9
        row["text_run"]["spread"] = row["text_pipeline"]["spread"] = 0.9
    write_report(content, Path("noisy.json"))
    code, out, err = run(capsys, "compare", "noisy.json", "--baseline", "host.json", "--fail-if-slower", "20")
    assert code == 0 and "undecided: other work ran beside (spread 90 %)" in out
    assert err == "note: 12 of 12 timings were too noisy to decide; measure again.\n"


def test_a_larger_report_is_exit_3(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = json.loads(Path("host.json").read_text())
    content["rows"][0]["bytes"] *= 2
    write_report(content, Path("larger.json"))
    line = ["compare", "larger.json", "--baseline", "host.json", "--fail-if-larger", "1"]
    code, _, err = run(capsys, *line)
    assert code == 3 and "minilm-l6-int8 tflite bytes larger (+100.0 %)" in err
    # Files of another sha256 or size are what a baseline is for.
    assert run(capsys, *line, "--fail-if-slower", "5")[0] == 3


def test_comparing_loads_no_engine(reports: Path) -> None:
    code = "import sys; from mobilekit.cli.main import main\nmain(['compare', 'host.json', 'phone.json'])\n"
    code += "assert not {'torch', 'coremltools', 'executorch', 'tensorflow', 'matplotlib'} & set(sys.modules)"
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_names_that_steer_terminals_or_look_like_markup_are_shown(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.loads(Path("host.json").read_text())
    content["ratios"], content["device"]["name"] = [], "[red]\u202eevil[/]"
    write_report(content, Path("evil.json"))
    code, out, _ = run(capsys, "compare", "evil.json", "phone.json")
    assert code == 0 and "[red]\\u{202e}evil[/]" in out and "\u202e" not in out
