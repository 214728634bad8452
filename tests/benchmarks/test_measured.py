"""Reports that the documents' tables are made of: which artifacts are measured, and what is read back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.measured import artifacts_of, read_reports
from benchmarks.measured_tables import table_of
from mobilekit.errors import InputError
from mobilekit.models.load import load

ROW = {
    **dict.fromkeys(("packed_bytes", "parameters", "error", "text_run", "text_pipeline", "memory", "delegation")),
    **dict.fromkeys(("self_check", "accuracy")),
    "name": "tiny-int8/tflite",
    "kind": "artifact",
    "model": "tiny",
    "target": "tflite",
    "scheme": "int8",
    "engine": "litert",
    "sha256": "0" * 64,
    "bytes": 1000,
    "load_ms": [],
    "lengths": [],
    "groups": {},
}
REPORT = {
    "schema": 1,
    "kind": "host",
    "synthetic": True,
    "made_at": "2026-01-02T03:04:05Z",
    "tool": {"name": "mobilekit", "version": "0"},
    "device": {"name": "made up", "system": "none", "processor": "none", "cpus": 1, "memory_bytes": 1},
    "versions": {},
    "protocol": {
        "threads": 1,
        "load_processes": 1,
        "least_runs": 1,
        "least_seconds": 0,
        "in_turn": True,
        "texts": None,
    },
    "rows": [ROW],
    "ratios": [],
}


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
    made = table_of("tiny")({"reports": {"tiny": REPORT}})
    assert "SYNTHETIC" in made
    assert "| tiny-int8/tflite |" in made
