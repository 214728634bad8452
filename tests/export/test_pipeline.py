"""The whole way, on tiny models and real engines: every target, checks, tampering, failing, twice the same."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import export.pipeline as pipeline
from export.pipeline import ExportError, ExportResult, export, recheck
from mobilekit.artifact import open_folder, size_and_hash, write_manifest
from mobilekit.compression.compress import compress
from mobilekit.compression.folder import save_compressed
from mobilekit.errors import ArtifactError, InputError
from mobilekit.models.load import load
from mobilekit.runtimes.answer import answer, artifact_tokenizer
from mobilekit.runtimes.eager import decoded_module
from mobilekit.runtimes.runner import open_artifact

TARGETS = ("coreml", "executorch", "tflite")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("out")


@pytest.fixture(scope="module")
def results(out: Path) -> dict[str, ExportResult]:
    return {r.target: r for r in export("tiny-classifier", lengths=(16, 48), out=out)}


@pytest.fixture
def artifact(results: dict[str, ExportResult], tmp_path: Path) -> Path:
    """A copy of the TFLite artifact, to be spoilt."""
    folder = results["tflite"].folder
    assert folder is not None
    return Path(shutil.copytree(folder, tmp_path / "artifact"))


def failed(folder: Path) -> set[str]:
    return {check.name for check in recheck(folder)[1] if not check.passed}


def resign(folder: Path) -> None:
    """Make the manifest's hashes fit again, so that only the deeper checks can see what was changed."""
    content = json.loads((folder / "manifest.json").read_text())
    content["bytes"], content["sha256"] = size_and_hash(folder / content["file"])
    content["files"] = {name: size_and_hash(folder / name)[1] for name in content["files"]}
    write_manifest(folder, content)


def test_every_target_passes_and_says_what_it_is(results: dict[str, ExportResult], out: Path) -> None:
    assert tuple(sorted(results)) == TARGETS
    for name, result in results.items():
        assert result.passed and result.folder == out / "tiny-classifier-int8" / name
        assert result.manifest["status"] == "passed" and len(result.checks) == 9
        assert result.manifest["labels"] == ["negative", "positive"]
        timed = [result.load_ms, *result.run_ms.values()]
        # A reference interpreter's milliseconds say nothing of a phone: there must be none.
        assert all(t is None for t in timed) if name == "coreml" else all(t and t > 0 for t in timed)
    assert not [p.name for p in (out / "tiny-classifier-int8").iterdir() if p.name.startswith(".")]


def test_all_targets_carry_the_same_records(results: dict[str, ExportResult]) -> None:
    tensors = [result.manifest["tensors"] for result in results.values()]
    assert tensors[0] == tensors[1] == tensors[2]


@pytest.mark.parametrize("target", TARGETS)
def test_artifact_checks_again_from_its_files(results: dict[str, ExportResult], target: str) -> None:
    folder = results[target].folder
    assert folder is not None and not failed(folder)
    names = {p.name for p in folder.iterdir()}
    assert {"manifest.json", "tokenizer.json", "vocab.txt", "README.md"} < names and len(names) == 5
    readme = (folder / "README.md").read_text()
    assert "{" not in readme.split("```python")[0].replace("{ ", "").split("```")[0]
    assert results[target].manifest["file"] in readme


@pytest.mark.parametrize("target", TARGETS)
def test_same_command_twice_gives_the_same_bytes(results: dict[str, ExportResult], target: str, tmp_path: Path) -> None:
    first = results[target].folder
    again = export("tiny-classifier", target, lengths=(16, 48), out=tmp_path)[0].folder
    assert first is not None and again is not None
    assert size_and_hash(first)[1] == size_and_hash(again)[1]


@pytest.mark.parametrize("target", TARGETS)
def test_answers_equal_torch(results: dict[str, ExportResult], target: str) -> None:
    module = decoded_module(compress(load("tiny-classifier"), "int8"))
    folder = results[target].folder
    assert folder is not None
    with open_artifact(folder) as runner:
        tokenizer = artifact_tokenizer(runner.artifact)
        for text in ("a good film", "not very good at all", "it was bad " * 30):
            found = answer(runner, tokenizer, text)
            ids = torch.from_numpy(tokenizer.encode(text).ids)[None]
            probabilities = module(ids)[0].softmax(-1).numpy()
            scores = {item.label: item.score for item in found.items}
            got = np.array([scores[label] for label in ("negative", "positive")])
            assert np.abs(got - probabilities).max() < 0.02
            assert found.truncated == (len(text) > 100)
        pair = answer(runner, tokenizer, "a good film", "it was bad")
        assert pair.tokens > answer(runner, tokenizer, "a good film").tokens
        encoded = tokenizer.encode("a good film", "it was bad")
        ids, types = torch.from_numpy(encoded.ids)[None], torch.from_numpy(encoded.type_ids)[None]
        typed, untyped = (module(ids, None, t)[0].softmax(-1)[1].item() for t in (types, None))
        got = next(item.score for item in pair.items if item.label == "positive")
        assert abs(got - typed) < abs(got - untyped) / 2
        with pytest.raises(InputError, match="longer than the longest exported length, 48"):
            runner([2] * 49)
        with pytest.raises(InputError, match="has to be integers"):
            runner([0.5])


@pytest.mark.parametrize("target", TARGETS)
def test_many_inputs_at_once_give_what_each_gives(results: dict[str, ExportResult], target: str) -> None:
    folder = results[target].folder
    assert folder is not None
    inputs = [np.array([2, *range(60, 60 + i % 40), 3], np.int32) for i in range(70)]
    types = [np.arange(ids.size, dtype=np.int32) // 9 % 2 for ids in inputs]
    with open_artifact(folder) as runner:
        found = list(runner.run_many(inputs, types))
        assert sorted(i for i, _ in found) == list(range(70))
        for i, output in found:
            assert np.array_equal(output, runner(inputs[i], None, types[i])["logits"][0])
        with pytest.raises(InputError, match="longer than the longest exported length, 48"):
            list(runner.run_many([np.zeros(49, np.int32)], [np.zeros(49, np.int32)]))


def test_altered_code_is_seen_by_the_weights_check(artifact: Path) -> None:
    model = open_folder(artifact).model_path
    record = compress(load("tiny-classifier"), "int8").records["layers.1.ffn.up.weight"]
    codes = record.codes.tobytes()  # type: ignore[union-attr]
    content = bytearray(model.read_bytes())
    place = content.find(codes)
    assert place > 0
    content[place + 5] ^= 1
    model.write_bytes(content)
    with pytest.raises(ArtifactError, match="missing or altered"):
        open_artifact(artifact)
    resign(artifact)
    assert failed(artifact) == {"weights"}


def test_other_tokenizer_rules_are_seen(artifact: Path) -> None:
    file = artifact / "tokenizer.json"
    file.write_text(file.read_text().replace('"lowercase":true', '"lowercase":false'))
    assert failed(artifact) == {"files", "tokenizer"}
    resign(artifact)
    assert failed(artifact) == {"tokenizer"}


def test_bytes_over_budget_are_seen(artifact: Path) -> None:
    with open_folder(artifact).model_path.open("ab") as file:
        file.write(b"\0" * 100_000)
    resign(artifact)
    assert failed(artifact) == {"bytes"}


def test_failing_check_keeps_nothing_unless_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = pipeline.golden

    def wrong(*arguments: object) -> list[dict[str, object]]:
        entries = real(*arguments)  # type: ignore[arg-type]
        for entry in entries:
            entry["output"] = entry["output"][::-1]
        return entries

    monkeypatch.setattr(pipeline, "golden", wrong)
    with pytest.raises(ExportError, match=r"tflite: check failed: output .*cosine >= 0.999") as caught:
        export("tiny-classifier", "tflite", lengths=(16,), out=tmp_path)
    assert caught.value.exit_code == 3
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ExportError):
        export("tiny-classifier", "tflite", lengths=(16,), out=tmp_path, keep_failing=True)
    assert open_folder(tmp_path / "tiny-classifier-int8" / "tflite").manifest.content["status"] == "failed"


def test_crashing_engine_is_an_error_and_the_next_export_works(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import os
    import signal
    import threading

    from export.worker import shared_workers

    workers = shared_workers()
    process = workers._process("tflite")
    timer = threading.Timer(0.2, os.kill, (process.pid, signal.SIGKILL))
    monkeypatch.setattr(pipeline, "_slots", lambda *_: 1)
    timer.start()
    timer.join()
    with pytest.raises(ExportError, match=r"tflite: the export.worker:service process died \(signal 9\)") as caught:
        export("tiny-classifier", "tflite", lengths=(16,), out=tmp_path)
    assert caught.value.exit_code == 1
    assert export("tiny-classifier", "tflite", lengths=(16,), out=tmp_path)[0].passed


def test_saved_records_are_exported_verbatim(tmp_path: Path) -> None:
    model = load("tiny-classifier")
    compressed = compress(model, "int8")
    # Codes that no exporter and no second compression would come to.
    record = compressed.records["head.pooler.weight"]
    record.codes[:] = np.clip(record.codes.astype(np.int16), -90, 90).astype(np.int8)  # type: ignore[union-attr]
    save_compressed(model, compressed, tmp_path / "records")
    result = export(tmp_path / "records", "tflite", lengths=(16,), out=tmp_path / "out")[0]
    hashes = {t["name"]: t["sha256"] for t in result.manifest["tensors"]}
    assert hashes["head.pooler.weight"] == {"record": record.fingerprint()}


def test_shared_layer_is_stored_once_everywhere(tmp_path: Path) -> None:
    for result in export("tiny-shared", lengths=(16, 48), out=tmp_path):
        row = next(c for c in result.checks if c.name == "weights")
        assert row.passed, row.measured
