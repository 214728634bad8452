"""What `export` and `check` print of the gate on data, and what is refused before anything is read."""

from __future__ import annotations

import pytest

from export.judge import DataResult
from mobilekit.cli.gate_options import GateRequest, show_accuracy
from mobilekit.errors import InputError


def result(points: float, warning: str = "", **data: object) -> DataResult:
    about = {"name": "films", "sha256": "", "rows": 5, "of": 9, "limit": 5, "cut": 0, "labelled": True, **data}
    values = {"float": 0.9, "decoded": 0.88, "artifact": 0.9 - points / 100}
    accuracy = {
        "data": about,
        "metric": "accuracy",
        "systems": [{"system": n, "id": n, "values": {"f1": 0.5, "accuracy": v}} for n, v in values.items()],
        "drops": [
            {"from": "float", "to": "artifact", "points": points, "low": 0.5, "high": 3.25},
            {"from": "float", "to": "decoded", "points": 2.0, "low": 1.5, "high": 2.5},
            {"from": "decoded", "to": "artifact", "points": points - 2, "low": -0.001, "high": 1.0},
        ],
    }
    return DataResult("data", True, "", "", accuracy, warning)


def test_the_table_has_the_models_and_every_artifact(capsys: pytest.CaptureFixture[str]) -> None:
    show_accuracy({"coreml": result(2.0), "tflite": result(3.0, "too few rows.", cut=2)})
    out, err = capsys.readouterr()
    head, *lines = [" ".join(line.split()) for line in out.splitlines()]
    assert head == "on films, 5 of 9 rows accuracy f1 points lost in 95 % by the engine in 95 %"
    assert lines == [
        "float model 90.00 50.00 - - - -",
        "compressed weights 88.00 50.00 2.00 1.50 to 2.50 - -",
        "coreml 88.00 50.00 2.00 0.50 to 3.25 0.00 0.00 to 1.00",
        "tflite 87.00 50.00 3.00 0.50 to 3.25 1.00 0.00 to 1.00",
    ]
    assert err == "note: tflite: too few rows.\n"


def test_rows_that_were_cut_are_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    show_accuracy({"coreml": result(2.0, cut=3), "tflite": result(2.0, cut=3)})
    assert capsys.readouterr().err == (
        "note: 3 of 5 rows were cut to the longest exported length, for all models alike.\n"
    )


def test_nothing_measured_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    show_accuracy({})
    assert capsys.readouterr() == ("", "")


def test_what_goes_with_data_needs_data() -> None:
    with pytest.raises(InputError, match="--max-drop is for judging on data: give --data, or leave it out"):
        GateRequest(None, 0.0, None, None, None, {})
    with pytest.raises(InputError, match="--pair-column is for judging on data"):
        GateRequest(None, None, None, None, None, {"pair": "b"})
    GateRequest(None, None, None, None, None, {})
