"""The byte allowances in the code are those that were measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.overhead import fitted
from export.registry import targets

RESULTS = json.loads((Path(__file__).parents[2] / "benchmarks/results/overhead.json").read_text())


@pytest.mark.parametrize("name", ["coreml", "executorch", "tflite"])
def test_allowance_is_the_measured_one(name: str) -> None:
    overhead, measured = targets()[name].overhead, RESULTS["targets"][name]
    assert fitted(measured["rows"]) == {name: value for name, value in measured.items() if name != "rows"}
    # Rounded up, and by no more than a tenth and a kilobyte: a budget with slack in it would hold nothing.
    for constant, value in (
        (overhead.once, measured["once_bytes"]),
        (overhead.per_length, measured["per_length_bytes"]),
        (overhead.per_layer, measured["per_layer_and_length_bytes"]),
        (overhead.per_static, measured["per_static_use_and_length_bytes"]),
    ):
        assert value <= constant <= value * 1.1 + 1000


@pytest.mark.parametrize("name", ["coreml", "executorch", "tflite"])
def test_measured_files_keep_the_budget(name: str) -> None:
    overhead = targets()[name].overhead
    for row in RESULTS["targets"][name]["rows"]:
        each = overhead.per_length + overhead.per_layer * row["layers"]
        each += overhead.per_static * row.get("static_uses", 0)
        assert row["over_bytes"] <= overhead.once + each * len(row["lengths"]), row
