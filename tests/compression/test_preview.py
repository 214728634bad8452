from __future__ import annotations

import numpy as np
import pytest

from mobilekit.compression.compress import compress
from mobilekit.compression.plan import SKIP, Plan, Rule, plan_of
from mobilekit.compression.preview import SMOOTHING, preview, record_bytes, relative_error, total
from mobilekit.compression.records import Clustered, Outliers
from mobilekit.compression.schemes.registry import scheme
from mobilekit.models.load import load


def test_every_tensor_is_there_with_the_rule_that_won_and_its_error() -> None:
    model = load("tiny-classifier")
    plan = Plan("p", (Rule("*", scheme("int8")), Rule("embeddings.*", scheme("int4")), Rule("head.*", SKIP)))
    rows = {row.name: row for row in preview(model, plan)}
    compressed = compress(model, plan)
    assert rows.keys() == compressed.records.keys()
    for name, values in model.tensors().items():
        row, decoded = rows[name], compressed.decoded()[name]
        assert row.parameters == values.size and row.bytes == record_bytes(compressed.records[name])
        assert row.error * np.linalg.norm(values) == pytest.approx(np.linalg.norm(decoded - values), rel=1e-3)
    table, norm, head = (rows[f"{n}.weight"] for n in ("embeddings.token", "embeddings.norm", "head.pooler"))
    assert (table.rule, table.scheme, table.is_weight) == (1, "int4", True) and 0.05 < table.error < 0.2
    assert (norm.rule, norm.scheme, norm.is_weight, norm.error) == (1, "int4", False, 0.0)
    assert (head.rule, head.scheme, head.error) == (2, "skip", 0.0)
    assert rows["layers.0.ffn.up.weight"].rule == 0 and 0 < rows["layers.0.ffn.up.weight"].error < 0.02
    # A vector of smoothing is stored, and is no parameter of the model.
    vector = rows["layers.0.ffn.smooth.weight"]
    assert (vector.scheme, vector.parameters, vector.bytes, vector.rule) == (SMOOTHING, 0, 4 * 64, None)
    assert total(rows.values()).parameters == compressed.parameters


def test_tensors_without_a_rule_have_none() -> None:
    rows = {row.name: row for row in preview(load("tiny-shared"), Plan("p", (Rule("head.*", scheme("int8")),)))}
    row = rows["layers.0.attention.key.weight"]
    assert (row.rule, row.scheme, row.error) == (None, "skip", 0.0)


@pytest.mark.parametrize(("name", "bits"), [("fp32", 32), ("fp16", 16), ("int8", 8.25), ("int4", 4.25)])
def test_average_bits_have_scales_in_them(name: str, bits: float) -> None:
    model = load("tiny-classifier")
    rows = [r for r in preview(model, plan_of(name)) if r.is_weight and r.name.startswith("layers.0.attention")]
    # Rows of 64 columns: a float16 scale is a quarter bit a weight.
    assert total(rows).bits == pytest.approx(bits)


def test_codebooks_are_counted() -> None:
    codes, codebook = np.zeros((8, 16), np.uint8), np.zeros((2, 4), np.int8)
    record = Clustered(codes, codebook, np.ones((8, 1), np.float32))
    assert record_bytes(record) == 8 * 16 * 2 // 8 + 8 * 2 + 2 * 4
    apart = Clustered(codes, codebook, record.scale, Outliers(np.int32([3, 9]), np.int8([1, 2])))
    assert record_bytes(apart) == record_bytes(record) + 2 * 5


def test_error_of_zeros_is_zero() -> None:
    nothing = np.zeros(3, np.float32)
    assert relative_error(nothing, nothing) == 0 and relative_error(nothing, nothing + 2) == 1
    assert total([]).bits == 0
