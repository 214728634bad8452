"""What docs/benchmarking.md tells Kotlin and Swift of figures is what the host takes."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.measuring.statistics import NOISY, summary
from benchmarks.reports.report import _DEEPEST, _LARGEST
from mobilekit.schemas import schema

DOCUMENT = (Path(__file__).parents[3] / "docs/benchmarking.md").read_text(encoding="utf-8")


def quantile(values: list[float], q: float) -> float:
    """As the document says."""
    x = sorted(values)
    h = (len(x) - 1) * q
    i = math.floor(h)
    return x[i] + (h - i) * (x[i + 1] - x[i]) if i + 1 < len(x) else x[i]


@pytest.mark.parametrize("count", [1, 2, 3, 10, 11, 200])
def test_figures_are_taken_as_the_document_says(count: int) -> None:
    values = [float(v) for v in np.random.default_rng(count).lognormal(1, 0.4, count)]
    found = summary(values)
    low, middle, high = (quantile(values, q) for q in (0.1, 0.5, 0.9))
    inner = [v for v in values if low <= v <= high] or [middle]
    expected = (middle, high, sum(inner) / len(inner), (high - low) / middle)
    assert (found.median, found.p90, found.middle80_mean, found.spread) == pytest.approx(expected, rel=1e-12)
    assert found.runs == count


def test_the_document_has_its_example_and_limits_right() -> None:
    found = summary([*range(1, 11), 20])
    said = f"median {found.median:g}, p90 {found.p90:g}, middle-80 % mean {found.middle80_mean:g}"
    said += f", spread {found.spread:.2f}"
    assert said in DOCUMENT and f"Above {NOISY:g} other work" in DOCUMENT
    assert f"at most {_LARGEST // 2**20} MB" in DOCUMENT and f"no deeper than {_DEEPEST}" in DOCUMENT


def test_every_field_is_in_the_document() -> None:
    known = schema("report")
    fields = [*known["properties"], *known["properties"]["rows"]["items"]["properties"]]
    fields += [*known["properties"]["device"]["properties"], *known["properties"]["protocol"]["properties"]]
    assert [field for field in fields if not re.search(f"`{field}`", DOCUMENT)] == []
