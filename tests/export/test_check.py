"""Each check fails for the fault that it is there for. The engine is a fake: a function of the inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from runner_support import FakeRunner, Function, Inputs, good, good_artifact

import export.check as check
from export.registry import StoredInput
from export.thresholds import Tolerance
from mobilekit.artifact import Artifact, Manifest
from mobilekit.errors import InputError

SINGLE = check.Kind(2, choice=True)


@pytest.fixture
def artifact(tmp_path: Path) -> Artifact:
    return good_artifact(tmp_path)


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


def test_changed_answer_is_seen_however_good_the_cosine() -> None:
    expected = [np.array([9.0, -9.0], np.float32)] * 7 + [np.array([0.4, -0.4], np.float32)]
    got = [*expected[:7], expected[7][::-1]]
    assert check.hold(Tolerance("cosine", 0.999), got, expected, together=True)[0]
    kept, said = check.hold_answers(SINGLE, got, expected)
    assert not kept and "1 answers changed" in said and "centred 0.999" in said
    # Logits that nearly tie may change places.
    close = [*expected[:7], np.array([0.1, -0.1], np.float32)]
    assert check.hold_answers(SINGLE, [*close[:7], close[7][::-1]], close)[0]


def test_cosine_of_all_logits_together_sees_a_shift() -> None:
    expected = [np.array([2.0, 1.0], np.float32), np.array([1.0, 2.0], np.float32)]
    got = [e + np.float32(0.5) for e in expected]
    assert not check.hold(Tolerance("cosine", 0.999), got, expected, together=True)[0]
    assert check.hold(Tolerance("cosine", 0.999), expected, expected, together=True) == (True, "1.00000")
    assert check.hold(Tolerance("max_abs", 1e-4), got, expected, together=True) == (False, "5.0e-01")


def test_one_bad_embedding_among_good_ones_is_seen() -> None:
    rng = np.random.default_rng(0)
    expected = [rng.normal(size=32).astype(np.float32) for _ in range(9)]
    got = [*expected[:-1], expected[-1] + rng.normal(size=32).astype(np.float32) * 0.2]
    assert not check.hold(Tolerance("cosine", 0.999), got, expected, together=False)[0]


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


def test_offset_of_all_logits_hides_nothing() -> None:
    rng = np.random.default_rng(0)
    expected = [rng.normal(size=2).astype(np.float32) * 0.2 + 20 for _ in range(8)]
    got = [e[::-1].copy() for e in expected]
    assert check.hold(Tolerance("cosine", 0.999), got, expected, together=True)[0]
    kept, said = check.hold_answers(SINGLE, got, expected)
    assert not kept and "answers changed" in said
    assert check.hold_answers(SINGLE, expected, expected)[0]
    one = [rng.normal(size=1).astype(np.float32) * 0.2 + 5 for _ in range(8)]
    assert not check.hold_answers(check.Kind(1, choice=False, answers=False), [10 - o for o in one], one)[0]
    assert not check.hold_answers(check.Kind(2, choice=False), [-e + 40 for e in expected], expected)[0]


def test_single_bad_embedding_is_seen_though_the_mean_is_good() -> None:
    rng = np.random.default_rng(0)
    expected = [rng.normal(size=64).astype(np.float32) for _ in range(20)]
    bad = expected[-1] + rng.normal(size=64).astype(np.float32) * 0.1
    passed, measured = check.hold(Tolerance("cosine", 0.999), [*expected[:-1], bad], expected, together=False)
    assert not passed and float(measured.split(",")[0]) >= 0.999


def test_length_of_an_embedding_is_held(artifact: Artifact) -> None:
    content = artifact.manifest.content
    content["task"], content["labels"], content["problem_type"] = "sentence-embedding", [], None
    assert check.check_output(artifact, FakeRunner(artifact, good)).passed
    longer = check.check_output(artifact, FakeRunner(artifact, lambda inputs: good(inputs) * 1.1))
    assert not longer.passed and "lengths within 10.0%" in longer.measured


def test_every_length_is_tried(artifact: Artifact) -> None:
    def fails_at_seven(inputs: Inputs) -> NDArray[np.float64]:
        return good(inputs) * (np.nan if inputs["attention_mask"].sum() == 7 else 1)

    result = check.check_lengths(artifact, FakeRunner(artifact, fails_at_seven))
    assert not result.passed and "not finite at 7" in result.measured


def test_answer_that_changes_with_padding_is_seen(artifact: Artifact) -> None:
    def near(inputs: Inputs) -> NDArray[np.float64]:
        step = 0.0045 if inputs["input_ids"].shape[1] == 8 else 0.0
        return np.array([0.5 + step, 0.5 + 0.0045 - step])

    passed = check.check_padding(artifact, FakeRunner(artifact, near))
    # Within the tolerance, and the logits were too close for the answer to mean anything.
    assert passed.passed
    for entry in artifact.manifest.content["golden"]:
        assert not check._flipped(np.array([0.5, 0.505]), np.array([0.505, 0.5]), 0.005), entry
    assert check._flipped(np.array([0.5, 0.6]), np.array([0.6, 0.5]), 0.005)


def test_thresholds_are_those_of_the_documents() -> None:
    from export.thresholds import LEAST_COSINE, thresholds

    table = {
        s: (thresholds(s).output.metric, thresholds(s).output.limit, thresholds(s).padding.limit)
        for s in ("fp32", "fp16")
    }
    assert table == {"fp32": ("max_abs", 1e-4, 1e-5), "fp16": ("max_abs", 5e-3, 2e-3)}
    for scheme in ("int8", "anything-below"):
        held = thresholds(scheme)
        assert (held.output.metric, held.output.limit, held.padding.limit) == ("cosine", 0.999, 5e-3)
    assert LEAST_COSINE == 0.997


def test_fixed_scales_may_fall_by_two_steps_of_their_outputs_with_padding() -> None:
    from export.thresholds import thresholds, thresholds_of

    plain = {"kind": "quantized", "bits": 8}
    static = plain | {"activations": {}}
    assert thresholds_of([plain]) == thresholds("int8")
    held, loose = thresholds_of([plain, static]), thresholds("int8")
    assert (held.output, held.device) == (loose.output, loose.device)
    # A step of int8 is at most 1/127 of the largest value: two of them are allowed, three are not.
    assert 2 * 0.9 / 127 <= held.padding.at(0.9).limit < 3 * 0.9 / 127
    assert held.padding.at(0.1).limit == 5e-3


def test_limit_grows_only_where_the_float_type_cannot_tell_values_apart() -> None:
    from export.thresholds import thresholds

    half, single = thresholds("fp16").output, thresholds("fp32").output
    assert half.at(2.0).limit == 5e-3 and single.at(40.0).limit == 1e-4
    assert half.at(16.0).limit == 2 * float(np.spacing(np.float16(16.0)))
    # A wrong answer among logits in the thousands is still seen.
    assert single.at(5000.0).limit == pytest.approx(0.01)


# One output of every head, as a manifest has it: the answer is the same unless a check should see that it is not.


def of_task(artifact: Artifact, task: str, labels: list[str], problem_type: str | None = None) -> Manifest:
    content = artifact.manifest.content
    content |= {"task": task, "labels": labels, "problem_type": problem_type}
    if task in ("token-classification", "question-answering"):
        content["outputs"][0]["shape"] = [1, "length", len(labels)]
    return artifact.manifest


def test_what_counts_as_an_answer_follows_the_head(artifact: Artifact) -> None:
    tags = check._kind(of_task(artifact, "token-classification", ["O", "X", "Y"]))
    assert (tags.width, tags.choice, tags.answers) == (3, True, True) and tags.close == check._CLOSE_OF_MANY
    spans = check._kind(of_task(artifact, "question-answering", ["start", "end"]))
    assert (spans.width, spans.choice, spans.answers) == (2, False, False)
    kinds = {
        "single_label_classification": (True, True),
        "multi_label_classification": (False, True),
        "regression": (False, False),
    }
    for problem, expected in kinds.items():
        kind = check._kind(of_task(artifact, "sequence-classification", ["a", "b"], problem))
        assert (kind.choice, kind.answers, kind.close) == (*expected, check._CLOSE)
    for entry in artifact.manifest.content["golden"]:
        entry["output"] = [0.0] * 256
    words = check._kind(of_task(artifact, "fill-mask", []))
    assert (words.width, words.choice, words.answers) == (256, True, True)


def test_changed_tag_of_one_token_among_hundreds_is_seen() -> None:
    rng = np.random.default_rng(0)
    expected = [rng.normal(size=(100, 3)).astype(np.float32).ravel() * 3 for _ in range(3)]
    got = [e.copy() for e in expected]
    row = int(np.ptp(expected[0].reshape(100, 3), axis=1).argmax())
    got[0].reshape(100, 3)[row] = -got[0].reshape(100, 3)[row]
    kept, said = check.hold_answers(check.Kind(3, choice=True, close=check._CLOSE_OF_MANY), got, expected)
    assert not kept and "1 answers changed" in said


def test_rows_and_columns_of_the_manifest_are_those_that_are_compared() -> None:
    output = np.arange(12, dtype=np.float32).reshape(4, 3)
    assert check.listed(output, [0, 2], None).tolist() == [[0, 1, 2], [6, 7, 8]]
    assert check.listed(output, [3], [0, 2]).tolist() == [[9, 11]]
    assert check.listed(output[1], None, [2]).tolist() == [5]
    assert check.listed(output, None, None) is output


def per_token(inputs: Inputs) -> NDArray[np.float64]:
    """A row for each place, padding too: what stands there is garbage, and nobody may look at it."""
    keep, ids = inputs["attention_mask"][0], inputs["input_ids"][0]
    total = float((ids * keep).sum())
    rows = np.stack([np.sin(ids + total), np.cos(ids + total)], -1)
    return np.where(keep[:, None] == 1, rows, inputs["input_ids"].shape[1] * 7.0)


def test_padding_rows_of_tokens_are_not_compared(artifact: Artifact) -> None:
    of_task(artifact, "token-classification", ["O", "X"])
    assert check.check_padding(artifact, FakeRunner(artifact, per_token)).passed

    def leaks(inputs: Inputs) -> NDArray[np.float64]:
        return per_token(inputs) + 0.02 * inputs["input_ids"].shape[1]

    assert not check.check_padding(artifact, FakeRunner(artifact, leaks)).passed


def test_answer_of_a_token_that_changes_with_padding_is_seen(artifact: Artifact) -> None:
    of_task(artifact, "token-classification", ["O", "X"])

    def turns(inputs: Inputs) -> NDArray[np.float64]:
        # Logits of a thousand may differ by much more than they say.
        rows = np.full((inputs["input_ids"].shape[1], 2), 1000.0)
        rows[:, inputs["input_ids"].shape[1] // 16] += 9.0
        return rows

    for entry in artifact.manifest.content["golden"]:
        entry["output"] = [5000.0] * 2 * len(entry["input_ids"])
    found = check.check_padding(artifact, FakeRunner(artifact, turns))
    assert "answers changed" not in found.measured and found.passed
    for entry in artifact.manifest.content["golden"]:
        entry["output"] = [2000.0] * 2 * len(entry["input_ids"])
    found = check.check_padding(artifact, FakeRunner(artifact, turns))
    assert not found.passed and "answers changed" in found.measured


def test_first_mask_token_is_asked_for_unless_another_is_named(artifact: Artifact) -> None:
    content = of_task(artifact, "fill-mask", []).content
    content["inputs"].append({"name": "predict_mask", "dtype": "int32", "shape": [1, "length"], "meaning": ""})
    content["tokenizer"]["mask_id"] = 9
    runner = FakeRunner(artifact, good)
    ids = np.array([2, 9, 5, 9, 3], np.int32)
    assert runner.padded(ids, None, None, 8)["predict_mask"].tolist() == [[0, 1, 0, 0, 0, 0, 0, 0]]
    assert runner.padded(ids, None, None, 8, 3)["predict_mask"].tolist() == [[0, 0, 0, 1, 0, 0, 0, 0]]
    with pytest.raises(InputError, match="no mask token"):
        runner.padded(np.array([2, 3], np.int32), None, None, 8)
    with pytest.raises(InputError, match="token 5 is asked for; there are 5"):
        runner.padded(ids, None, None, 8, 5)
