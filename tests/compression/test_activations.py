from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support import CLASSIFIER, TINY, random_compressed

from mobilekit.compression.activations import Activation, Static, static_from_json
from mobilekit.compression.compressed import load_records, save_records
from mobilekit.compression.records import Dense
from mobilekit.errors import CompressionError, InputError

GIVEN = Activation(0.125, -5)


def test_codes_are_the_nearest_and_stay_in_their_range() -> None:
    values = np.array([-100.0, -15.4, -0.07, 0.0, 0.07, 0.3125, 100.0], np.float32)
    # 0.3125 is halfway between two codes: the even one.
    assert GIVEN.codes(values).tolist() == [-128, -128, -6, -5, -4, -3, 127]
    assert GIVEN.rounded(values).tolist() == [-15.375, -15.375, -0.125, 0.0, 0.125, 0.25, 16.5]
    assert np.array_equal(GIVEN.rounded(GIVEN.rounded(values)), GIVEN.rounded(values))


@pytest.mark.parametrize("scale", [0.0, -1.0, 0.1, 1e-5, 1e6, float("nan"), float("inf")])
def test_scales_that_float16_does_not_hold_are_refused(scale: float) -> None:
    with pytest.raises(CompressionError, match=r"scale of activations has to be > 0 and exact in float16"):
        Activation(scale, 0)


@pytest.mark.parametrize("zero_point", [-129, 128])
def test_zero_points_are_codes(zero_point: int) -> None:
    with pytest.raises(CompressionError, match=r"zero point of activations is a code, not"):
        Activation(0.5, zero_point)


def test_activations_are_saved_verbatim(tmp_path: Path) -> None:
    model = random_compressed(TINY, CLASSIFIER, "int8-static")
    save_records(model, tmp_path / "records")
    again = load_records(tmp_path / "records")
    assert model.activations and again.activations == model.activations
    assert again.digest() == model.digest() != replace(model, activations={}).digest()


def test_other_schemes_have_none(tmp_path: Path) -> None:
    model = random_compressed(TINY, CLASSIFIER, "int8")
    save_records(model, tmp_path / "records")
    assert (
        not load_records(tmp_path / "records").activations and b"activations" not in (tmp_path / "records").read_bytes()
    )


def test_activations_belong_to_int8_weights() -> None:
    model = random_compressed(TINY, CLASSIFIER, "int4")
    with pytest.raises(
        CompressionError, match=r"layers.0.ffn.up has activations with fixed scales, but no int8 weight"
    ):
        replace(model, activations={"layers.0.ffn.up": Static(GIVEN, GIVEN)})


def test_their_biases_are_whole_numbers() -> None:
    model = random_compressed(TINY, CLASSIFIER, "int8-static")
    name = next(iter(model.activations))
    for bias in (model.records[f"{name}.bias"].decode() * np.float32(1.01), np.zeros(3, np.float32)):
        with pytest.raises(CompressionError, match=rf"{name} has activations .*, but no bias in whole numbers"):
            replace(model, records={**model.records, f"{name}.bias": Dense(bias)})


@pytest.mark.parametrize(
    "broken",
    [
        {"input": {"scale": 0.125, "zero_point": 0}},
        {"input": {"scale": 0.125, "zero_point": 0}, "output": {"scale": "1", "zero_point": 0}},
        {"input": {"scale": 0.125, "zero_point": 0.5}, "output": {"scale": 1.0, "zero_point": 0}},
        {"input": {"scale": 0.125, "zero_point": True}, "output": {"scale": 1.0, "zero_point": 0}},
        {"input": {"scale": 0.1, "zero_point": 0}, "output": {"scale": 1.0, "zero_point": 0}},
        [],
    ],
)
def test_broken_activations_are_not_read(broken: object, tmp_path: Path) -> None:
    with pytest.raises((KeyError, TypeError, CompressionError)):
        static_from_json(broken)  # type: ignore[arg-type]


def test_records_with_broken_activations_are_one_line(tmp_path: Path) -> None:
    model = random_compressed(TINY, CLASSIFIER, "int8-static")
    save_records(model, tmp_path / "records")
    content = (tmp_path / "records").read_bytes()
    spoilt = content.replace(b'zero_point\\": ', b'zero-point\\": ')
    assert spoilt != content
    (tmp_path / "records").write_bytes(spoilt)
    with pytest.raises(InputError, match=r"incomplete records \('zero_point'\); compress again"):
        load_records(tmp_path / "records")
