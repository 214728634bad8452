"""Fetching a source archive: checked before it is opened, nothing of it executed, cached."""

from __future__ import annotations

import hashlib
import io
import subprocess
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mobilekit.errors import InputError, MissingExtraError
from mobilekit.text.data import fetch as module
from mobilekit.text.data.fetch import Archive, cache_folder, fetch, member

PKG_INFO = "Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"


def tar(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index that is a folder of files, and an empty cache."""
    (tmp_path / "index").mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    monkeypatch.setenv("MOBILEKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def published(tmp_path: Path, cache: Path) -> Archive:
    """An archive on the index whose every way of being built leaves a trace."""
    trace = f"open({str(tmp_path / 'executed')!r}, 'w').close()\n".encode()
    name = "odd-Name"
    content = tar(
        {
            f"{name}-1.0/setup.py": trace + b"from setuptools import setup\nsetup(name='odd-Name', version='1.0')\n",
            f"{name}-1.0/setuptools.py": trace,
            f"{name}-1.0/PKG-INFO": PKG_INFO.format(name=name).encode(),
            f"{name}-1.0/data.txt": b"text",
        }
    )
    (tmp_path / "index" / f"{name}-1.0.tar.gz").write_bytes(content)
    return Archive(name, "1.0", hashlib.sha256(content).hexdigest())


def refuse_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object, **__: object) -> None:
        raise AssertionError("pip was called")

    monkeypatch.setattr(subprocess, "run", run)


def test_nothing_of_the_archive_is_executed_and_it_is_cached(
    tmp_path: Path, cache: Path, published: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = fetch(published, "test")
    assert member(data, "odd-Name-1.0/data.txt") == b"text"
    assert not (tmp_path / "executed").exists()
    assert [path.name for path in cache.iterdir()] == [published.file]
    refuse_pip(monkeypatch)
    assert fetch(published, "test") == data


def test_an_archive_with_another_hash_is_not_opened(tmp_path: Path, cache: Path, published: Archive) -> None:
    with pytest.raises(
        InputError, match=r"test is in odd-Name-1.0.tar.gz, which pip could not fetch \(THESE PACKAGES DO NOT"
    ):
        fetch(Archive(published.package, published.version, "0" * 64), "test")
    assert not (tmp_path / "executed").exists() and not list(cache.glob("*"))


def test_a_damaged_cache_is_fetched_again(cache: Path, published: Archive) -> None:
    cache.mkdir()
    (cache / published.file).write_bytes(b"cut off")
    assert hashlib.sha256(fetch(published, "test")).hexdigest() == published.sha256
    assert hashlib.sha256((cache / published.file).read_bytes()).hexdigest() == published.sha256


def test_several_at_once(tmp_path: Path, cache: Path, published: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    def download(archive: Archive, folder: Path, _: str) -> None:
        (folder / archive.file).write_bytes((tmp_path / "index" / archive.file).read_bytes())

    monkeypatch.setattr(module, "_download", download)
    with ThreadPoolExecutor(3) as pool:
        got = set(pool.map(lambda _: fetch(published, "test"), range(3)))
    assert len(got) == 1 and [path.name for path in cache.iterdir()] == [published.file]


def test_without_a_network_the_message_says_what_to_do(cache: Path) -> None:
    with pytest.raises(InputError) as caught:
        fetch(Archive("nowhere", "1.0", "0" * 64), "data 'x'")
    message = str(caught.value)
    assert "data 'x' is in nowhere-1.0.tar.gz, which pip could not fetch (Could not find a version" in message
    assert f"check the network and pip's index, or put that file into {cache}." in message and "\n" not in message


def test_without_pip_the_extra_is_named(cache: Path, published: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "is_installed", lambda _: False)
    with pytest.raises(
        MissingExtraError, match=r"test needs pip, which is not installed: pip install 'mobilekit\[train\]'"
    ):
        fetch(published, "test")


def test_what_pip_leaves_is_checked_too(cache: Path, published: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    def download(archive: Archive, folder: Path, _: str) -> None:
        (folder / archive.file).write_bytes(b"something else")

    monkeypatch.setattr(module, "_download", download)
    with pytest.raises(InputError, match=r"test: pip fetched odd-Name-1.0.tar.gz with another content"):
        fetch(published, "test")
    assert not list(cache.glob("*"))


def test_a_cache_that_cannot_be_written(tmp_path: Path, published: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("MOBILEKIT_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(InputError, match="cannot be written: a part of the path is a file"):
        fetch(published, "test")


def test_place_of_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MOBILEKIT_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "mobilekit"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert cache_folder() == tmp_path / ".cache" / "mobilekit"
    monkeypatch.setenv("MOBILEKIT_CACHE", "~/own")
    assert cache_folder() == tmp_path / "own"


def test_members_are_plain_files_of_reasonable_size(monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    with pytest.raises(InputError, match="link: is no plain file"):
        member(buffer.getvalue(), "link")
    monkeypatch.setattr(module, "_LARGEST", 3)
    assert member(tar({"a": b"123"}), "a") == b"123"
    with pytest.raises(InputError, match="a: is no plain file of at most 3 bytes"):
        member(tar({"a": b"1234"}), "a")
    with pytest.raises(InputError, match="b: is not in its archive"):
        member(tar({"a": b"1"}), "b")
    with pytest.raises(InputError, match="a: is not in its archive"):
        member(b"no archive", "a")
