"""The comparison of ways to find codes, and what its committed result has to say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.code_tables import METHODS
from benchmarks.codes import Plan, map_errors, outputs, records_by
from mobilekit.compression.calibrate import linear_maps, second_moments
from mobilekit.compression.compress import compress
from mobilekit.compression.records import Quantized
from mobilekit.models.load import load
from mobilekit.text.calibration import TEXTS

RESULTS = Path(__file__).parents[2] / "benchmarks/results/codes.json"


@pytest.mark.parametrize("block", [None, 32])
def test_methods_compress_the_same_tensors(block: int | None) -> None:
    model = load("tiny-embedding")
    scheme = "int4" if block is None else "int4-g32"
    expected = {n: r.shape for n, r in compress(model, scheme, ()).records.items() if isinstance(r, Quantized)}
    seen = set()
    for method in METHODS:
        records = records_by(method, model, TEXTS[:12], Plan(4, (), block))
        assert records.keys() == model.tensors().keys()
        assert {n: r.shape for n, r in records.items() if isinstance(r, Quantized)} == expected
        seen.add("".join(record.fingerprint() for record in records.values()))
    assert len(seen) == len(METHODS)


def test_errors_are_those_of_outputs() -> None:
    model, name = load("tiny-embedding"), "layers.0.ffn.up"
    seen = []
    handle = linear_maps(model.module)[name].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0][0]))
    outputs(model, TEXTS[3:4])
    handle.remove()
    records = records_by("largest", model, (), Plan(3, ()))
    weight, x = model.tensors()[f"{name}.weight"], seen[0].numpy().T
    lost = (weight - records[f"{name}.weight"].decode()) @ x
    found = map_errors(model, records, second_moments(model, TEXTS[3:4], [name]))
    assert found == {name: pytest.approx(np.square(lost).sum() / np.square(weight @ x).sum(), rel=1e-3)}


def test_committed_result_shows_what_each_step_is_worth() -> None:
    rows = json.loads(RESULTS.read_text())["rows"]

    def loss(
        bits: int, method: str, block: int | None = None, text: str | None = "built-in", levels: bool = False
    ) -> float:
        asked = [bits, block, method, None if method in ("largest", "searched") else text, levels]
        (row,) = (r for r in rows if [r[k] for k in ("bits", "block", "method", "text", "levels")] == asked)
        return max(kind["mean"] for kind in row["loss"].values())

    for bits in (4, 3):
        steps = [loss(bits, method) for method in ("largest", "searched", "compensated", "moved")]
        assert steps == sorted(steps, reverse=True) and steps[-1] < 0.25 * steps[0]
    assert loss(4, "moved", 32) < 0.3 * loss(4, "largest", 32)
    for bits in (6, 4, 3, 2):
        assert loss(bits, "moved", levels=True) < 0.7 * loss(bits, "searched", levels=True)
    # Search alone does little at 8 bits.
    assert 0.8 < loss(8, "searched") / loss(8, "largest") < 1
    assert loss(4, "moved", text="few") > 1.2 * loss(4, "moved")
