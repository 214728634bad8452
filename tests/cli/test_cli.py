"""The command line in-process: exit codes, one line of error, help that holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import run
from packs.artifact import fake_artifact

from mobilekit.cli.main import VERBS, main
from mobilekit.errors import EngineError


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["exprot"], "verb 'exprot' is unknown; did you mean 'export'?"),
        (["export", "--target", "corml"], "did you mean 'coreml'"),
        (["export", "--scheme", "int9"], "did you mean 'int8'"),
        (["export", "--model", "minilm"], "did you mean 'minilm-l6'"),
        (["export", "--lengths", "32;128"], "expected numbers with commas"),
        (["export", "--lengths", ""], "expected numbers with commas"),
        (["export", "--minimum-ios", "12"], "choose from 16, 17, 18"),
        (["export", "--minimum-ios", "new"], "not a valid integer"),
        (["export", "--nothing"], "No such option"),
        (["export", "--model", "./missing"], "no such folder"),
        (["run", "missing", "text"], "no such artifact folder"),
        (["run", "missing"], "no text given"),
        (["run", "."], "no text given"),
        (["check", "missing"], "no such artifact folder"),
        (["check", "tests"], r"no manifest.json in it"),
        (["inspect", "missing"], "model 'missing' is unknown"),
        (["compress", "--model", "tiny-classifier"], "Missing option '--out'"),
        (["compress", "--model", "tiny-classifier", "--out", "tests"], "--force replaces it"),
        (["list", "model"], "did you mean 'models'"),
        (["pack", "missing"], "no such artifact folder"),
        (["unpack", "missing"], "does not end in .mkpack"),
    ],
)
def test_wrong_input_is_one_line_and_exit_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert code == 2 and not out
    lines = [line for line in err.splitlines() if not line.startswith(" ")]
    assert lines[-1].startswith("error: ") and message in lines[-1] and "Traceback" not in err


def test_our_bug_is_exit_1_and_debug_shows_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(name: str) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("mobilekit.models.load.load", broken)
    code, _, err = run(capsys, "inspect", "tiny-classifier")
    assert code == 1 and "this is a bug in mobilekit: ZeroDivisionError: oops" in err
    with pytest.raises(ZeroDivisionError):
        main(["--debug", "inspect", "tiny-classifier"])


def test_engine_error_is_exit_1(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise EngineError("it died")

    monkeypatch.setattr("mobilekit.models.load.load", broken)
    assert run(capsys, "inspect", "tiny-classifier")[0] == 1


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_examples_in_its_help(capsys: pytest.CaptureFixture[str], verb: str) -> None:
    code, out, _ = run(capsys, verb, "--help")
    assert code == 0 and f"mobilekit {verb}" in out.split("Options:")[0] and "Example" in out
    assert "--json" in out


def test_lists_print_what_is_registered(capsys: pytest.CaptureFixture[str]) -> None:
    for kind, names in (("models", "minilm-l6"), ("targets", "coreml"), ("schemes", "int8")):
        assert names in run(capsys, "list", kind)[1]
        assert names in str(json.loads(run(capsys, "list", kind, "--json")[1]))


def test_inspect_counts_a_models_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(run(capsys, "inspect", "tiny-shared", "--json")[1])
    by_group = {row["group"]: row["parameters"] for row in found["groups"]}
    assert by_group["attention"] == 4 * (64 * 64 + 64) + 2 * 64
    assert found["about"]["sharing"] == "all"


def test_compress_writes_a_folder_that_loads_again(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "made"
    code, text, _ = run(capsys, "compress", "--model", "tiny-classifier", "--out", str(out))
    assert code == 0 and "parameters as int8" in text
    assert {p.name for p in out.iterdir()} >= {"config.json", "model.safetensors", "records.safetensors", "vocab.txt"}
    assert run(capsys, "inspect", str(out))[0] == 0


def test_calibration_text_makes_other_codes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("A fine film.\nNever again!\n")
    files = []
    for name, more in (("builtin", []), ("own", ["--calibration", str(tmp_path / "own.txt")])):
        line = ["compress", "--model", "tiny-classifier", "--scheme", "int4", "--out", str(tmp_path / name), *more]
        assert run(capsys, *line)[0] == 0
        files.append((tmp_path / name / "records.safetensors").read_bytes())
    assert files[0] != files[1] and len(files[0]) == len(files[1])


def test_no_verb_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys)
    assert code == 0 and "Verbs:" in out and not err


def test_pack_and_unpack_print_what_they_did(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = fake_artifact(tmp_path / "artifact")
    file, back = tmp_path / "artifact.mkpack", tmp_path / "back"
    code, out, err = run(capsys, "pack", str(folder))
    assert code == 0 and "huffman, bytes" in out and "packed / entropy" in out and "written" in err
    assert f"{file}: 0.0" in out.splitlines()[-1]
    found = json.loads(run(capsys, "pack", str(folder), "--force", "--json")[1])
    assert found["file"] == str(file) and found["packed_bytes"] == file.stat().st_size
    assert found["bytes"] == sum(found["files"].values()) == sum(s["bytes"] for s in found["segments"])
    assert found["packed_bytes"] == found["directory_bytes"] + sum(s["packed_bytes"] for s in found["segments"])
    code, out, err = run(capsys, "unpack", str(file), "--out", str(back), "--quiet")
    assert code == 0 and f"{back}: 3 files" in out and not err
    again = json.loads(run(capsys, "unpack", str(file), "--out", str(back), "--force", "--json")[1])
    assert again == {"folder": str(back), **{key: found[key] for key in ("bytes", "files", "sha256")}}
    assert (back / "model.tflite").read_bytes() == (folder / "model.tflite").read_bytes()
