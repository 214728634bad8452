"""`mobilekit distill` as a program: killed in the middle of its stages and gone on with, and on two processes."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from training_program import LAUNCH, ROWS

from mobilekit.models.load import load
from mobilekit.text.data.rows import TextData
from mobilekit.training.pretrain import Corpus, pretrain
from mobilekit.training.settings import Settings
from mobilekit.training.train import Splits, train

QUICK = Settings(epochs=3, batch=16, learning_rate=2e-3, length=64)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A teacher, a general teacher, a table and a text."""
    place = tmp_path_factory.mktemp("place")
    labels = ("negative", "positive")
    data = TextData("toy", "sequence-classification", labels, "single_label_classification", ROWS)
    train(load("tiny-embedding"), Splits(data, data), place / "teacher", QUICK)
    pretrain(load("tiny-embedding"), Corpus(ROWS), place / "words", QUICK)
    with (place / "data.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *((row.text, labels[int(row.label or 0)]) for row in ROWS)])  # type: ignore[arg-type]
    (place / "text.txt").write_text("\n\n".join(row.text for row in ROWS) + "\n")
    return place


def arguments(place: Path, out: str, *more: str) -> list[str]:
    given = "-m mobilekit distill --recipe tinybert --student distil6 --depth 2 --copies 2 --inner-epochs 2 "
    given += "--general-epochs 2 --epochs 2 --batch 16 --save-every 1 --dropout 0 --precision fp32 --quiet --skip-alone"
    files = {"teacher": "teacher", "general-teacher": "words", "text": "text.txt", "data": "data.csv"}
    files |= {"dev": "data.csv", "out": out}
    return [*given.split(), *(f"--{name}={place / file}" for name, file in files.items()), *more]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "OMP_NUM_THREADS": "1"}


def ran(*arguments: str) -> None:
    call = [sys.executable, *arguments]
    subprocess.run(call, check=True, env=environment(), stdout=subprocess.DEVNULL, timeout=300)


def weights(place: Path, name: str) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    return load_file(place / name / "model.safetensors")


@pytest.mark.slow
def test_killed_run_goes_on_with_its_stages_and_ends_with_the_same_weights(place: Path) -> None:
    ran(*arguments(place, "whole"))
    killed = subprocess.Popen([sys.executable, *arguments(place, "killed")], env=environment())
    work, deadline = place / "killed.training", time.monotonic() + 120
    while not (work / "stage-2/checkpoint").is_dir() and time.monotonic() < deadline and killed.poll() is None:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    # The first stage is done, the second has begun, and variations are kept.
    assert (work / "stage-1/done.json").is_file() and not (work / "stage-2/done.json").exists()
    assert (work / "augmented.jsonl").is_file() and not (place / "killed").exists()
    again = subprocess.run(
        [sys.executable, *arguments(place, "killed")], env=environment(), capture_output=True, text=True, check=False
    )
    assert again.returncode == 2 and "--resume goes on with it" in again.stderr
    other = subprocess.run(
        [sys.executable, *arguments(place, "killed", "--resume", "--inner-rate", "0.5")],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert other.returncode == 2 and "other settings" in other.stderr
    ran(*arguments(place, "killed", "--resume"))
    whole, resumed = weights(place, "whole"), weights(place, "killed")
    assert all(torch.equal(whole[name], resumed[name]) for name in whole) and not work.exists()


@pytest.mark.slow
def test_two_processes_do_what_one_does(place: Path) -> None:
    ran(*arguments(place, "one"))
    ran(*LAUNCH.split(), *arguments(place, "two"))
    reports = [json.loads((place / name / "distill.json").read_text()) for name in ("one", "two")]
    assert [report["processes"] for report in reports] == [1, 2]
    one, two = weights(place, "one"), weights(place, "two")
    assert max(float((one[name] - two[name]).abs().max()) for name in one) < 2e-3
