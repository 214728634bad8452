"""Each check fails for the fault that it is there for. The engine is a fake: a function of the inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support import fake_manifest

import export.check as check
from export.registry import StoredInput
from export.thresholds import Tolerance
from mobilekit.artifact import Artifact, Manifest
from mobilekit.runtimes.base import EngineInfo
from mobilekit.runtimes.runner import Runner

Inputs = dict[str, NDArray[np.int32]]
Function = Callable[[Inputs], NDArray[np.float64]]


class FakeRunner(Runner):
    """A runner whose engine is a Python function of the padded inputs."""

    def __init__(self, artifact: Artifact, function: Function, counts: Mapping[str, int] | None = None) -> None:
        self.artifact, self._function, self._counts = artifact, function, counts
        self._lengths = artifact.manifest.lengths
        self.engine = EngineInfo("fake", "tflite", "", (), None)  # type: ignore[arg-type]

    def __call__(
        self, input_ids: Any, attention_mask: Any = None, token_type_ids: Any = None, length: Any = None
    ) -> Any:
        ids = np.asarray(input_ids, np.int32)
        chosen = self.length_for(ids.size) if length is None else length
        output = self._function(self.padded(ids, attention_mask, token_type_ids, chosen))
        return {"logits": output.astype(np.float32)[None]}

    def delegation(self) -> Mapping[str, int] | None:
        return self._counts


def good(inputs: Inputs) -> NDArray[np.float64]:
    """Padding-proof: sums over kept tokens only."""
    keep = inputs["attention_mask"][0]
    total = float((inputs["input_ids"][0] * keep).sum())
    return np.array([np.sin(total), np.cos(total)])


@pytest.fixture
def artifact(tmp_path: Path) -> Artifact:
    content = fake_manifest(None)
    for entry in content["golden"]:
        ids = np.array([entry["input_ids"]], np.int32)
        entry["output"] = good({"input_ids": ids, "attention_mask": np.ones_like(ids)}).tolist()
    return Artifact(tmp_path, Manifest(content))


def rows(artifact: Artifact, function: Function) -> dict[str, bool]:
    runner = FakeRunner(artifact, function)
    found = (check.check_output, check.check_padding, check.check_lengths)
    return {f(artifact, runner).name: f(artifact, runner).passed for f in found}


def test_right_artifact_passes(artifact: Artifact) -> None:
    assert rows(artifact, good) == {"output": True, "padding": True, "lengths": True}


def test_ignored_mask_is_seen(artifact: Artifact) -> None:
    def ignores(inputs: Inputs) -> NDArray[np.float64]:
        total = float(inputs["input_ids"].sum())
        return np.array([np.sin(total), np.cos(total)])

    # Pad ids are 0, so only other ids in the padded places show it.
    assert rows(artifact, ignores) == {"output": True, "padding": False, "lengths": True}


def test_output_that_depends_on_the_length_is_seen(artifact: Artifact) -> None:
    def leaks(inputs: Inputs) -> NDArray[np.float64]:
        return good(inputs) + 0.02 * inputs["input_ids"].shape[1]

    assert not rows(artifact, leaks)["padding"]


def test_constant_and_not_finite_outputs_are_seen(artifact: Artifact) -> None:
    assert rows(artifact, lambda _: np.array([0.5, 0.5])) == {"output": False, "padding": True, "lengths": False}

    def overflows(inputs: Inputs) -> NDArray[np.float64]:
        return good(inputs) if inputs["attention_mask"].sum() < 9 else np.array([np.nan, np.nan])

    assert rows(artifact, overflows) == {"output": False, "padding": False, "lengths": False}


def test_wrong_output_is_seen(artifact: Artifact) -> None:
    assert not rows(artifact, lambda inputs: good(inputs)[::-1])["output"]


def test_changed_answer_is_seen_however_good_the_cosine(artifact: Artifact) -> None:
    for entry, output in zip(artifact.manifest.content["golden"], ([9.0, -8.0], [0.5, 0.3]), strict=True):
        entry["output"] = output

    def nearly(inputs: Inputs) -> NDArray[np.float64]:
        return np.array([9.0, -8.0]) if inputs["attention_mask"].sum() == 4 else np.array([0.3, 0.5])

    result = check.check_output(artifact, FakeRunner(artifact, nearly))
    assert not result.passed and "1 answers changed" in result.measured and "0.999" in result.measured


def test_cosine_of_all_logits_together_sees_a_shift() -> None:
    expected = [np.array([2.0, 1.0], np.float32), np.array([1.0, 2.0], np.float32)]
    got = [e + np.float32(0.5) for e in expected]
    assert not check.hold(Tolerance("cosine", 0.999), got, expected)[0]
    assert check.hold(Tolerance("cosine", 0.999), expected, expected) == (True, "1.00000")
    assert check.hold(Tolerance("max_abs", 1e-4), got, expected) == (False, "5.0e-01")


def test_one_bad_embedding_among_good_ones_is_seen() -> None:
    rng = np.random.default_rng(0)
    expected = [rng.normal(size=32).astype(np.float32) for _ in range(9)]
    got = [*expected[:-1], expected[-1] + rng.normal(size=32).astype(np.float32) * 0.2]
    assert not check.hold(Tolerance("cosine", 0.999), got, expected)[0]


@pytest.mark.parametrize(
    ("change", "passed"),
    [
        ({}, True),
        ({"dtype": "int64"}, False),
        ({"name": "ids"}, False),
        ({"shape": (1, 9)}, False),
        ({"shape": (8,)}, False),
    ],
)
def test_inputs_are_asserted_on_the_file(
    artifact: Artifact, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], passed: bool
) -> None:
    names = artifact.manifest.input_names
    inputs = [StoredInput(e, n, "int32", (1, length)) for length, e in artifact.manifest.lengths.items() for n in names]
    inputs[0] = StoredInput(**{**vars(inputs[0]), **change})

    class Fake:
        def read_inputs(self, path: Path) -> list[StoredInput]:
            return inputs

    monkeypatch.setattr(check, "find_target", lambda name: Fake())
    assert check.check_inputs(artifact).passed == passed


def test_error_inside_a_check_is_its_failure_and_the_others_run(artifact: Artifact) -> None:
    results = check.run_checks(artifact, FakeRunner(artifact, good, {"delegated": 9, "total": 10}))
    by_name = {r.name: r for r in results}
    assert not by_name["files"].passed
    assert by_name["delegation"].measured == "90 % of 10 operations"
    assert by_name["output"].passed
