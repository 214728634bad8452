"""The loop learns, goes on where it was ended with the same weights, and does the same on two processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from training_program import LAUNCH, ROWS, SETTINGS

from mobilekit.errors import InputError
from mobilekit.models.load import load
from mobilekit.text.data.rows import TextRow
from mobilekit.training.features import encode_rows
from mobilekit.training.loop import Loop
from mobilekit.training.objectives.supervised import Supervised
from mobilekit.training.settings import Settings


def weights(folder: Path, settings: Settings = SETTINGS, resume: bool = False) -> dict[str, torch.Tensor]:
    model = load("tiny-classifier")
    loop = Loop(model.module, Supervised(model, encode_rows(model, ROWS, 32)), settings, folder)
    loop.run(resume)
    return {name: p.detach().clone() for name, p in model.module.named_parameters()}


def test_loss_falls(tmp_path: Path) -> None:
    model, said = load("tiny-classifier"), []
    objective = Supervised(model, encode_rows(model, ROWS, 32))
    outcome = Loop(
        model.module, objective, Settings(epochs=6, batch=16, learning_rate=1e-3), tmp_path, None, said.append
    ).run()
    losses = [float(text.split("loss ")[1].split(",")[0]) for text in said]
    assert losses[-1] < losses[0] / 2 and outcome.steps == 36 and "min left" in said[0]


def test_same_seed_gives_the_same_weights_and_another_gives_others(tmp_path: Path) -> None:
    first, again = weights(tmp_path / "a"), weights(tmp_path / "b")
    assert all(torch.equal(first[name], again[name]) for name in first)
    other = weights(tmp_path / "c", Settings(**{**SETTINGS.to_dict(), "seed": 1}))
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_pieces_of_a_batch_give_the_same_step(tmp_path: Path) -> None:
    plain = Settings(epochs=1, batch=16, learning_rate=1e-3, dropout=0.0, precision="fp32")
    results = []
    for parts in (1, 3):
        model = load("tiny-classifier")
        for module in model.module.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        settings = Settings(**{**plain.to_dict(), "parts": parts})
        Loop(model.module, Supervised(model, encode_rows(model, ROWS, 32)), settings, tmp_path / str(parts)).run()
        results.append({name: p.detach() for name, p in model.module.named_parameters()})
    assert all((results[0][n] - results[1][n]).abs().max() < 1e-4 for n in results[0])


def test_masks_are_drawn_anew_in_each_step(tmp_path: Path) -> None:
    class Seen:
        lengths = [4] * 8

        def __init__(self) -> None:
            self.seeds: list[int] = []

        def redraw(self, seed: int) -> None:
            self.seeds.append(seed)

        def count(self, indices: Sequence[int]) -> float:
            return float(len(indices))

        def loss(self, module: torch.nn.Module, indices: Sequence[int], device: torch.device) -> torch.Tensor:
            return module(torch.ones(len(indices), 2)).sum()

    found = []
    for parts in (1, 2):
        seen = Seen()
        Loop(torch.nn.Linear(2, 1), seen, Settings(epochs=2, batch=4, parts=parts), tmp_path / str(parts)).run()
        found.append(seen.seeds)
    assert found[0] == found[1] and len(set(found[0])) == 4


def test_settings_have_to_be_those_of_the_run_that_goes_on(tmp_path: Path) -> None:
    weights(tmp_path)
    with pytest.raises(InputError, match="learning_rate was 0.001, now 0.002"):
        weights(tmp_path, Settings(**{**SETTINGS.to_dict(), "learning_rate": 2e-3}), resume=True)
    with pytest.raises(InputError, match="no checkpoint to go on from"):
        weights(tmp_path / "other", resume=True)


def test_inputs_have_to_be_those_of_the_run_that_goes_on(tmp_path: Path) -> None:
    weights(tmp_path)
    model = load("tiny-classifier")
    other = Supervised(model, encode_rows(model, [*ROWS[1:], TextRow("good " * 20, None, 1)], 32))
    with pytest.raises(InputError, match=r"ids was \d+, now \d+"):
        Loop(model.module, other, SETTINGS, tmp_path).run(resume=True)


@pytest.mark.parametrize("file", ["progress.json", "weights.safetensors", "optimizer.safetensors"])
def test_broken_checkpoint_is_named(tmp_path: Path, file: str) -> None:
    weights(tmp_path)
    (tmp_path / "checkpoint" / file).write_bytes(b"{")
    with pytest.raises(InputError, match=file):
        weights(tmp_path, resume=True)


def program(out: Path, *options: str) -> list[str]:
    return [str(Path(__file__).parents[1] / "training_program.py"), str(out), *options]


@pytest.mark.slow
def test_killed_run_that_goes_on_ends_with_the_same_weights(tmp_path: Path) -> None:
    from safetensors.torch import load_file

    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, *program(tmp_path / "whole")], check=True, env=environment)
    killed = subprocess.Popen([sys.executable, *program(tmp_path / "killed", "--slow")], env=environment)
    checkpoint = tmp_path / "killed" / "checkpoint" / "progress.json"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if checkpoint.is_file() and json.loads(checkpoint.read_text())["step"] >= 4:
            break
        time.sleep(0.05)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert not (tmp_path / "killed" / "weights").exists()
    subprocess.run([sys.executable, *program(tmp_path / "killed", "--resume")], check=True, env=environment)
    whole, resumed = (load_file(tmp_path / name / "weights") for name in ("whole", "killed"))
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


@pytest.mark.slow
def test_two_processes_do_what_one_does(tmp_path: Path) -> None:
    from safetensors.torch import load_file

    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, *program(tmp_path / "one", "--no-dropout")], check=True, env=environment)
    launch = [sys.executable, *LAUNCH.split()]
    subprocess.run([*launch, *program(tmp_path / "two", "--no-dropout")], check=True, env=environment, timeout=300)
    assert [(tmp_path / name / "processes").read_text() for name in ("one", "two")] == ["1", "2"]
    one, two = (load_file(tmp_path / name / "weights") for name in ("one", "two"))
    # A key's bias moves all scores of a query alike, which the softmax undoes: its gradient is rounding, made large.
    names = [name for name in one if "key.bias" not in name]
    assert max(float((one[name] - two[name]).abs().max()) for name in names) < 1e-4


@pytest.mark.slow
def test_processes_without_an_input_in_the_last_batch_do_not_wait_for_ever(tmp_path: Path) -> None:
    from safetensors.torch import load_file

    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "OMP_NUM_THREADS": "1"}
    given = ("--no-dropout", "--rows=17")
    subprocess.run([sys.executable, *program(tmp_path / "one", *given)], check=True, env=environment)
    launch = [sys.executable, *LAUNCH.split()]
    subprocess.run([*launch, *program(tmp_path / "two", *given)], check=True, env=environment, timeout=120)
    one, two = (load_file(tmp_path / name / "weights") for name in ("one", "two"))
    assert max(float((one[n] - two[n]).abs().max()) for n in one if "key.bias" not in n) < 1e-4
