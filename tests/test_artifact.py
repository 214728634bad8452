from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import fake_manifest

from mobilekit.artifact import open_folder, size_and_hash, validated, write_manifest
from mobilekit.errors import ArtifactError, MobilekitError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.tflite").write_bytes(b"weights")
    (tmp_path / "tokenizer.json").write_text("{}")
    write_manifest(tmp_path, fake_manifest(tmp_path))
    return tmp_path


def test_intact_artifact_has_no_altered_file(folder: Path) -> None:
    assert open_folder(folder).altered() == []


@pytest.mark.parametrize("name", ["model.tflite", "tokenizer.json"])
@pytest.mark.parametrize("missing", [True, False])
def test_altered_and_missing_files_are_named(folder: Path, name: str, missing: bool) -> None:
    if missing:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(b"other")
    assert open_folder(folder).altered() == [name]


def test_one_altered_file_is_refused_and_the_others_are_not(folder: Path) -> None:
    artifact = open_folder(folder)
    artifact.refuse_altered()
    (folder / "tokenizer.json").write_text("other")
    artifact.refuse_altered("model.tflite")
    assert artifact.is_altered("tokenizer.json") and not artifact.is_altered("model.tflite")
    for name in ("tokenizer.json", None):
        with pytest.raises(ArtifactError, match=r"tokenizer\.json: missing or altered since it was exported"):
            artifact.refuse_altered(name)


def test_hash_of_a_folder_is_that_of_its_listing(tmp_path: Path) -> None:
    (tmp_path / "a.mlpackage" / "Data").mkdir(parents=True)
    (tmp_path / "a.mlpackage" / "Data" / "z").write_bytes(b"1")
    (tmp_path / "a.mlpackage" / "B").write_bytes(b"22")
    size, sha = size_and_hash(tmp_path / "a.mlpackage")
    lines = f"{hashlib.sha256(b'22').hexdigest()}  B\n{hashlib.sha256(b'1').hexdigest()}  Data/z\n"
    assert (size, sha) == (3, hashlib.sha256(lines.encode()).hexdigest())


def test_written_manifest_is_the_same_each_time(folder: Path) -> None:
    first = (folder / "manifest.json").read_bytes()
    content = json.loads(first)
    write_manifest(folder, dict(reversed(list(content.items()))))
    assert (folder / "manifest.json").read_bytes() == first


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, "schema 2 is newer"),
        ({"schema": "1"}, "schema"),
        ({"file": "../model.tflite"}, "file"),
        ({"file": "/etc/passwd"}, "file"),
        ({"files": {"../x": "0" * 64}}, "files"),
        ({"sha256": "12"}, "sha256"),
        ({"lengths": []}, "lengths"),
        ({"lengths": [{"length": 32, "entry": "a b"}]}, "lengths/0/entry"),
        ({"lengths": [{"length": 32, "entry": "a"}, {"length": 16, "entry": "b"}]}, "have to ascend"),
        ({"golden": []}, "golden"),
        ({"surprise": 1}, "surprise"),
        ({"task": "poetry"}, "poetry"),
        ({"bytes": 0}, "bytes"),
        ({"bytes": 2**60}, "bytes"),
        ({"file": "model.tflite\n"}, "file"),
        ({"file": "manifest.json"}, "name the manifest"),
        ({"files": {}}, "'tokenizer.json' is not among files"),
        ({"labels": ["a"]}, "labels: 1 for an output of 2"),
        ({"labels": []}, "labels: a sequence-classification model has some"),
        ({"labels": ["a\nb", "c"]}, "line break or a control character"),
        ({"problem_type": None}, "problem_type: 'None' does not fit"),
        ({"task": "fill-mask", "labels": [], "problem_type": None}, "predict_mask does not fit"),
        ({"inputs": []}, "inputs"),
        ({"outputs": [{"name": "scores", "dtype": "float32", "shape": [1, 2], "meaning": ""}]}, "has logits of shape"),
        ({"outputs": [{"name": "logits", "dtype": "float32", "shape": [1, 0], "meaning": ""}]}, "has logits of shape"),
    ],
)
def test_bad_manifests_are_refused(folder: Path, change: dict[str, Any], message: str) -> None:
    content = fake_manifest(folder)
    content.update(change)
    (folder / "manifest.json").write_text(json.dumps(content))
    with pytest.raises(ArtifactError, match=message):
        open_folder(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"input_ids": [2, 5]}, "golden/0: its ids, type ids and length"),
        ({"length": 9}, "golden/0: its ids, type ids and length"),
        ({"predict": 1}, "golden/0: predict does not fit"),
        ({"rows": [0]}, "golden/0: rows are beyond"),
        ({"columns": [2]}, "golden/0: columns are beyond"),
        ({"output": [0.5]}, "golden/0: has 1 values of output instead of 2"),
        ({"output": [float("nan"), 0.5]}, "an output is not finite"),
    ],
)
def test_golden_inputs_that_contradict_the_rest_are_refused(change: dict[str, Any], message: str) -> None:
    content = fake_manifest(None)
    content["golden"][0] |= change
    with pytest.raises(ArtifactError, match=message):
        validated(content, "manifest")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "clustered", "codebooks": 3}, "tensors/0: its codebooks do not divide its 2 rows"),
        ({"kind": "clustered"}, "tensors/0: its codebooks do not divide"),
        ({"kind": "clustered", "codebooks": 1, "groups": 1}, "tensors/0: groups does not fit clustered"),
        ({"kind": "clustered", "codebooks": 1, "bits": 9}, r"tensors/0: clustered of shape \[2, 4\] and 9 bits"),
        ({"kind": "dense", "levels": 4}, "tensors/0: levels does not fit dense"),
        ({"levels": 257}, "tensors/0/levels"),
        ({"codebooks": 1}, "tensors/0: codebooks does not fit quantized"),
        ({"shape": [8]}, r"tensors/0: quantized of shape \[8\]"),
        ({"shape": ["length", 4]}, "tensors/0: quantized of shape"),
    ],
)
def test_tensors_that_cannot_be_are_refused(change: dict[str, Any], message: str) -> None:
    content = fake_manifest(None)
    content["tensors"][0] |= change
    with pytest.raises(ArtifactError, match=message):
        validated(content, "manifest")


def test_clustered_tensors_and_levels_are_taken() -> None:
    content = fake_manifest(None)
    first = content["tensors"][0]
    content["tensors"] = [{**first, "levels": 16}, {**first, "kind": "clustered", "bits": 4, "codebooks": 2}]
    assert validated(content, "manifest").task == content["task"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000])
def test_broken_manifests_are_refused(folder: Path, content: bytes) -> None:
    (folder / "manifest.json").write_bytes(content)
    with pytest.raises(ArtifactError):
        open_folder(folder)


def test_no_artifact_there(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="no such artifact folder"):
        open_folder(tmp_path / "none")
    with pytest.raises(ArtifactError, match=r"no manifest.json in it"):
        open_folder(tmp_path)


_JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda c: st.lists(c, max_size=3))


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_any_changed_value_is_accepted_or_one_clear_error(data: st.DataObject) -> None:
    content = copy.deepcopy(fake_manifest(None))
    place: Any = content
    for _ in range(data.draw(st.integers(1, 3))):
        if not isinstance(place, dict | list) or not place:
            break
        keys = sorted(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        parent, place = place, place[key]
    parent[key] = data.draw(_JSON)
    try:
        validated(content, "manifest")
    except MobilekitError as error:
        assert "\n" not in str(error)


def accuracy(**changes: Any) -> dict[str, Any]:
    data = {"name": "d", "sha256": "0" * 64, "rows": 5, "of": 9, "limit": 5, "cut": 1, "labelled": True}
    systems = [{"system": name, "id": name, "values": {"f1": 0.5}} for name in ("float", "artifact")]
    drop = {"from": "float", "to": "artifact", "points": 0.0, "low": -1.0, "high": 1.5}
    made = {"data": data, "metric": "f1", "max_drop": None, "verdict": "reported", "systems": systems, "drops": [drop]}
    for path, value in changes.items():
        *places, last = path.split("__")
        inner: Any = made
        for place in places:
            inner = inner[int(place) if place.isdigit() else place]
        inner[int(last) if last.isdigit() else last] = value
    return made


def test_measured_accuracy_is_read_and_null_too() -> None:
    content = fake_manifest(None) | {"accuracy": accuracy()}
    assert validated(content, "m").content["accuracy"]["metric"] == "f1"
    content["accuracy"]["systems"].insert(0, {"system": "teacher", "id": "t", "values": {}})
    assert validated(content | {"teacher": "t"}, "m").content["teacher"] == "t"


@pytest.mark.parametrize(
    ("changes", "more", "message"),
    [
        ({"data__rows": 6}, {}, "more rows than there were, or than its limit"),
        ({"data__cut": 6}, {}, "more rows than there were"),
        ({"data__limit": 0}, {}, "accuracy"),
        ({"verdict": "fine"}, {}, "accuracy"),
        ({"surprise": 1}, {}, "accuracy"),
        ({"verdict": "failed"}, {"status": "passed"}, "accuracy/verdict: is 'failed', and status says"),
        ({"verdict": "constant"}, {"status": "passed"}, "accuracy/verdict: is 'constant'"),
        ({"metric": "mcc"}, {}, "accuracy/metric: is not among the values of the artifact"),
        ({"systems__0__system": "artifact"}, {}, "the artifact has to be among them, and each once"),
        ({"systems__1__system": "decoded"}, {}, "the artifact has to be among them"),
        ({"systems__0__values": {"f1": float("nan")}}, {}, "accuracy/systems: a value is not finite"),
        ({"systems__0__values": {"f1": 93.0}}, {}, "accuracy"),
        ({"drops__0__from": "teacher"}, {}, "accuracy/drops: each has to be of systems that are there"),
        ({"drops__0__low": 2.0}, {}, "its low one above its high one"),
        ({"drops__0__points": float("nan")}, {}, "accuracy/drops: an interval has an end that is not finite"),
        ({}, {"teacher": "t"}, "teacher: is not the one of accuracy"),
    ],
)
def test_accuracy_that_contradicts_itself_is_refused(
    changes: dict[str, Any], more: dict[str, Any], message: str
) -> None:
    with pytest.raises(ArtifactError, match=message):
        validated(fake_manifest(None) | {"accuracy": accuracy(**changes)} | more, "m")


def test_a_teacher_without_figures_is_refused() -> None:
    with pytest.raises(ArtifactError, match="teacher: is named, and accuracy says nothing of it"):
        validated(fake_manifest(None) | {"teacher": "t"}, "m")
