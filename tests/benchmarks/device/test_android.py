"""Measuring on a phone through adb: a made-up adb, a made-up phone and a made-up report, labelled synthetic."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_support import run
from support import fake_manifest

from benchmarks.device.adb import Adb, phone
from benchmarks.device.android import Measuring, measure
from benchmarks.reports.report import read_report
from mobilekit.artifact import Artifact, open_folder, write_manifest
from mobilekit.errors import ArtifactError, CheckFailedError, InputError

FAKE = Path(__file__).parents[2] / "fake_adb.py"


@pytest.fixture
def storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The phone's folder; its adb is on PATH."""
    programs, place = tmp_path / "bin", tmp_path / "phone"
    programs.mkdir()
    (place / "files").mkdir(parents=True)
    adb = programs / "adb"
    adb.write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE} "$@"\n')
    adb.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("FAKE_PHONE", str(place))
    be(place)
    return place


@pytest.fixture
def artifact(tmp_path: Path) -> Artifact:
    folder = tmp_path / "artifact"
    folder.mkdir()
    (folder / "model.tflite").write_bytes(b"weights")
    (folder / "tokenizer.json").write_text("{}")
    write_manifest(folder, fake_manifest(folder))
    return open_folder(folder)


def be(storage: Path, **about: Any) -> None:
    """What the phone is like."""
    content = {"devices": {"X1": "device"}, "installed": True, **about}
    (storage / "phone.json").write_text(json.dumps(content), encoding="utf-8")


def commands(storage: Path) -> list[list[str]]:
    return [json.loads(line) for line in (storage / "log.txt").read_text(encoding="utf-8").splitlines()]


def quickly(adb: Adb, *folders: Path, threads: int = 2, seconds: float = 6) -> Any:
    return measure(adb, Measuring(folders, threads, seconds), lambda *_: None, lambda _: None)


def test_artifacts_are_pushed_and_the_report_comes_back(storage: Path, artifact: Artifact) -> None:
    report = quickly(phone(), artifact.folder, threads=3)
    name = f"{artifact.manifest.content['name']}-{artifact.manifest.target}"
    pushed = storage / "files/artifacts" / name
    assert {file.name: file.read_bytes() for file in pushed.iterdir()} == {
        file.name: file.read_bytes() for file in artifact.folder.iterdir()
    }
    assert [row["sha256"] for row in report.rows] == [artifact.manifest.content["sha256"]]
    assert report.content["kind"] == "android" and report.content["protocol"]["threads"] == 3
    # Nothing stays on the phone but the artifacts.
    assert [file.name for file in (storage / "files/artifacts").iterdir()] == [name]
    assert not list((storage / "files/reports").iterdir())


def test_an_artifact_takes_the_place_of_an_older_one_of_its_name(storage: Path, artifact: Artifact) -> None:
    name = f"{artifact.manifest.content['name']}-{artifact.manifest.target}"
    old = storage / "files/artifacts" / name
    old.mkdir(parents=True)
    (old / "older").write_text("")
    (storage / f"files/artifacts/.partial-{name}").mkdir()
    quickly(phone(), artifact.folder)
    assert sorted(file.name for file in old.iterdir()) == sorted(file.name for file in artifact.folder.iterdir())


def test_without_artifacts_the_app_measures_its_own(storage: Path, artifact: Artifact) -> None:
    quickly(phone(), artifact.folder)
    quickly(phone())
    starts = [words[3] for words in commands(storage) if words[2:3] == ["shell"] and words[3].startswith("am start")]
    assert "--esa artifacts" in starts[0] and "--esa" not in starts[1] and len(starts) == 2


def test_a_failure_of_the_app_is_told_in_its_words(storage: Path, artifact: Artifact) -> None:
    be(storage, error="classifier: the engine\nrefused it.")
    with pytest.raises(CheckFailedError, match=r"phone X1: classifier: the engine refused it\."):
        quickly(phone(), artifact.folder)
    assert not list((storage / "files/reports").iterdir())


def test_an_app_that_says_nothing_is_not_waited_for_for_ever(storage: Path, artifact: Artifact) -> None:
    be(storage, silent=True)
    with pytest.raises(CheckFailedError, match="no report after 6 s"):
        quickly(phone(), artifact.folder)


@pytest.mark.parametrize(("text", "message"), [("{", "report.json"), ('{"schema": 99}', "newer"), ("[1]", "no report")])
def test_a_report_that_is_none_is_refused(storage: Path, artifact: Artifact, text: str, message: str) -> None:
    be(storage, report=text)
    with pytest.raises(InputError, match=message):
        quickly(phone(), artifact.folder)


def test_a_report_without_what_was_pushed_is_refused(storage: Path, artifact: Artifact) -> None:
    from synthetic_reports import artifact as row
    from synthetic_reports import report

    be(storage, report=json.dumps(report([row("minilm-l6", "tflite", "int4")], [], kind="android").content))
    with pytest.raises(CheckFailedError, match="says nothing of"):
        quickly(phone(), artifact.folder)


def test_an_altered_artifact_is_not_pushed(storage: Path, artifact: Artifact) -> None:
    artifact.model_path.write_bytes(b"other")
    with pytest.raises(ArtifactError, match="altered"):
        quickly(phone(), artifact.folder)
    assert commands(storage) == [["devices"]]


@pytest.mark.parametrize(
    ("about", "serial", "message"),
    [
        ({"devices": {}}, None, "no phone is plugged in"),
        ({"devices": {"A": "device", "B": "device"}}, None, "choose by --serial A or B"),
        ({"devices": {"A": "unauthorized"}}, None, "unlock it"),
        ({"devices": {"A": "no permissions (user in plugdev group; are your udev rules wrong?)"}}, None, "rules"),
        ({"devices": {"A": "device"}}, "C", "no phone C is plugged in; there are: A"),
    ],
)
def test_a_phone_that_cannot_be_used(storage: Path, about: dict[str, Any], serial: str | None, message: str) -> None:
    be(storage, **about)
    with pytest.raises(InputError, match=message):
        phone(serial)


def test_one_of_several_phones_is_chosen(storage: Path) -> None:
    be(storage, devices={"A": "offline", "B": "device"})
    assert phone().serial == "B"
    be(storage, devices={"A": "device", "B": "device"})
    assert phone("A").serial == "A"


def test_the_app_has_to_be_there(storage: Path, artifact: Artifact) -> None:
    be(storage, installed=False)
    with pytest.raises(InputError, match="is not installed"):
        quickly(phone(), artifact.folder)


def test_an_app_whose_name_begins_alike_is_another_one(storage: Path, artifact: Artifact) -> None:
    be(storage, installed="org.mobilekit.demo.other")
    with pytest.raises(InputError, match="is not installed"):
        quickly(phone(), artifact.folder)


def test_a_build_that_cannot_be_started_from_here_is_told_at_once(storage: Path, artifact: Artifact) -> None:
    be(storage, release=True)
    with pytest.raises(InputError, match=r"phone X1: Error: Activity class .* does not exist\. Only the app's debug"):
        quickly(phone(), artifact.folder)


def test_artifacts_that_would_take_each_others_place_are_refused(storage: Path, artifact: Artifact) -> None:
    other = artifact.folder.parent / "other"
    shutil.copytree(artifact.folder, other)
    file = other / "manifest.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**content, "name": content["name"].upper()}), encoding="utf-8")
    for folders in ((artifact.folder, artifact.folder), (artifact.folder, other)):
        with pytest.raises(InputError, match="are both called"):
            quickly(phone(), *folders)
    assert all(words == ["devices"] for words in commands(storage))


def test_a_full_phone_is_told(storage: Path, artifact: Artifact) -> None:
    be(storage, full=True)
    with pytest.raises(InputError, match="No space left on device"):
        quickly(phone(), artifact.folder)


def test_without_adb_the_message_says_where_it_is_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("ANDROID_HOME", "ANDROID_SDK_ROOT"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match="platform-tools"):
        phone()


def test_adb_of_the_sdk_is_found(storage: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "sdk").mkdir()
    (tmp_path / "bin").rename(tmp_path / "sdk/platform-tools")
    monkeypatch.setenv("ANDROID_HOME", str(tmp_path / "sdk"))
    assert phone().program == str(tmp_path / "sdk/platform-tools/adb")


def test_the_verb_writes_a_report_that_compare_reads(
    storage: Path, artifact: Artifact, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "phone.json"
    code, said, _ = run(capsys, "device", "android", str(artifact.folder), "--out", str(out), "--threads", "4")
    assert code == 0 and "SYNTHETIC" in said and "made-up phone" in said
    assert read_report(out).content["protocol"]["threads"] == 4
    code, said, _ = run(capsys, "compare", str(out))
    assert code == 0 and "SYNTHETIC" in said
    before = len(commands(storage))
    code, _, error = run(capsys, "device", "android", str(artifact.folder), "--out", str(out))
    assert code == 2 and "exists already" in error and len(commands(storage)) == before
    assert run(capsys, "device", "android", str(artifact.folder), "--out", str(out), "--force", "--json")[0] == 0


def test_a_name_that_is_no_word_of_a_shell_is_pushed_all_the_same(storage: Path, artifact: Artifact) -> None:
    file = artifact.folder / "manifest.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    content["name"] = "it's $(touch x); ü"
    file.write_text(json.dumps(content), encoding="utf-8")
    quickly(phone(), artifact.folder)
    names = [f.name for f in (storage / "files/artifacts").iterdir()]
    assert names == [f"it_s___touch_x____-{artifact.manifest.target}"]
