"""Names in a pack cannot leave the folder, and no two can be one file on any system."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mobilekit.compression.pack.names import first_fault


@pytest.mark.parametrize(
    "names",
    [
        ["a"],
        ["a", "b"],
        ["manifest.json", "model.mlpackage/Data/weights.bin", "model.mlpackage/Manifest.json"],
        ["...", "..a", ".hidden", "a b", "日本語/grüße"],
        ["a", "a.b", "ab"],
        ["a/x", "b/x"],
    ],
)
def test_good_names(names: list[str]) -> None:
    assert first_fault(sorted(names, key=str.encode)) is None


@pytest.mark.parametrize(
    ("names", "fault"),
    [
        ([""], "is no path inside"),
        (["/etc/passwd"], "is no path inside"),
        (["a/"], "is no path inside"),
        ([".."], "is no path inside"),
        (["a/../../b"], "is no path inside"),
        (["a/./b"], "is no path inside"),
        (["C:x"], "a backslash or a colon"),
        (["a\\b"], "a backslash or a colon"),
        (["a\0b"], "control character"),
        (["a\u2028b"], "control character"),
        (["é" * 128], "too long"),
        (["/".join(["x" * 200] * 6)], "too long"),
        (["a", "a"], "not after the one before"),
        (["b", "a"], "not after the one before"),
        (["README", "readme"], "clash"),
        (["Straße", "strasse"], "clash"),
        (["e\u0301", "é"], "clash"),
        (["A/x", "a/y"], "clash"),
        (["a", "a/b"], "clash"),
        (["A", "a/b"], "clash"),
    ],
)
def test_bad_names(names: list[str], fault: str) -> None:
    found = first_fault(names)
    assert found is not None and fault in found and "\n" not in found and found.isprintable()


@given(names=st.lists(st.text(st.sampled_from("aAéE\u0301ß/.\\: x"), max_size=8), max_size=5))
def test_accepted_names_stay_inside_and_differ(names: list[str]) -> None:
    if first_fault(names) is not None:
        return
    root = Path("/archive/folder")
    places = [(root / name).resolve() for name in names]
    assert all(place != root and place.is_relative_to(root) for place in places)
    folded = {unicodedata.normalize("NFC", name.casefold()) for name in names}
    assert len(folded) == len(names)
