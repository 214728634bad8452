"""What a command costs: its seconds, and the memory of all its processes."""

from __future__ import annotations

import pytest

from benchmarks.walls import command_cost, help_seconds, measured
from mobilekit.errors import CheckFailedError
from mobilekit.models.load import load


def test_a_command_has_seconds_and_bytes() -> None:
    seconds, most = command_cost(["list", "targets"])
    assert 0.05 < seconds < 60 and 5 * 2**20 < most < 2**31


def test_a_command_that_fails_is_no_measurement() -> None:
    with pytest.raises(CheckFailedError, match=r"mobilekit list nothing: .*nothing"):
        command_cost(["list", "nothing"])


def test_help_is_measured_each_time() -> None:
    assert len(help_seconds(2)) == 2


def test_rounds_are_in_turn_and_the_engines_own_is_of_a_small_model(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    def export_cost(model: str) -> tuple[float, int]:
        order.append(model)
        return (10.0 * len(order), 900) if model == "tiny-classifier" else (1.0, 700)

    monkeypatch.setattr("benchmarks.walls.export_cost", export_cost)
    monkeypatch.setattr("benchmarks.walls.stock_seconds", lambda model: order.append("stock") or 20.0)
    monkeypatch.setattr("benchmarks.walls.help_seconds", lambda times: [0.1] * times)
    found = measured("tiny-classifier", 2)
    assert order == ["tiny-classifier", "stock", "tiny-classifier", "stock", "tiny-embedding"]
    assert found["export_seconds"] == [10, 30] and found["stock_seconds"] == [20, 20]
    assert found["export_over_stock"] == 1.0
    assert (found["export_peak_bytes"], found["engines_peak_bytes"]) == (900, 700)
    assert found["float_bytes"] == sum(values.nbytes for values in load("tiny-classifier").tensors().values())
