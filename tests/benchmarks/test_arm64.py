"""The figures of arm64 against x86-64: how they are made, and what the committed ones say of the tolerance."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from arm64_support import fetched
from runner_support import FakeRunner, good, good_artifact

import benchmarks.arm64 as arm64

# Twice the right outputs, in the same direction.
TWICE = """
found = {}
for number in {key.split(":")[0] for key in given.files}:
    ids, mask = (given[key][0] for name in ("input_ids", "attention_mask") for key in given.files
                 if key.startswith(number + ":") and key.endswith(":" + name))
    total = float((ids * mask).sum())
    found[number + ":logits"] = 2 * np.array([[np.sin(total), np.cos(total)]], np.float32)
np.savez(outputs, **found)
"""


def test_a_row_has_every_distance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    artifact = good_artifact(tmp_path)
    monkeypatch.setattr(arm64, "open_artifact", lambda artifact: FakeRunner(artifact, good))
    monkeypatch.setattr(FakeRunner, "close", lambda self: None)
    row = arm64.measured(artifact, fetched(tmp_path, TWICE))
    largest = max(np.abs(entry["output"]).max() for entry in artifact.manifest.content["golden"])
    assert row["arm64_against_torch"]["max_abs"] == pytest.approx(largest, rel=1e-2)
    assert row["host_against_torch"]["max_abs"] < 1e-6 < row["arm64_against_host"]["max_abs"]
    assert row["arm64_against_host"]["cosine_least"] == pytest.approx(1)
    assert (row["inputs"], row["limit"], row["passed"]) == (2, "cosine >= 0.995", True)


def test_committed_figures_are_those_that_the_tolerance_was_made_for() -> None:
    content = json.loads(arm64.RESULTS.read_text())
    rows = content["rows"]
    assert all(row["passed"] for row in rows) and {row["target"] for row in rows} == {"executorch", "tflite"}
    for row in rows:
        apart = row["arm64_against_host"]["max_abs"]
        # "About 5e-3" where activations are rounded (export/thresholds.py), and the last digits in floats.
        assert apart < 1e-5 if row["scheme"] in ("fp32", "fp16") else 1e-3 < apart < 1e-2, row
    assert {"fp32", "int8", "int4"} <= {row["scheme"] for row in rows}


def test_no_time_is_told() -> None:
    content = json.loads(arm64.RESULTS.read_text())
    assert not re.search(r'(_ms|_s|seconds|wall)"', json.dumps(content["rows"]))
