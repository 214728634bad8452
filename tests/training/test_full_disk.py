"""A disk that is full while a run writes: one line that says so, nothing half written, and no process that dies."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from training_program import ROWS

from mobilekit.errors import InputError
from mobilekit.models.load import load
from mobilekit.models.model import Model
from mobilekit.models.save import save_model
from mobilekit.models.weights import write_errors
from mobilekit.staging import staged
from mobilekit.training.checkpoint import Progress, save_best, save_progress
from mobilekit.training.kept import Kept, Put
from mobilekit.training.optimize import make_optimizer
from mobilekit.training.passages import Texts
from mobilekit.training.settings import Settings

FULL = "cannot be written: the disk is full"


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> Model:
    """Files are made, but nothing goes into them. A model from before."""
    from safetensors import SafetensorError

    loaded = load("tiny-words")

    def fail(*_: object, **__: object) -> None:
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    opened = Path.open

    def to_nowhere(path: Path, mode: str = "r", *more: object, **named: object) -> object:
        if "w" not in mode:
            return opened(path, mode, *more, **named)  # type: ignore[call-overload]
        path.touch()
        return open("/dev/full", mode, *more, **named)  # type: ignore[call-overload]

    monkeypatch.setattr("safetensors.torch.save_file", fail)
    monkeypatch.setattr("safetensors.numpy.save_file", fail)
    monkeypatch.setattr(Path, "open", to_nowhere)
    return loaded


def checkpoint(folder: Path, loaded: Model) -> None:
    module = torch.nn.Linear(2, 2)
    save_progress(folder, module, make_optimizer(module, Settings()), Progress())


def best(folder: Path, loaded: Model) -> None:
    save_best(folder, torch.nn.Linear(2, 2))


def kept(folder: Path, loaded: Model) -> None:
    def compute(put: Put) -> None:
        # More than a buffer holds.
        put(0, np.ones((9999, 3), np.float32))

    Kept(folder / "states.f32", [9999], 3, compute)


def texts(folder: Path, loaded: Model) -> None:
    Texts(loaded, ROWS, 32, folder)


def model(folder: Path, loaded: Model) -> None:
    with staged(folder / "out") as beside:
        save_model(loaded, beside)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("write", [checkpoint, best, kept, texts, model])
def test_a_full_disk_is_said_and_nothing_is_left(
    write: Callable[[Path, Model], None], full: Model, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=FULL):
        write(tmp_path / "deep", full)
    assert list(tmp_path.iterdir()) == []


def test_room_is_asked_for_before_a_teacher_is(tmp_path: Path) -> None:
    def never(put: Put) -> None:
        raise AssertionError("asked")

    with pytest.raises(InputError, match="MB free, this needs about"):
        Kept(tmp_path / "states.f32", [2**40], 384, never)


def test_other_errors_of_the_library_stay_what_they_are(tmp_path: Path) -> None:
    from safetensors import SafetensorError

    with pytest.raises(PermissionError) as denied, write_errors(Path("x")):
        raise SafetensorError('Error while serializing: I/O error: Permission denied (os error 13) at path "x"')
    assert denied.value.filename == "x"
    with pytest.raises(SafetensorError, match="no number"), write_errors(Path("x")):
        raise SafetensorError("no number")


def can_mount() -> bool:
    if sys.platform != "linux":
        return False
    call = ["unshare", "-rm", "mount", "-t", "tmpfs", "-o", "size=1m", "none", "/mnt"]
    return subprocess.run(call, capture_output=True, check=False).returncode == 0


TEACHING = "--teacher tiny-classifier --student tiny-classifier --anyway --skip-alone"
# Of the whole run: in the first checkpoint, in a later one, when states are kept, when text is, when the model is.
RUNS = {
    "checkpoint": ("700k", "train --model tiny-classifier --data data.csv"),
    "later": ("1500k", "train --model tiny-classifier --data data.csv --save-every 1"),
    "states": ("100k", "train --model tiny-tagger --data tags.conll --freeze encoder"),
    "text": ("16k", "pretrain --model tiny-words --text text.txt"),
    "answers": ("24k", f"distill {TEACHING} --data many.csv --dev data.csv"),
}


@pytest.mark.slow
@pytest.mark.skipif(not can_mount(), reason="a small file system cannot be mounted here")
@pytest.mark.parametrize("name", RUNS)
def test_runs_on_a_full_disk_end_in_one_line(name: str, tmp_path: Path) -> None:
    labels = ("negative", "positive")
    for file, rows in (("data.csv", ROWS), ("many.csv", ROWS * 40)):
        with (tmp_path / file).open("w", newline="") as opened:
            table = [(row.text, labels[int(row.label or 0)]) for row in rows]  # type: ignore[arg-type]
            csv.writer(opened).writerows([("text", "label"), *table])
    (tmp_path / "text.txt").write_text("a very good film\n\n" * 2000)
    (tmp_path / "tags.conll").write_text("film B-PER\nwas O\n\nparis B-LOC\nis O\n\n" * 400)
    (tmp_path / "full").mkdir()
    size, verb = RUNS[name]
    call = f"mount -t tmpfs -o size={size} none full && {sys.executable} -m mobilekit {verb} --out full/out "
    call += "--epochs 1 --quiet --precision fp32; echo $?; ls -A full"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", call],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    (said,) = done.stderr.strip().splitlines()
    code, *left = done.stdout.split()
    assert said.startswith("error: full/out") and ("the disk is full" in said or "MB free" in said), said
    # What can be gone on with stays.
    assert code == "2" and left in ([], ["out.training"]), done.stdout
