"""The app's self-check has the limits of Python's checks."""

from __future__ import annotations

import re
from pathlib import Path

from export import check, thresholds

FILE = Path("android_demo/core/src/main/kotlin/org/mobilekit/core/check/Thresholds.kt")


def test_constants_are_those_of_python() -> None:
    found = dict(re.findall(r"const val (\w+) = ([\d.e-]+)$", FILE.read_text(), re.MULTILINE))
    assert {name: float(value) for name, value in found.items()} == {
        "LEAST_COSINE": thresholds.LEAST_COSINE,
        "LENGTH_RATIO": thresholds.LENGTH_RATIO,
        "CENTRED_COSINE": thresholds.CENTRED_COSINE,
        "MARGIN": thresholds.PADDING_MARGIN,
        "CLOSE": check._CLOSE,
        "CLOSE_OF_MANY": check._CLOSE_OF_MANY,
        "CONSTANT": 1e-6,
        "HALF_STEPS": 512,
    }


def test_limits_of_padding_are_those_of_python() -> None:
    by_precision = {"SINGLE": "fp32", "HALF": "fp16", "QUANTIZED": "int8", "STATIC": "int8-static"}
    lines = dict(re.findall(r"Precision\.(\w+) -> maxOf\(([^)]+)\)", FILE.read_text()))
    assert set(lines) == set(by_precision)
    shares = {"2e-6 * largest": 2e-6, "largest / HALF_STEPS": 1 / 512, "2 * largest / Byte.MAX_VALUE": 2 / 127}
    for name, scheme in by_precision.items():
        least, share = lines[name].split(", ")
        held = thresholds.thresholds(scheme).padding
        assert (float(least), shares[share]) == (held.limit, held.resolution)
