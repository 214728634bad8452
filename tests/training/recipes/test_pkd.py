"""BERT-PKD (Sun et al. 2019): the recipe's loss by hand, with either patience and either state of a text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from lessons import CLASSIFIER, ROWS, SETTINGS, Look, labelled, lesson, look, loss_of, soft_targets, student, teacher
from torch import Tensor

from mobilekit.models.model import Model
from mobilekit.text.data.rows import TextRow
from mobilekit.training.recipes.registry import Lesson, recipe
from mobilekit.training.stages import Stage

OPTIONS = {"temperature": 3.0, "soft": 0.3, "beta": 2.5}


def stage_of(made: Lesson) -> Stage:
    (stage,) = recipe("pkd").task(made)
    return stage


def first(seen: Look, layer: int) -> Tensor:
    """The first token's state at unit length. layer: 0 for the embeddings, then as the paper counts."""
    return seen.hidden[layer][0] / seen.hidden[layer][0].norm()


def mean(seen: Look, layer: int) -> Tensor:
    middle = seen.hidden[layer].mean(0)
    return middle / middle.norm()


def by_hand(pupil: Model, taught: Model, layers: list[tuple[int, int]], beta: float, averaged: bool = False) -> float:
    """Equation 8 there. layers: (the student's, the teacher's), both counted from 1."""
    state, total = mean if averaged else first, 0.0
    for row in ROWS:
        ours, theirs = look(pupil, row.text), look(taught, row.text)
        patient = sum(float(((state(ours, own) - state(theirs, other)) ** 2).sum()) for own, other in layers)
        total += float(
            0.7 * labelled(ours.logits, int(row.label or 0)) + 0.3 * soft_targets(ours.logits, [theirs.logits], 3.0)
        )
        total += beta * patient
    return total


@pytest.mark.parametrize(
    ("patience", "deep", "shallow", "layers"),
    [
        ("skip", 4, 2, [(1, 2)]),
        ("last", 4, 2, [(1, 3)]),
        ("skip", 6, 3, [(1, 2), (2, 4)]),
        ("last", 6, 3, [(1, 4), (2, 5)]),
        ("last", 4, 4, [(1, 1), (2, 2), (3, 3)]),
    ],
)
def test_states_are_compared_on_the_way_to_the_answers(
    patience: str, deep: int, shallow: int, layers: list[tuple[int, int]], tmp_path: Path
) -> None:
    pupil, taught = student(layers=shallow), teacher(layers=deep)
    stage = stage_of(lesson("pkd", tmp_path, pupil, [taught], {**OPTIONS, "patience": patience}))
    assert loss_of(stage, 4).item() == pytest.approx(by_hand(pupil, taught, layers, 2.5), rel=1e-4)


def test_a_classifier_of_the_mean_has_the_mean_for_its_state(tmp_path: Path) -> None:
    head = replace(CLASSIFIER, mean=True)
    pupil, taught = student(head), teacher(head)
    stage = stage_of(lesson("pkd", tmp_path, pupil, [taught], OPTIONS))
    assert loss_of(stage, 4).item() == pytest.approx(by_hand(pupil, taught, [(1, 2)], 2.5, averaged=True), rel=1e-4)


def test_without_beta_it_is_hintons_loss(tmp_path: Path) -> None:
    pupil, taught = student(), teacher()
    stage = stage_of(lesson("pkd", tmp_path / "pkd", pupil, [taught], {**OPTIONS, "beta": 0.0}))
    soft = {name: OPTIONS[name] for name in ("temperature", "soft")}
    (plain,) = recipe("hinton").task(lesson("hinton", tmp_path / "hinton", pupil, [taught], soft))
    assert loss_of(stage, 4).item() == pytest.approx(loss_of(plain, 4).item(), rel=1e-6)
    assert loss_of(stage, 4).item() == pytest.approx(by_hand(pupil, taught, [], 0.0), rel=1e-4)


def test_the_teacher_reads_its_own_prefix_and_token_types(tmp_path: Path) -> None:
    pupil, taught = student(token_types=0), teacher()
    taught.prefix = "very "
    rows = [TextRow(row.text, "that was the film", row.label) for row in ROWS]
    made = lesson("pkd", tmp_path, pupil, [taught], {**OPTIONS, "soft": 0.0}, rows, replace(SETTINGS, length=9))
    expected = 0.0
    for row in rows:
        ours, theirs = look(pupil, row.text, row.pair, 9), look(taught, row.text, row.pair, 9)
        expected += float(labelled(ours.logits, int(row.label or 0)))
        expected += 2.5 * float(((first(ours, 1) - first(theirs, 2)) ** 2).sum())
    assert loss_of(stage_of(made), 4).item() == pytest.approx(expected, rel=1e-4)


def test_states_are_those_of_the_inputs_in_any_order(tmp_path: Path) -> None:
    stage = stage_of(lesson("pkd", tmp_path, student(), [teacher()], OPTIONS))
    objective = stage.objective()
    stage.module.eval()
    alone = [objective.loss(stage.module, [i], torch.device("cpu")).item() for i in range(4)]
    turned = objective.loss(stage.module, [3, 0, 2], torch.device("cpu")).item()
    assert turned == pytest.approx(alone[3] + alone[0] + alone[2], rel=1e-4)
    assert objective.count([3, 0, 2]) == 3 and objective.lengths == [5, 12, 3, 7]


def test_what_is_trained_is_the_student_alone_and_all_of_it(tmp_path: Path) -> None:
    pupil, taught = student(), teacher()
    stage = stage_of(lesson("pkd", tmp_path, pupil, [taught], OPTIONS))
    assert stage.settings == SETTINGS and stage.judged and stage.judge is None
    assert {id(p) for p in stage.module.parameters()} == {id(p) for p in pupil.module.parameters()}
    stage.objective().loss(stage.module, range(4), torch.device("cpu")).backward()  # type: ignore[no-untyped-call]
    named = dict(pupil.module.named_parameters())
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for n, p in named.items() if "key.bias" not in n)
    assert all(p.grad is None for p in taught.module.parameters())
