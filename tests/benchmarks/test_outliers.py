"""The benchmark of outliers kept apart, and what its committed result has to say."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.code_tables import outliers
from benchmarks.outliers import PLANS, compare, plan, sizes
from mobilekit.compression.compress import compress
from mobilekit.compression.outliers import cluster_apart
from mobilekit.compression.pack.codings import smallest
from mobilekit.compression.pack.directory import LANE_BITS
from mobilekit.compression.plan_file import read_plan
from mobilekit.compression.records import Dense
from mobilekit.models.load import load

RESULTS = Path(__file__).parents[2] / "benchmarks/results/outliers.json"


def test_rows_are_those_of_the_plans() -> None:
    said: list[str] = []
    plans = [plan("pal2"), plan("pal2", 10), plan("pal2", 0, ["layers.1.*"])]
    rows = compare(load("tiny-embedding"), plans, said.append)
    assert [row["plan"] for row in rows] == [each.to_json() for each in plans]
    assert [json.loads(line) for line in said] == rows
    none, apart, finer = rows
    assert none["weights"] == apart["weights"] == finer["weights"] and none["outliers"] == finer["outliers"] == 0
    assert apart["outliers"] == pytest.approx(0.01 * apart["weights"], rel=0.01)
    # A position takes four bytes and a level one.
    assert apart["record_bytes"] == none["record_bytes"] + 5 * apart["outliers"]
    assert none["packed_bytes"] < apart["packed_bytes"] < apart["record_bytes"]
    assert none["packed_bytes"] < finer["packed_bytes"]
    for row in rows:
        assert list(row["loss"]) == ["movie-sentiment", "editorials"]
        assert all(0 < kind["mean"] <= kind["most"] <= 2 for kind in row["loss"].values())


def test_packed_bytes_are_about_what_codings_take() -> None:
    weight = np.random.default_rng(0).standard_t(5, (384, 768)).astype(np.float32)
    record = cluster_apart(weight, 2, 5)
    assert record.outliers is not None
    compressed = replace(compress(load("tiny-embedding"), "fp32"), records={"some": record, "other": Dense(weight)})
    taken = smallest(record.as_quantized().codes.view(np.uint8).ravel(), 8, 1 << LANE_BITS).cost + 2 * 384
    found = sizes(compressed)
    assert found["weights"] == weight.size and found["outliers"] == record.outliers.positions.size
    assert found["packed_bytes"] < taken < 1.03 * found["packed_bytes"]


def test_plans_are_what_files_would_say(tmp_path: Path) -> None:
    file = tmp_path / "some.toml"
    file.write_text(
        '[[rule]]\npattern = "*"\nscheme = "pal3"\n[[rule]]\npattern = ["layers.0.*", "head.*"]\nscheme = "pal4"\n'
    )
    assert read_plan(file).to_json() == plan("pal3", 0, ["layers.0.*", "head.*"]).to_json()
    file.write_text('[[rule]]\npattern = "*"\nscheme = "pal3"\noutliers = 7\n')
    assert read_plan(file).to_json() == plan("pal3", 7).to_json()


def test_committed_result_is_of_all_plans_and_says_what_outliers_are_worth() -> None:
    rows = json.loads(RESULTS.read_text())["rows"]
    assert [row["plan"] for row in rows] == [each.to_json() for each in PLANS]

    def worst(row: dict[str, Any]) -> float:
        return float(max(kind["mean"] for kind in row["loss"].values()))

    for name in ("pal2", "pal3"):
        own = [row for row in rows if row["plan"][0]["scheme"] == name]
        apart, finer = own[:4], own[4:]
        assert [row["plan"][0].get("outliers", 0) for row in apart] == [0, 2, 5, 10]
        losses = [worst(row) for row in apart]
        assert losses == sorted(losses, reverse=True) and losses[2] < 0.75 * losses[0]
        # Fewer bits than with a finer scheme for some layers, and less is lost.
        assert all(apart[1]["packed_bytes"] < row["packed_bytes"] and losses[1] < worst(row) for row in finer)
        # The first gain most.
        gains = [(before - after) / more for (before, after), more in zip(pairwise(losses), (2, 3, 5), strict=True)]
        assert gains == sorted(gains, reverse=True)


def test_table_names_what_is_apart_and_what_is_finer() -> None:
    loss = {"some text": {"mean": 0.125, "most": 0.25}}
    size = {"weights": 8_000_000, "outliers": 0, "record_bytes": 2_250_000, "packed_bytes": 2_000_000, "loss": loss}
    plans = [plan("pal2"), plan("pal2", 5), plan("pal2", 0, ["a.*", "b.*"])]
    content = {"held_out_texts": 64, "rows": [{"plan": each.to_json(), **size} for each in plans]}
    lines = outliers(content).splitlines()
    assert lines[0].endswith("| bits packed | loss on some text |")
    end = "| 2.25 | 2.00 | 2.00 | 0.125, most 0.250 |"
    names = ["pal2", "pal2, 5 thousandths apart", "pal2; `a.*` and `b.*` pal3"]
    assert lines[2:5] == [f"| {name} {end}" for name in names]
