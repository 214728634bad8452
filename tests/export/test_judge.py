"""The gate on data, by hand: an artifact that is a function of ids; and with real files, also damaged ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lessons import model
from numpy.typing import NDArray
from support import fake_manifest

import export.pipeline as pipeline
from export.check import run_checks
from export.decoded import with_stored_weights
from export.gate import Gate
from export.judge import DataResult, Judge, data_check, data_result, judge_of_export
from export.pipeline import ExportError, export, recheck
from mobilekit.artifact import Artifact, Manifest, open_folder, validated
from mobilekit.compression.compress import compress
from mobilekit.compression.compressed import CompressedModel
from mobilekit.compression.folder import save_compressed
from mobilekit.compression.records import Dense, Quantized
from mobilekit.errors import InputError
from mobilekit.models.config import HeadConfig
from mobilekit.models.load import load
from mobilekit.models.model import Model
from mobilekit.runtimes.answer import artifact_tokenizer
from mobilekit.runtimes.base import EngineInfo
from mobilekit.runtimes.eager import decoded_module
from mobilekit.runtimes.runner import Runner
from mobilekit.text.data.rows import Row, TextData, TextRow
from mobilekit.training.exam import answers, exam, model_outputs

LABELS = ("negative", "positive")
WORDS = "a an and bad film good great in is it movie not of that the this to very was with".split()
TEXTS = [" ".join(WORDS[(i * 7 + k * k) % 20] for k in range(1 + i % 9)) for i in range(60)]


class FakeRunner(Runner):
    """An artifact whose outputs are listed."""

    def __init__(self, outputs: Sequence[NDArray[np.floating]], timed: bool = True) -> None:
        self.artifact = Artifact(Path("fake"), Manifest(fake_manifest(None)))
        self.engine = EngineInfo("fake", "tflite", "", (), None, timed)  # type: ignore[arg-type]
        self.listed, self.asked = outputs, []

    def run_many(self, input_ids: Any, token_type_ids: Any, predict: Any = None) -> Iterator[tuple[int, Any]]:
        self.asked += [ids.tolist() for ids in input_ids]
        yield from reversed(list(enumerate(self.listed)))


@pytest.fixture(autouse=True)
def _tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such an artifact has no files."""
    real = artifact_tokenizer
    own = load("tiny-classifier").tokenizer
    for place in ("export.asking", "export.judge"):
        monkeypatch.setattr(f"{place}.artifact_tokenizer", lambda a: own if a.folder == Path("fake") else real(a))


def said(name: str | Model, texts: Sequence[str] = TEXTS, length: int = 48) -> list[int]:
    """What a classifier of the built-in ones answers, by label."""
    made = load(name) if isinstance(name, str) else name
    of = exam(made, [TextRow(text) for text in texts], length)
    return [int(i) for i in answers(of, model_outputs(made, of))[0]]


def data_of(labels: Sequence[int], texts: Sequence[str] = TEXTS) -> TextData:
    rows: list[Row] = [TextRow(text, None, label) for text, label in zip(texts, labels, strict=True)]
    return TextData("films", "sequence-classification", LABELS, "single_label_classification", rows)


def logits(labels: Sequence[int]) -> list[NDArray[np.float32]]:
    return [np.array([1.0, -1.0] if label == 0 else [-1.0, 1.0], np.float32) for label in labels]


def judged(gate: Gate, given: Sequence[int], **more: Any) -> DataResult:
    judge = Judge(gate, load("tiny-classifier").head, 48)
    judge.ask({"float": load("tiny-classifier"), **more}, lambda text: None)
    return judge(FakeRunner(logits(given)), lambda text: None)


@pytest.mark.parametrize("who", ["teacher", "against"])
def test_a_model_whose_outputs_are_no_numbers_is_refused_by_name(who: str) -> None:
    broken = load("tiny-classifier")
    broken.name = "broken"
    with torch.no_grad():
        broken.module.encoder.layers[1].ffn.up.bias.fill_(1e30)
    gate = Gate(data_of([0, 1], TEXTS[:2]), **{who: broken})
    made = load("tiny-classifier")
    said = {"teacher": "the teacher", "against": "the float model"}[who]
    with pytest.raises(InputError, match=rf"^{said} \(broken\): row \d: the output has values that are not finite"):
        judge_of_export(gate, made, compress(made, "fp32"), (16,), lambda _: None)


def test_the_two_figures_are_right_by_hand() -> None:
    exact = said("tiny-classifier")
    assert 10 < sum(exact) < 50
    # Right labels are the float model's, but for six rows; the artifact says otherwise than it in twelve.
    right = [1 - label if i < 6 else label for i, label in enumerate(exact)]
    given = [1 - label if i >= 48 else label for i, label in enumerate(exact)]
    found = judged(Gate(data_of(right), 15), given)
    values = {each["system"]: each["values"] for each in found.accuracy["systems"]}
    assert values["float"]["accuracy"] == 0.9 and values["artifact"]["accuracy"] == 0.7
    assert values["artifact"]["agreement"] == 0.8
    (drop,) = found.accuracy["drops"]
    assert (drop["from"], drop["to"], drop["points"]) == ("float", "artifact", 20.0)
    assert 5 < drop["low"] < 15 < 25 < drop["high"] < 35
    assert not found.passed and found.accuracy["verdict"] == "failed" and found.limit == "<= 15 points"
    assert found.measured.startswith("accuracy 70.00 against 90.00 of the float model: 20.00 points lost, ")
    assert judged(Gate(data_of(right), 20), given).accuracy["verdict"] == "unsure"
    unsure = judged(Gate(data_of(right), 20), given)
    assert unsure.passed and "the limit of 20 points lies inside the 95 % interval" in unsure.warning
    sure = judged(Gate(data_of(right), 40), given)
    assert sure.accuracy["verdict"] == "passed" and not sure.warning
    assert judged(Gate(data_of(right)), given).accuracy["verdict"] == "reported"


def test_what_compression_and_what_the_engine_loses_are_told_apart() -> None:
    exact = said("tiny-classifier")
    other = model(HeadConfig("sequence-classification", LABELS))
    theirs = said(other)
    found = judged(Gate(data_of(exact)), exact, decoded=other, teacher=other)
    drops = {(drop["from"], drop["to"]): drop["points"] for drop in found.accuracy["drops"]}
    lost = round(100 * (1 - np.mean(np.equal(exact, theirs))), 6)
    assert lost > 5 and drops == {
        ("float", "artifact"): 0.0,
        ("float", "decoded"): lost,
        ("decoded", "artifact"): -lost,
        ("teacher", "artifact"): -lost,
    }
    assert [each["system"] for each in found.accuracy["systems"]] == ["teacher", "float", "decoded", "artifact"]
    assert found.in_manifest()["teacher"] == "model-1"


def test_answers_that_are_all_the_same_are_refused_whatever_the_limit() -> None:
    exact = said("tiny-classifier")
    for most in (None, 100):
        found = judged(Gate(data_of(exact), most), [0] * 60)
        assert not found.passed and found.accuracy["verdict"] == "constant"
        assert found.measured == "gives the same answer to all rows, and the float model does not"


def test_without_labels_answers_are_held_against_the_float_models() -> None:
    plain = TextData("films", "", (), None, [TextRow(text) for text in TEXTS])
    exact = said("tiny-classifier")
    found = judged(Gate(plain, 4), [1 - exact[0], 1 - exact[1], 1 - exact[2], *exact[3:]])
    assert found.accuracy["metric"] == "agreement" and not found.accuracy["data"]["labelled"]
    assert found.accuracy["systems"][-1]["values"] == {"agreement": 0.95}
    assert not found.passed and found.accuracy["drops"][0]["points"] == 5.0
    assert judged(Gate(plain, 5), exact).passed


def test_what_was_measured_on_is_said() -> None:
    exact = said("tiny-classifier")
    long = [*TEXTS[:50], *("good bad " * 30,) * 10]
    labels = said("tiny-classifier", long, 12)
    judge = Judge(Gate(data_of(labels, long), limit=30), load("tiny-classifier").head, 12)
    told: list[str] = []
    judge.ask({"float": load("tiny-classifier")}, told.append)
    runner = FakeRunner(logits(exact[:30]), timed=False)
    found = judge(runner, told.append)
    about = found.accuracy["data"]
    assert (about["name"], about["rows"], about["of"], about["limit"]) == ("films", 30, 60, 30)
    assert 1 <= about["cut"] <= 10 and max(map(len, runner.asked)) == 12 and len(runner.asked) == 30
    assert told[0] == "step 30 of 30 rows for the float model" and "--limit takes fewer" in told[1]
    content = fake_manifest(None) | found.in_manifest()
    validated(content, "it")


def test_an_output_that_is_not_finite_fails() -> None:
    exact = said("tiny-classifier")
    judge = Judge(Gate(data_of(exact)), load("tiny-classifier").head, 48)
    judge.ask({"float": load("tiny-classifier")}, lambda text: None)
    runner = FakeRunner([*logits(exact[:59]), np.array([np.nan, 1.0])])
    more = data_check(judge, runner, lambda text: None)
    row = run_checks(runner.artifact, runner, more=more)[-1]
    assert not row.passed and "row 60: the output has values that are not finite" in row.measured
    assert data_result([row]) is None and data_check(None, runner, lambda text: None) == {}


def test_decoded_weights_and_float_model_answer_once_for_an_export(monkeypatch: pytest.MonkeyPatch) -> None:
    made = load("tiny-classifier")
    asked: list[Model] = []
    real = model_outputs
    monkeypatch.setattr("export.judge.model_outputs", lambda m, *more: asked.append(m) or real(m, *more))
    judge = judge_of_export(Gate(data_of(said(made.name))), made, compress(made, "int8"), (16, 48), lambda text: None)
    for _ in range(3):
        judge(FakeRunner(logits(said(made.name))), lambda text: None)
    assert len(asked) == 2 and asked[0] is made


def damage(change: Callable[[CompressedModel], dict[str, Any]]) -> Callable[..., CompressedModel]:
    real = pipeline.compressed_of

    def damaged(*given: Any) -> CompressedModel:
        found = real(*given)
        return replace(found, records={**found.records, **change(found)})

    return damaged


@pytest.mark.slow
def test_a_damaged_artifact_fails_the_gate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    exact = said("tiny-classifier", length=16)

    def swapped(found: CompressedModel) -> dict[str, Any]:
        weight, bias = (found.records[f"head.classifier.{part}"] for part in ("weight", "bias"))
        assert isinstance(weight, Quantized) and isinstance(bias, Dense)
        turned = Quantized(weight.codes[::-1].copy(), weight.scale[::-1].copy(), weight.bits)
        return {"head.classifier.weight": turned, "head.classifier.bias": Dense(bias.values[::-1].copy())}

    monkeypatch.setattr(pipeline, "compressed_of", damage(swapped))
    options: dict[str, Any] = {"lengths": (16,), "out": tmp_path, "gate": Gate(data_of(exact), 0.5)}
    with pytest.raises(
        ExportError, match="check failed: data accuracy .* against 100.00 of the float model: "
    ) as caught:
        export("tiny-classifier", "tflite", **options)
    assert caught.value.exit_code == 3 and not list(tmp_path.iterdir())
    (result,) = caught.value.results
    found = data_result(result.checks)
    assert found is not None and [check.name for check in result.checks if not check.passed] == ["data"]
    points = {(drop["from"], drop["to"]): drop["points"] for drop in found.accuracy["drops"]}
    # All of it is the codes' fault, and next to nothing the engine's.
    assert points["float", "artifact"] > 90 and abs(points["decoded", "artifact"]) < 5
    with pytest.raises(ExportError):
        export("tiny-classifier", "tflite", keep_failing=True, **options)
    kept = open_folder(tmp_path / "tiny-classifier-int8" / "tflite").manifest.content
    assert kept["status"] == "failed" and kept["accuracy"] == found.accuracy


@pytest.mark.slow
def test_a_classifier_that_is_compressed_until_it_is_constant_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def nothing(found: CompressedModel) -> dict[str, Any]:
        weight = found.records["head.classifier.weight"]
        assert isinstance(weight, Quantized)
        return {"head.classifier.weight": Quantized(np.zeros_like(weight.codes), weight.scale, weight.bits)}

    monkeypatch.setattr(pipeline, "compressed_of", damage(nothing))
    gate = Gate(data_of(said("tiny-classifier", length=16)))
    with pytest.raises(ExportError, match="data gives the same answer to all rows, and the float model does not"):
        export("tiny-classifier", "tflite", lengths=(16,), out=tmp_path, gate=gate)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["coreml", "executorch", "tflite"])
def test_the_file_itself_answers_and_check_comes_to_the_same(target: str, tmp_path: Path) -> None:
    exact = said("tiny-classifier")
    data, made = data_of(exact), load("tiny-classifier")
    gate = Gate(data, 10, 40, teacher=model(HeadConfig("sequence-classification", LABELS[::-1])))
    (result,) = export(made, target, lengths=(16, 48), out=tmp_path, gate=gate)
    assert result.folder is not None and result.passed
    content = open_folder(result.folder).manifest.content
    assert content["accuracy"]["data"]["rows"] == 40 and content["teacher"] == "model-1"
    assert content["accuracy"] == result.to_dict()["accuracy"]
    artifact, checks = recheck(result.folder, gate=replace(gate, against=made))
    again = data_result(checks)
    # Decoded out of the file, weights are what they were before they went in; Core ML's file holds what is not coded in
    # float16, and an answer that nearly ties may be another.
    assert again is not None and again.accuracy["data"] == content["accuracy"]["data"]
    before, after = ({s["system"]: s for s in each["systems"]} for each in (content["accuracy"], again.accuracy))
    assert list(after) == ["teacher", "float", "decoded", "artifact"]
    assert all(after[name] == before[name] for name in after if (target, name) != ("coreml", "decoded"))
    found = with_stored_weights(artifact, made)
    expected = decoded_module(compress(made, "int8")).state_dict()
    assert found is not None and all(
        np.allclose(values, expected[name], atol=2e-3)
        for name, values in found.module.state_dict().items()
        if "position" not in name
    )
    # One of another shape has no such weights.
    assert with_stored_weights(artifact, load("tiny-shared")) is None


@pytest.mark.slow
def test_records_are_judged_against_the_float_model_that_is_given(tmp_path: Path) -> None:
    made = load("tiny-classifier")
    save_compressed(made, compress(made, "int8"), tmp_path / "records")
    data = data_of(said("tiny-classifier"))
    for against, systems in (
        (None, ["decoded", "artifact"]),
        (load("tiny-classifier"), ["float", "decoded", "artifact"]),
    ):
        gate = Gate(data, against=against)
        (result,) = export(tmp_path / "records", "tflite", lengths=(48,), out=tmp_path / "out", gate=gate, force=True)
        found = data_result(result.checks)
        assert found is not None and [each["system"] for each in found.accuracy["systems"]] == systems
