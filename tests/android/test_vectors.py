"""The committed vectors are what the scripts write: the Kotlin tests are held against today's Python."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from android import answer_vectors, check_vectors, manifest_vectors

VECTORS = Path(__file__).resolve().parents[2] / "android_demo/core/src/test/resources/vectors"


@pytest.mark.parametrize("script", [answer_vectors, check_vectors, manifest_vectors], ids=lambda each: each.NAME)
def test_committed_vectors_are_the_scripts(script: ModuleType) -> None:
    assert (VECTORS / script.NAME).read_text(encoding="utf-8") == script.vectors(script.COMMITTED)


def test_both_verdicts_are_among_the_vectors() -> None:
    for name, verdict in ((manifest_vectors.NAME, "true]"), (check_vectors.NAME, '"passed": true')):
        lines = (VECTORS / name).read_text(encoding="utf-8").splitlines()
        assert 10 < sum(verdict in line for line in lines) < len(lines) - 10
