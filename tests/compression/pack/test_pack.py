"""Artifacts come back byte for byte, packs are the same every time, and nothing is left of what fails."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from packs import plain
from packs.artifact import fake_artifact, fake_package
from packs.building import Content, pack_of, raw

from mobilekit.artifact import open_folder, size_and_hash
from mobilekit.compression.entropy import entropy_bits
from mobilekit.compression.pack.pack import pack, unpack
from mobilekit.errors import ArtifactError, InputError


def tree(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def artifact(tmp_path: Path) -> Path:
    return fake_artifact(tmp_path / "out" / "tflite")


@pytest.mark.parametrize("make", [fake_artifact, fake_package])
def test_artifact_comes_back_byte_for_byte(make: object, tmp_path: Path) -> None:
    assert callable(make)
    folder = make(tmp_path / "artifact")
    file, packed = pack(folder)
    assert file == tmp_path / "artifact.mkpack" and file.stat().st_size == packed.size
    assert packed.size < 0.8 * sum(map(len, tree(folder).values()))
    back, directory = unpack(file, tmp_path / "back")
    assert tree(back) == tree(folder) == plain.unpack(file.read_bytes())
    assert directory == packed.directory or directory.sha256() == packed.directory.sha256()
    # What a manifest says of a folder, the header says of the whole.
    assert directory.sha256().hex() == size_and_hash(folder)[1]
    assert open_folder(back).altered() == []
    # Nothing else is left.
    assert {p.name for p in tmp_path.iterdir()} == {"artifact", "artifact.mkpack", "back"}


def test_only_what_the_manifest_speaks_of_is_packed(artifact: Path, tmp_path: Path) -> None:
    (artifact / ".DS_Store").write_bytes(b"x")
    back, _ = unpack(pack(artifact)[0], tmp_path / "back")
    assert set(tree(artifact)) - set(tree(back)) == {".DS_Store"}


def test_same_artifact_gives_the_same_bytes(artifact: Path, tmp_path: Path) -> None:
    first = pack(artifact)[0].read_bytes()
    copy = tmp_path / "elsewhere"
    shutil.copytree(artifact, copy)
    os.utime(copy / "model.tflite", (1, 1))
    assert pack(copy, tmp_path / "deep" / "other.bin")[0].read_bytes() == first


def test_links_are_followed_as_files(artifact: Path, tmp_path: Path) -> None:
    """As a hub's cache has them: the pack has no links."""
    (artifact / "model.tflite").rename(tmp_path / "blob")
    (artifact / "model.tflite").symlink_to(tmp_path / "blob")
    back, _ = unpack(pack(artifact)[0], tmp_path / "back")
    assert not (back / "model.tflite").is_symlink()
    assert (back / "model.tflite").read_bytes() == (tmp_path / "blob").read_bytes()


def test_figures_add_up(artifact: Path) -> None:
    _, packed = pack(artifact)
    assert sum(figure.length for figure in packed.figures) == packed.directory.size
    assert sum(figure.packed for figure in packed.figures) == packed.directory.data_size
    assert packed.size == packed.directory_size + packed.directory.data_size
    weights = max(packed.figures, key=lambda figure: figure.length)
    assert weights.file == "model.tflite" and weights.encoded.name == "huffman, bytes"
    data = (artifact / "model.tflite").read_bytes()[weights.start : weights.start + weights.length]
    counts = [data.count(value) for value in range(256)]
    assert weights.encoded.entropy == pytest.approx(entropy_bits(np.array(counts)))
    assert weights.packed <= 1.03 * weights.encoded.entropy / 8


def test_progress_counts_every_byte(artifact: Path, tmp_path: Path) -> None:
    size = sum(map(len, tree(artifact).values()))
    told: list[tuple[int, int]] = []
    pack(artifact, tmp_path / "p.mkpack", report=lambda more, of: told.append((more, of)))
    assert sum(more for more, _ in told) == size and {of for _, of in told} == {size}
    told.clear()
    unpack(tmp_path / "p.mkpack", report=lambda more, of: told.append((more, of)))
    assert sum(more for more, _ in told) == size and {of for _, of in told} == {size}


def test_altered_artifact_is_not_packed(artifact: Path) -> None:
    (artifact / "tokenizer.json").write_text("{}")
    with pytest.raises(ArtifactError, match=r"tokenizer.json: missing or altered since"):
        pack(artifact)
    assert not (artifact.parent / "tflite.mkpack").exists()


def test_a_folder_that_is_no_artifact_is_not_packed(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="no manifest.json in it"):
        pack(tmp_path)


def test_existing_packs_and_artifacts_are_replaced_only_by_force(artifact: Path, tmp_path: Path) -> None:
    file, _ = pack(artifact)
    with pytest.raises(InputError, match="exists already; --force replaces it"):
        pack(artifact)
    pack(artifact, force=True)
    with pytest.raises(InputError, match="exists already; --force replaces it"):
        unpack(file, artifact)
    (artifact / "extra").write_text("")
    unpack(file, artifact, force=True)
    assert not (artifact / "extra").exists()
    (tmp_path / "thesis").write_text("mine")
    with pytest.raises(InputError, match="not of the kind that mobilekit would write there"):
        pack(artifact, tmp_path / "thesis", force=True)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "thesis").write_text("mine")
    with pytest.raises(InputError, match="has no manifest.json"):
        unpack(file, tmp_path / "own", force=True)
    assert (tmp_path / "thesis").read_text() == (tmp_path / "own" / "thesis").read_text() == "mine"


def test_output_may_not_be_in_what_is_read(artifact: Path) -> None:
    with pytest.raises(InputError, match="lies in the artifact itself"):
        pack(artifact, artifact / "p.mkpack")
    file, _ = pack(artifact)
    with pytest.raises(InputError, match="holds the pack itself"):
        unpack(file, file.parent, force=True)
    assert file.exists()


def test_a_pack_without_a_manifest_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.mkpack").write_bytes(pack_of(Content("file", b"x", [[raw(b"x")]])).to_bytes())
    with pytest.raises(InputError, match=r"p.mkpack: has no manifest.json in it"):
        unpack(tmp_path / "p.mkpack")
    assert {p.name for p in tmp_path.iterdir()} == {"p.mkpack"}


def test_default_folder_needs_the_suffix(artifact: Path, tmp_path: Path) -> None:
    file, _ = pack(artifact, tmp_path / "download")
    with pytest.raises(InputError, match=r"does not end in .mkpack, .* give it with --out"):
        unpack(file)


def test_full_disk_leaves_nothing(artifact: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, _ = pack(artifact)
    before = tree(tmp_path)
    opened = Path.open

    class Full:
        def __init__(self, file: object) -> None:
            self._file = file

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            self._file.close()  # type: ignore[attr-defined]

        def write(self, data: object) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def full(path: Path, mode: str = "r", **given: object) -> object:
        found = opened(path, mode, **given)  # type: ignore[call-overload]
        return Full(found) if set(mode) & set("wx") else found

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(InputError, match="back: cannot be written: the disk is full"):
        unpack(file, tmp_path / "back")
    with pytest.raises(InputError, match="again: cannot be written: the disk is full"):
        pack(artifact, tmp_path / "again")
    monkeypatch.undo()
    assert tree(tmp_path) == before and not list(tmp_path.rglob(".*"))


def test_room_is_asked_for_before_anything_is_written(
    artifact: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, _ = pack(artifact)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1000))
    with pytest.raises(InputError, match="the disk has 0 MB free"):
        unpack(file, tmp_path / "back")
    with pytest.raises(InputError, match="the disk has 0 MB free"):
        pack(artifact, tmp_path / "again")
    assert not (tmp_path / "back").exists() and not (tmp_path / "again").exists()


@pytest.mark.slow
def test_memory_is_bounded(tmp_path: Path) -> None:
    artifact = fake_artifact(tmp_path / "large", 30 * 10**6)
    file, _ = pack(artifact)
    shutil.rmtree(artifact)
    tracemalloc.start()
    unpack(file)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 2**20


def test_manifest_is_readable_in_the_pack_alone(artifact: Path) -> None:
    """A reader may look at the directory without decoding anything."""
    file, packed = pack(artifact)
    assert json.loads(plain.unpack(file.read_bytes())["manifest.json"])["name"] == "fake-int8"
    assert [entry.name for entry in packed.directory.files] == ["manifest.json", "model.tflite", "tokenizer.json"]
