"""What exported lengths cost and give."""

from __future__ import annotations

import pytest

from benchmarks import lengths
from benchmarks.lengths import measured, table
from benchmarks.measuring.texts import Texts
from benchmarks.measuring.turns import Protocol

SHORT = Protocol(1, load_processes=1, least_runs=1, least_seconds=0, burst_seconds=0.001)
TEXTS = Texts("made up", (("a good film", None), ("not a good film, and it was very bad", None)))


@pytest.mark.slow
def test_files_of_several_lengths_are_held_against_the_padded_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lengths, "_TARGETS", ("tflite",))
    monkeypatch.setattr(lengths, "_texts", lambda name, data: TEXTS)
    found = measured("tiny-classifier", "made up", ((48,), (16, 48)), SHORT)
    assert [(row["engine"], row["lengths"]) for row in found["rows"]] == [
        ("litert", [48]),
        ("litert_compiled", [48]),
        ("litert", [16, 48]),
        ("litert_compiled", [16, 48]),
    ]
    assert [row["over_padded"] is None for row in found["rows"]] == [True, True, False, False]
    assert found["rows"][2]["bytes"] > found["rows"][0]["bytes"]
    assert found["tokens"]["least"] == 5 and found["texts"]["count"] == 2
    lines = table(found).splitlines()
    assert len(lines) == 8 and lines[2].startswith("| tflite (litert) | 48 |") and "| 1 |" in lines[2]
