"""The check on a phone's instruction set: what it holds and what it finds; and for real, where `make arm64` was run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from arm64_support import fetched
from cli_support import run
from runner_support import FakeRunner, good, good_artifact

from export.arm64 import arm64_check, check_arm64, emulated_outputs
from export.check import CheckResult
from export.pipeline import export, recheck
from export.thresholds import thresholds
from mobilekit.artifact import Artifact, open_folder
from mobilekit.runtimes.arm64 import emulation
from mobilekit.runtimes.arm64.emulation import Emulation
from mobilekit.runtimes.runner import open_artifact

# The function of `runner_support.good`, from what the emulator is given.
GOOD = """
found = {}
for number in {key.split(":")[0] for key in given.files}:
    values = {key.split(":")[2]: given[key][0] for key in given.files if key.startswith(number + ":")}
    total = float((values["input_ids"] * values["attention_mask"]).sum())
    found[number + ":logits"] = np.array([[np.sin(total), np.cos(total)]], np.float32)
"""
SAVE = "np.savez(outputs, **found)"
AWAY = """
for key in found:
    found[key] = found[key][:, ::-1]
"""


def checked(tmp_path: Path, body: str) -> CheckResult:
    artifact = good_artifact(tmp_path)
    return check_arm64(fetched(tmp_path, body), artifact, FakeRunner(artifact, good))


def test_right_outputs_pass_and_are_held_as_a_devices(tmp_path: Path) -> None:
    found = checked(tmp_path, GOOD + SAVE)
    assert found.name == "arm64" and found.passed and found.limit == "cosine >= 0.995"
    assert found.measured.startswith("1.00000; centred 1.00000; ") and found.measured.endswith(" from this machine's")
    assert thresholds("int8").device.limit == 0.995


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (AWAY, "from this machine's"),
        ("found['0:logits'] *= np.nan\n", "not finite; centred nan; nan from this machine's"),
        ("found['1:logits'] = found['1:logits'][:, :1]\n", "1 values instead of 2; not the shapes of this machine's"),
    ],
)
def test_other_outputs_fail(tmp_path: Path, change: str, said: str) -> None:
    found = checked(tmp_path, GOOD + change + SAVE)
    assert not found.passed and found.measured.endswith(said)


def test_an_output_of_another_name_is_told(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="on arm64 the file gives scores, not logits"):
        checked(tmp_path, "np.savez(outputs, **{f'{i}:scores': np.zeros((1, 2)) for i in range(2)})")


def test_of_tokens_the_padding_is_left_out(tmp_path: Path) -> None:
    artifact = good_artifact(tmp_path)
    artifact.manifest.content["outputs"][0]["shape"] = [1, "length", 2]
    body = (
        "np.savez(outputs, **{k.split(':')[0] + ':logits': np.zeros((1, given[k].shape[1], 2)) for k in given.files})"
    )
    outputs = emulated_outputs(fetched(tmp_path, body), artifact, FakeRunner(artifact, good))
    assert [o.shape for o in outputs] == [(4, 2), (10, 2)]


def test_unasked_there_is_no_such_check(tmp_path: Path) -> None:
    artifact = good_artifact(tmp_path)
    assert not arm64_check(None, artifact, FakeRunner(artifact, good))


# With real artifacts, and the stand-in for the emulator.


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (result,) = export("tiny-classifier", "tflite", lengths=(16,), out=tmp_path_factory.mktemp("out"))
    assert result.folder is not None
    return result.folder


@pytest.fixture
def emulated(tmp_path: Path, exported: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Emulation]:
    """Makes the emulator that gives the golden outputs, after a change of them."""
    monkeypatch.setenv("MOBILEKIT_CACHE", str(tmp_path / "cache"))
    expected = [entry["output"] for entry in open_folder(exported).manifest.content["golden"]]
    found = f"found = {{f'{{i}}:logits': np.array([o], np.float32) for i, o in enumerate({expected})}}\n"
    return lambda change: fetched(tmp_path / "cache", found + change + SAVE)


def rows(out: str) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in json.loads(out)}


@pytest.mark.slow
def test_check_has_one_more_row(
    exported: Path, emulated: Callable[[str], Emulation], capsys: pytest.CaptureFixture[str]
) -> None:
    emulated("")
    code, out, _ = run(capsys, "check", str(exported), "--arm64", "--json")
    assert code == 0 and list(rows(out))[-1] == "arm64" and rows(out)["arm64"]["passed"]
    assert set(rows(run(capsys, "check", str(exported), "--json")[1])) == set(rows(out)) - {"arm64"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (AWAY, "answers changed"),
        ("sys.exit('died of it')\n", r"error: the emulated program failed (exit code 1): died of it"),
        ("time.sleep(60)\n", "error: the emulated program gave no answer in 1 s and was ended"),
    ],
)
def test_what_does_not_hold_is_exit_3(
    exported: Path,
    emulated: Callable[[str], Emulation],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    change: str,
    said: str,
) -> None:
    monkeypatch.setattr(emulation, "TIME_LIMIT", 1.0 if "sleep" in change else 60.0)
    emulated(change)
    code, out, err = run(capsys, "check", str(exported), "--arm64", "--json")
    assert code == 3 and err.strip().endswith("check failed: arm64.")
    assert said in rows(out)["arm64"]["measured"] and not rows(out)["arm64"]["passed"]


@pytest.mark.slow
def test_an_altered_file_is_not_run(
    exported: Path, emulated: Callable[[str], Emulation], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    emulated("raise AssertionError\n")
    folder = Path(shutil.copytree(exported, tmp_path / "a"))
    open_folder(folder).model_path.write_bytes(b"x")
    code, out, _ = run(capsys, "check", str(folder), "--arm64", "--json")
    assert code == 3 and list(rows(out)) == ["files"]


# For real.

REASON = emulation.why_not()
fetched_for_real = pytest.mark.skipif(bool(REASON), reason=REASON)


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str, str], Artifact]:
    def make(model: str, scheme: str, target: str) -> Artifact:
        (result,) = export(model, target, scheme, lengths=(16,), out=tmp_path_factory.mktemp("out"))
        assert result.folder is not None
        return open_folder(result.folder)

    return make


@pytest.mark.slow
@fetched_for_real
@pytest.mark.parametrize(
    ("model", "scheme", "target"),
    [
        ("tiny-classifier", "int8", "executorch"),
        ("tiny-classifier", "int8", "tflite"),
        ("tiny-tagger", "fp32", "tflite"),
        ("tiny-words", "int4", "tflite"),
    ],
)
def test_artifacts_hold_on_arm64(
    artifacts: Callable[[str, str, str], Artifact], model: str, scheme: str, target: str
) -> None:
    found = {check.name: check for check in recheck(artifacts(model, scheme, target).folder, arm64=True)[1]}
    assert found["arm64"].passed, found["arm64"].measured


@pytest.mark.slow
@fetched_for_real
def test_a_file_that_is_none_is_told_in_the_engines_words(exported: Path, tmp_path: Path) -> None:
    artifact = open_folder(exported)
    (tmp_path / "bad.tflite").write_bytes(b"TFL3" * 100)
    with open_artifact(artifact) as runner:
        broken = Artifact(tmp_path, artifact.manifest)
        broken.manifest.content["file"] = "bad.tflite"
        with pytest.raises(Exception, match=r"the emulated program failed \(exit code 1\): ValueError: "):
            emulated_outputs(emulation.emulation("tflite"), broken, runner)
