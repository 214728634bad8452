"""Killed at any moment, or out of disk: never half an artifact, one line, and the next run works."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import export.pipeline as pipeline
from export.pipeline import ExportError, export
from mobilekit.artifact import open_folder
from mobilekit.errors import InputError

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


def command(out: Path, *more: str) -> list[str]:
    options = ["--model", "tiny-classifier", "--target", "tflite", "--lengths", "16", "--out", str(out), *more]
    return [sys.executable, "-m", "mobilekit", "export", *options]


def whole_or_absent(folder: Path) -> bool:
    """Whether an artifact is there; fails when it is there but not whole."""
    if not folder.exists():
        return False
    artifact = open_folder(folder)
    assert artifact.altered() == [] and artifact.manifest.content["status"] == "passed"
    return True


def test_kill_at_ten_random_moments(tmp_path: Path) -> None:
    place = tmp_path / "tiny-classifier-int8" / "tflite"
    started = time.monotonic()
    subprocess.run(command(tmp_path), cwd=ROOT, check=True, capture_output=True)
    whole = time.monotonic() - started
    before = open_folder(place).manifest.content["sha256"]
    seed = int.from_bytes(os.urandom(4), "little")
    print("seed", seed)
    rng = random.Random(seed)
    for _ in range(10):
        child = subprocess.Popen(command(tmp_path, "--force", "--quiet"), cwd=ROOT, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0, whole))
        child.kill()
        child.wait()
        # The old artifact is there, or the new one; they have the same bytes.
        assert whole_or_absent(place)
    subprocess.run(command(tmp_path, "--force"), cwd=ROOT, check=True, capture_output=True)
    assert open_folder(place).manifest.content["sha256"] == before
    assert [p.name for p in place.parent.iterdir()] == ["tflite"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("needs the right to mount a tmpfs")
    yield place
    subprocess.run(["umount", str(place)], check=False)


def test_full_disk_is_said_before_the_work(small_disk: Path) -> None:
    done = subprocess.run(command(small_disk / "out", "--quiet"), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ") and "MB free, this needs about" in done.stderr
    assert len(done.stderr.splitlines()) == 1 and not list(small_disk.iterdir())


@pytest.mark.parametrize("room", [60_000, 250_000])
def test_disk_that_fills_up_during_the_work(small_disk: Path, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "require_space", lambda *_: None)
    (small_disk / "ballast").write_bytes(b"\0" * (390_000 - room))
    with pytest.raises((InputError, ExportError), match="the disk is full") as caught:
        export("tiny-classifier", "tflite", lengths=(16,), out=small_disk / "out")
    assert caught.value.exit_code == 2
    left = [p for p in small_disk.rglob("*") if p.is_file()]
    assert left == [small_disk / "ballast"]
