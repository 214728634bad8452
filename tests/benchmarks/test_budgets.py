"""Budgets: each is a row, met or not, made of the committed results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.budgets import Budget, budget_table, budgets
from benchmarks.student_runs import HEADLINE

FILES = Path(__file__).parents[2] / "benchmarks/results"


@pytest.fixture
def results() -> dict[str, Any]:
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in FILES.glob("*.json")}


def found(results: dict[str, Any], start: str) -> list[Budget]:
    return [each for each in budgets(results) if each.about.startswith(start)]


@pytest.mark.parametrize(
    ("value", "most", "met"), [(3, True, True), (3.1, True, False), (3, False, True), (2.9, False, False)]
)
def test_an_aim_is_met_at_its_limit(value: float, most: bool, met: bool) -> None:
    assert Budget("", 3, value, "", most).met == met


def test_each_kind_of_budget_has_rows(results: dict[str, Any]) -> None:
    starts = (
        "bytes",
        "packed",
        "stock export",
        "ONNX",
        "time padded",
        "that over the stock",
        "memory",
        "coremltools",
        "seconds",
        "points",
    )
    for start in (*starts, "percent of the teacher"):
        assert found(results, start), start
    assert all(each.measured for each in budgets(results))


def test_a_file_that_is_too_large_is_a_row_that_is_missed(results: dict[str, Any]) -> None:
    assert found(results, "bytes")[0].met
    row = results["schemes"]["rows"][0]
    check = next(check for check in row["checks"] if check["name"] == "bytes")
    check["measured"], check["limit"] = "1,001", "<= 1,000"
    (budget,) = found(results, "bytes")
    assert not budget.met and budget.measured == "at most 1.001"
    assert "| **missed** |" in budget_table(results)


def test_a_loss_beyond_its_aim_is_missed(results: dict[str, Any]) -> None:
    row = next(row for row in results["drops"]["rows"] if row["variant"] == "int8")
    row["drop"] = 0.0031
    (budget,) = found(results, "points lost, MiniLM cross-fitted, int8")
    assert budget.measured == "0.31" and not budget.met


def test_all_students_that_were_aimed_at_have_a_row_when_they_were_trained(results: dict[str, Any]) -> None:
    rows = found(results, "percent")
    assert 0 < len(rows) <= sum(row.aim is not None for row in HEADLINE)
