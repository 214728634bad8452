"""Stages of a run: whose judge decides, what is taken of one that was done, and how one that was ended goes on."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from mobilekit.errors import InputError
from mobilekit.training.loop import Outcome
from mobilekit.training.settings import Settings
from mobilekit.training.stages import Judge, Stage, run_stage

SETTINGS = Settings(epochs=4, batch=2, learning_rate=0.1, precision="fp32", save_every=1)
ABOUT = {"data": "toy"}


class Pull:
    """Six inputs that pull a line's weight to their numbers. broken: the loss that is not computed any more."""

    def __init__(self, broken: int = 0) -> None:
        self.lengths, self.asked, self.broken = [1] * 6, 0, broken

    def count(self, indices: Sequence[int]) -> float:
        return float(len(indices))

    def loss(self, module: nn.Module, indices: Sequence[int], device: torch.device) -> Tensor:
        self.asked += 1
        if self.asked == self.broken:
            raise KeyboardInterrupt
        return (module(torch.tensor([[float(i)] for i in indices])) - 3).square().sum()


def line() -> nn.Module:
    torch.manual_seed(0)
    return nn.Linear(1, 1)


def weights(module: nn.Module) -> list[float]:
    return [float(p.detach()) for p in module.parameters()]


def run(stage: Stage, folder: Path, judge: Judge | None = None, resume: bool = False) -> Outcome:
    return run_stage(stage, folder, judge, resume, ABOUT, lambda text: None)


def test_a_stage_that_was_done_is_taken_with_its_weights(tmp_path: Path) -> None:
    module, objective = line(), Pull()
    fresh = weights(module)
    outcome = run(Stage("pull", lambda: objective, module, SETTINGS), tmp_path)
    learned, asked = weights(module), objective.asked
    assert learned != fresh and asked == 12
    other = line()
    again = run(Stage("pull", lambda: objective, other, SETTINGS), tmp_path, resume=True)
    assert weights(other) == learned and objective.asked == asked
    assert vars(again) == vars(outcome)


def test_the_weights_that_are_taken_are_those_of_the_best_epoch(tmp_path: Path) -> None:
    module, seen = line(), []

    def second_is_best() -> tuple[float, dict[str, float]]:
        seen.append(weights(module))
        return (1.0 if len(seen) == 2 else 0.0), {}

    outcome = run(Stage("pull", Pull, module, SETTINGS, judge=second_is_best), tmp_path)
    assert outcome.best_epoch == 2 and weights(module) == seen[1] != seen[3]
    other = line()
    run(Stage("pull", Pull, other, SETTINGS), tmp_path, resume=True)
    assert weights(other) == seen[1]


def test_without_resume_it_is_run_again(tmp_path: Path) -> None:
    run(Stage("pull", Pull, line(), SETTINGS), tmp_path)
    objective = Pull()
    run(Stage("pull", lambda: objective, line(), SETTINGS), tmp_path)
    assert objective.asked == 12


def test_a_stage_that_was_ended_goes_on(tmp_path: Path) -> None:
    whole, halved = line(), line()
    run(Stage("pull", Pull, whole, SETTINGS), tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        run(Stage("pull", lambda: Pull(broken=8), halved, SETTINGS), tmp_path / "halved")
    assert weights(halved) != weights(whole)
    rest, module = Pull(), line()
    outcome = run(Stage("pull", lambda: rest, module, SETTINGS), tmp_path / "halved", resume=True)
    assert rest.asked == 12 - 7 and outcome.steps == 12 and len(outcome.epochs) == 4
    assert weights(module) == weights(whole)


@pytest.mark.parametrize(
    "other",
    [
        Stage("push", Pull, line(), SETTINGS),
        Stage("pull", Pull, line(), replace(SETTINGS, learning_rate=0.2)),
        Stage("pull", Pull, line(), replace(SETTINGS, seed=1)),
    ],
)
def test_what_was_done_otherwise_is_not_taken(other: Stage, tmp_path: Path) -> None:
    run(Stage("pull", Pull, line(), SETTINGS), tmp_path)
    with pytest.raises(InputError, match="resume"):
        run(other, tmp_path, resume=True)


def test_what_was_done_with_other_data_is_not_taken(tmp_path: Path) -> None:
    stage = Stage("pull", Pull, line(), SETTINGS)
    run_stage(stage, tmp_path, None, False, {"data": "toy"}, lambda text: None)
    with pytest.raises(InputError, match="resume"):
        run_stage(stage, tmp_path, None, True, {"data": "other"}, lambda text: None)


def test_a_stages_own_judge_comes_first_and_the_tasks_judges_where_it_may(tmp_path: Path) -> None:
    def judge(best: int) -> Judge:
        epochs = iter(range(1, 5))
        return lambda: (float(next(epochs) == best), {"of": float(best)})

    cases = [(True, judge(1), 1), (False, judge(1), 1), (True, None, 3), (False, None, 4)]
    for i, (judged, own, best) in enumerate(cases):
        stage = Stage("pull", Pull, line(), SETTINGS, judged, own)
        outcome = run(stage, tmp_path / str(i), judge(3))
        assert outcome.best_epoch == best
        assert outcome.epochs[-1].get("of") == (None if best == 4 else best)


def test_preparing_is_part_of_the_seconds_and_a_stage_says_its_name(tmp_path: Path) -> None:
    def slowly() -> Pull:
        time.sleep(0.3)
        return Pull()

    said: list[str] = []
    stage = Stage("pull", slowly, line(), SETTINGS)
    outcome = run_stage(stage, tmp_path, None, False, ABOUT, said.append)
    assert outcome.seconds > 0.3 and said and all(text.startswith("pull: ") for text in said)
    assert run(stage, tmp_path, resume=True).seconds == outcome.seconds


def test_preparing_before_a_stage_was_ended_is_part_of_its_seconds(tmp_path: Path) -> None:
    def slowly() -> Pull:
        time.sleep(0.3)
        return Pull(broken=8)

    with pytest.raises(KeyboardInterrupt):
        run(Stage("pull", slowly, line(), SETTINGS), tmp_path)
    outcome = run(Stage("pull", Pull, line(), SETTINGS), tmp_path, resume=True)
    assert outcome.seconds > 0.3 and run(Stage("pull", Pull, line(), SETTINGS), tmp_path, resume=True) == outcome
    # Begun anew it is not.
    run(Stage("pull", Pull, line(), SETTINGS), tmp_path)
    assert json.loads((tmp_path / "prepared.json").read_text())["seconds"] < 0.3


def test_seconds_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "prepared.json").write_text("{}")
    with pytest.raises(InputError, match=r"prepared\.json: cannot be read"):
        run(Stage("pull", Pull, line(), SETTINGS), tmp_path, resume=True)


def test_the_only_stage_says_no_name(tmp_path: Path) -> None:
    said: list[str] = []
    run_stage(Stage("", Pull, line(), SETTINGS), tmp_path, None, False, ABOUT, said.append)
    assert said and all(text.startswith("step ") for text in said)
