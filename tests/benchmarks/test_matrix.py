"""The committed result of `make test-all` has every combination, and all of them passed."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.matrix import SCHEMES
from benchmarks.matrix_models import family_names, tasks
from export.registry import targets

RESULTS = json.loads((Path(__file__).parents[2] / "benchmarks/results/matrix.json").read_text(encoding="utf-8"))


def test_every_combination_is_there_and_passed() -> None:
    found = {(row["family"], row["task"], row["scheme"], row["target"]): row["passed"] for row in RESULTS["rows"]}
    expected = {
        (family, task, scheme, name)
        for family in family_names()
        for task in tasks()
        for scheme in SCHEMES
        for name, target in targets().items()
        if scheme in target.schemes
    }
    assert set(found) == expected
    assert all(found.values())
