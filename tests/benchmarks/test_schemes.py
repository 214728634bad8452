"""Models at every scheme: rows of what was made, the table, and what the committed result has to say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from measured_reports import REPORT, timed

from benchmarks import scheme_tables
from benchmarks.schemes import RESULTS, measured, write_rows
from export.registry import targets
from mobilekit.compression.schemes.registry import schemes
from mobilekit.models.load import load


def row(model: str, scheme: str, target: str, **changes: Any) -> dict[str, Any]:
    own = {"bytes": 2_000_000, "packed_bytes": 1_500_000, "parameters": 10**6, "export_wall_s": 3.0}
    checks = [{"passed": True}, {"passed": target != "tflite"}]
    return {
        "model": model, "scheme": scheme, "target": target, "checks": checks, **own, **changes,
    }  # fmt: skip


def test_rows_take_the_place_of_those_before(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    write_rows([row("albert", "pal4", "tflite"), row("minilm-l6", "pal4", "tflite")], file)
    write_rows([row("minilm-l6", "int8", "coreml"), row("minilm-l6", "pal4", "tflite", bytes=7)], file)
    rows = json.loads(file.read_text())["rows"]
    found = [(each["model"], each["scheme"], each["target"], each["bytes"]) for each in rows]
    assert found == [
        ("minilm-l6", "int8", "coreml", 2_000_000),
        ("minilm-l6", "pal4", "tflite", 7),
        ("albert", "pal4", "tflite", 2_000_000),
    ]


def test_tables_have_a_line_a_scheme() -> None:
    rows = [row("minilm-l6", "int8", target) for target in ("coreml", "executorch", "tflite")]
    content = {
        "rows": [*rows, row("minilm-l6", "fp16", "tflite", export_wall_s=9.0), row("albert", "pal4", "coreml")],
        "environment": {"cpus": 2, "processor": "toy"},
    }
    size = "2.00 (1.50)"
    report = {**REPORT, "rows": [timed("minilm-l6-int8/tflite", "litert", 2.0)]}
    table = scheme_tables.builtin({"schemes": content, "measured": {"reports": {"minilm-l6": report}}})
    assert f"| `int8` | {size} | {size} | {size} | - | 2.0 | 5 of 6 |" in table.splitlines()
    assert f"| `fp16` | - | - | {size} | - | - | 1 of 2 |" in table.splitlines()
    assert "3 to 9 s" in table and "pal4" not in table
    others = scheme_tables.others(content).splitlines()
    assert others[2:] == [f"| `albert`, 1.0 M | `pal4` | {size} | - | - | 2 of 2 |"]
    assert {line.count("|") for line in others} == {7}


@pytest.mark.slow
def test_every_target_that_holds_a_scheme_is_in_the_rows(tmp_path: Path) -> None:
    rows = measured(load("tiny-classifier"), "pal4", tmp_path)
    assert [each["target"] for each in rows] == ["coreml", "executorch", "tflite"]
    assert all(each["passed"] and 0 < each["packed_bytes"] < each["bytes"] for each in rows)


def test_committed_rows_are_of_every_scheme_and_passed() -> None:
    rows = json.loads(RESULTS.read_text())["rows"]
    assert all(each["passed"] for each in rows)
    made = [(each["scheme"], each["target"]) for each in rows if each["model"] == "minilm-l6"]
    able = [(name, target.name) for name in schemes() for target in targets().values() if name in target.schemes]
    assert sorted(made) == sorted(able)
