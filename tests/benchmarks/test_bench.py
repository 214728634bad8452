"""`bench` on real artifacts of tiny models: what its report holds, what is left out, what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from cli_support import run

from benchmarks.bench import Request, bench
from benchmarks.measuring.turns import Outcome, Protocol
from benchmarks.reports.report import Report, read_report
from export.gate import Gate
from export.pipeline import export, prepare
from mobilekit.errors import ArtifactError, InputError
from mobilekit.models.load import load
from mobilekit.text.data.rows import TextData, TextRow

SHORT = Protocol(1, load_processes=2, least_runs=3, least_seconds=0.01, burst_seconds=0.01)
TEXTS = ("a good film", "not a good film", "it was bad", "great , and very good", "the movie was not that bad", "good")


def data(texts: Sequence[str] = TEXTS) -> TextData:
    rows = [TextRow(text, None, i % 2) for i, text in enumerate(texts)]
    return TextData("films", "sequence-classification", ("negative", "positive"), "single_label_classification", rows)


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A tiny classifier at int8 for TFLite and Core ML, and at fp32 for TFLite."""
    out, model = tmp_path_factory.mktemp("bench"), load("tiny-classifier")
    for scheme, targets in (("int8", ("tflite", "coreml")), ("fp32", ("tflite",))):
        export(model, prepare(targets, scheme, 18), scheme, lengths=(8, 16), out=out)
    return {f"{folder.parent.name}/{folder.name}": folder for folder in out.glob("*/*")}


@pytest.fixture(scope="module")
def report(artifacts: dict[str, Path]) -> Report:
    gate = Gate(data(), teacher=load("tiny-classifier"), against=load("tiny-classifier"))
    order = sorted(artifacts)
    return bench(
        Request(
            [artifacts[name] for name in order], SHORT, ("litert_compiled",), gate=gate, slow_rows=2, base=order[-1]
        )
    )


@pytest.mark.slow
def test_a_row_has_all_that_was_measured(report: Report) -> None:
    row: Any = report.row("tiny-classifier-int8/tflite")
    assert [each["length"] for each in row["lengths"]] == [8, 16]
    assert all(each["run"]["median_ms"] > 0 for each in row["lengths"])
    assert 0 < row["text_run"]["median_ms"] < row["text_pipeline"]["median_ms"]
    assert len(row["load_ms"]) == 2
    assert 0 < row["packed_bytes"] < row["bytes"] * 2
    assert row["memory"]["peak_bytes"] >= row["memory"]["anonymous_bytes"] + row["memory"]["file_bytes"]
    assert row["self_check"]["passed"]
    assert row["delegation"]["total"] >= row["delegation"]["delegated"] > 0
    assert sum(row["groups"].values()) < row["bytes"]


@pytest.mark.slow
def test_core_ml_has_no_milliseconds_here_and_answers_a_stated_subset(report: Report) -> None:
    if sys.platform == "darwin":
        pytest.skip("native there")
    row: Any = report.row("tiny-classifier-int8/coreml")
    assert row["load_ms"] == row["lengths"] == []
    assert row["memory"] is row["text_run"] is row["text_pipeline"] is row["delegation"] is None
    assert row["accuracy"]["data"]["rows"] == 2
    assert row["accuracy"]["data"]["of"] == len(TEXTS)


@pytest.mark.slow
def test_accuracy_is_held_against_float_model_and_teacher(report: Report) -> None:
    models = [row for row in report.rows if row["kind"] == "model"]
    assert [row["name"] for row in models] == ["tiny-classifier (teacher)", "tiny-classifier (float)"]
    row: Any = report.row("tiny-classifier-fp32/tflite")
    assert row["accuracy"]["agreement"]["value"] == 1
    assert row["accuracy"]["from_teacher"]["points"] == 0
    assert row["accuracy"]["divergence_nats"] < 1e-6
    assert row["accuracy"]["value"] == models[1]["accuracy"]["value"]


@pytest.mark.slow
def test_ratios_are_to_the_base_at_every_work(report: Report) -> None:
    assert {ratio["base"] for ratio in report.content["ratios"]} == {"tiny-classifier-int8/tflite"}
    assert {(ratio["row"], ratio["work"]) for ratio in report.content["ratios"]} == {
        (name, work)
        for work in ("8", "16", "rows", "texts")
        for name in (
            "tiny-classifier-fp32/tflite",
            "tiny-classifier-fp32/tflite (litert_compiled)",
            "tiny-classifier-int8/tflite (litert_compiled)",
        )
    }
    assert all(0 < ratio["low"] <= ratio["median"] <= ratio["high"] for ratio in report.content["ratios"])


@pytest.mark.slow
def test_another_engine_has_rows_of_its_own(report: Report) -> None:
    for scheme in ("fp32", "int8"):
        usual: Any = report.row(f"tiny-classifier-{scheme}/tflite")
        other: Any = report.row(f"tiny-classifier-{scheme}/tflite (litert_compiled)")
        assert other["engine"] == "litert_compiled"
        assert other["sha256"] == usual["sha256"]
        assert other["accuracy"]["value"] == usual["accuracy"]["value"]
        assert other["self_check"]["passed"]


@pytest.mark.slow
def test_the_process_that_times_a_tflite_has_no_torch(artifacts: dict[str, Path]) -> None:
    folder = artifacts["tiny-classifier-int8/tflite"]
    program = (
        "import sys\n"
        "from benchmarks.measuring.artifact_subject import service\n"
        f"made = service(); made('load', {{'path': {str(folder)!r}, 'threads': 1}}, {{}}, print)\n"
        "made('texts', {'texts': [['a good film', None]]}, {}, print)\n"
        "sys.exit(any(name in sys.modules for name in ('torch', 'transformers', 'tensorflow')))"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parents[2])


@pytest.mark.slow
def test_the_verb_writes_a_report_and_keeps_one_that_is_there(
    artifacts: dict[str, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out, folder = tmp_path / "report.json", str(artifacts["tiny-classifier-int8/tflite"])
    short = ("--runs", "1", "--seconds", "0", "--no-pack", "--threads", "1", "--quiet")
    code, said, _ = run(capfd, "bench", folder, "--out", str(out), "--json", *short)
    assert code == 0
    assert read_report(out).content == json.loads(said)
    code, _, error = run(capfd, "bench", folder, "--out", str(out), *short)
    assert code == 2
    assert "report.json" in error
    assert run(capfd, "bench", folder, "--out", str(out), "--force", *short)[0] == 0


@pytest.mark.slow
def test_an_engine_that_is_asked_for_twice_is_measured_once(
    artifacts: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def measured(contenders: Sequence[Any], *_: object) -> Outcome:
        asked.extend(each.name for each in contenders)
        return Outcome([], {})

    monkeypatch.setattr("benchmarks.bench.measure", measured)
    name = "tiny-classifier-int8/tflite"
    bench(Request([artifacts[name]], SHORT, ("litert_compiled",) * 2, packed=False))
    assert asked == [name, f"{name} (litert_compiled)"]


@pytest.mark.slow
def test_artifacts_that_read_other_texts_are_refused_together(artifacts: dict[str, Path], tmp_path: Path) -> None:
    (words,) = export(load("tiny-words"), "tflite", lengths=(8,), out=tmp_path)
    assert words.folder is not None
    with pytest.raises(InputError, match="is a fill-mask model and .* a sequence-classification model, and they read"):
        bench(Request([artifacts["tiny-classifier-int8/tflite"], words.folder], SHORT))


@pytest.mark.slow
def test_what_is_refused(artifacts: dict[str, Path], tmp_path: Path) -> None:
    folder = artifacts["tiny-classifier-int8/tflite"]
    with pytest.raises(InputError, match="two artifacts are called"):
        bench(Request([folder, folder], SHORT))
    with pytest.raises(InputError, match="no artifact to measure"):
        bench(Request([], SHORT))
    with pytest.raises(InputError, match="--base nothing: is none of what is timed"):
        bench(Request([folder], SHORT, base="nothing", packed=False))
    with pytest.raises(InputError, match="--engine eager: runs records files"):
        bench(Request([folder], SHORT, ("eager",)))
    with pytest.raises(InputError, match="did you mean 'litert_compiled'"):
        bench(Request([folder], SHORT, ("litert_compild",)))
    with pytest.raises(InputError, match="against"):
        bench(Request([folder], SHORT, gate=Gate(TextData("plain", "", (), None, [TextRow("a")]))))
    other = TextData("others", "sequence-classification", ("x", "y"), "single_label_classification", data().rows)
    with pytest.raises(InputError, match="its labels"):
        bench(Request([folder], SHORT, gate=Gate(other)))
    with pytest.raises(ArtifactError, match="no such artifact folder"):
        bench(Request([tmp_path / "none"], SHORT))
