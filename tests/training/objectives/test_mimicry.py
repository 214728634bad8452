"""TinyBERT's losses of the insides (Jiao et al. 2020, section 3) by hand, the layer map, and who gets gradients."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from mobilekit.errors import InputError
from mobilekit.models.load import load
from mobilekit.training.features import Features
from mobilekit.training.layers import read_map, spread_map
from mobilekit.training.objectives.mimicry import Mimicry, Weights, score_error, state_error
from mobilekit.training.objectives.observed import Observed, Projections

CPU = torch.device("cpu")


def inputs() -> list[Features]:
    texts = ("a good film", "bad", "this is not the very great movie that it was")
    encoded = [load("tiny-classifier").tokenizer.encode(text) for text in texts]
    return [Features(each.ids, each.type_ids, np.zeros((), np.int64)) for each in encoded]


def test_state_error_by_hand() -> None:
    ours = torch.tensor([[[1.0, 2.0], [0.0, 0.0], [9.0, 9.0]]])
    theirs = torch.tensor([[[0.0, 0.0], [0.0, 2.0], [0.0, 0.0]]])
    # (1 + 4) / 2 and (0 + 4) / 2, over two tokens; the third is padding.
    assert state_error(ours, theirs, torch.tensor([[1.0, 1.0, 0.0]])).item() == pytest.approx((2.5 + 2.0) / 2)


def test_score_error_by_hand() -> None:
    ours, theirs = torch.zeros(1, 2, 3, 3), torch.zeros(1, 2, 3, 3)
    ours[0, 0, 0, 1], ours[0, 1, 1, 1], ours[0, 0, 0, 2] = 2.0, 4.0, 100.0
    # Two heads, two tokens: 4 / 4 and 16 / 4, and their mean; what stands in padding does not count.
    assert score_error(ours, theirs, torch.tensor([[1.0, 1.0, 0.0]])).item() == pytest.approx((1.0 + 4.0) / 2)


def test_one_input_is_the_published_mean_squared_error() -> None:
    generator = torch.Generator().manual_seed(0)
    ours, theirs = (torch.randn(1, 4, 6, generator=generator) for _ in range(2))
    everything = torch.ones(1, 4)
    assert state_error(ours, theirs, everything).item() == pytest.approx(functional.mse_loss(ours, theirs).item())
    a, b = (torch.randn(1, 3, 4, 4, generator=generator) for _ in range(2))
    heads = sum(functional.mse_loss(a[0, h], b[0, h]).item() for h in range(3)) / 3
    assert score_error(a, b, everything).item() == pytest.approx(heads, rel=1e-5)


def test_relative_errors_are_over_the_teachers_mean_square_input_by_input() -> None:
    generator = torch.Generator().manual_seed(0)
    mask = torch.tensor([[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0]])
    ours, theirs = (torch.randn(2, 4, 6, generator=generator) for _ in range(2))
    by_hand = sum(
        ((a - b).square().mean() / b.square().mean()).item()
        for a, b in ((ours[0], theirs[0]), (ours[1, :2], theirs[1, :2]))
    )
    assert state_error(ours, theirs, mask, relative=True).item() == pytest.approx(by_hand, rel=1e-5)
    ours, theirs = (torch.randn(2, 3, 4, 4, generator=generator) for _ in range(2))
    by_hand = sum(
        ((a - b).square().mean() / b.square().mean()).item()
        for a, b in ((ours[0], theirs[0]), (ours[1, :, :2, :2], theirs[1, :, :2, :2]))
    )
    assert score_error(ours, theirs, mask, relative=True).item() == pytest.approx(by_hand, rel=1e-5)
    # However large the teacher's are, being off by all of them is 1.
    assert state_error(0 * theirs[:, 0], 100 * theirs[:, 0], mask, relative=True).item() == pytest.approx(2)
    assert state_error(0 * theirs[:, 0], 0 * theirs[:, 0], mask, relative=True).item() == 0


def test_layers_are_spread_as_in_the_paper() -> None:
    assert spread_map(6, 12) == (1, 3, 5, 7, 9, 11) and spread_map(4, 12) == (2, 5, 8, 11)
    assert spread_map(3, 3) == (0, 1, 2) and read_map("0, 2", 2, 3) == (0, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [("0,3", "layer 3 is out of range; the teacher's are 0 to 2"), ("0", "names 1 of"), ("a,b", "numbers of")],
)
def test_impossible_maps_are_named(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_map(text, 2, 3)


def test_a_student_that_is_its_teacher_has_no_loss_and_another_has() -> None:
    student, teacher = load("tiny-classifier"), load("tiny-classifier")
    objective = Mimicry(student, teacher, inputs(), (0, 1))
    module = Observed(student.module, answers=False).eval()
    assert objective.loss(module, range(3), CPU).item() == pytest.approx(0, abs=1e-9)
    with torch.no_grad():
        student.module.encoder.layers[1].ffn.up.weight.add_(0.1)
    assert objective.loss(module, range(3), CPU).item() > 1e-4


def test_an_input_counts_alike_whatever_it_is_padded_to() -> None:
    student, teacher = load("tiny-classifier"), load("tiny-tagger")
    objective = Mimicry(student, teacher, inputs(), (0, 1))
    module = Observed(student.module, answers=False).eval()
    alone = sum(objective.loss(module, [i], CPU).item() for i in range(3))
    assert objective.loss(module, range(3), CPU).item() == pytest.approx(alone, rel=1e-4)
    assert objective.count(range(3)) == 3


def test_each_weight_is_of_its_own_part() -> None:
    student, teacher = load("tiny-classifier"), load("tiny-shared")
    teacher.module.encoder = load("tiny-classifier").module.encoder
    with torch.no_grad():
        for parameter in teacher.module.encoder.parameters():
            parameter.mul_(1.1)
    module = Observed(student.module, answers=False).eval()

    def loss(*weights: float) -> float:
        return Mimicry(student, teacher, inputs(), (0, 1), Weights(*weights)).loss(module, range(3), CPU).item()

    parts = [loss(1, 0, 0), loss(0, 1, 0), loss(0, 0, 1)]
    assert all(part > 0 for part in parts) and loss(0, 0, 0) == 0
    assert loss(2, 3, 5) == pytest.approx(2 * parts[0] + 3 * parts[1] + 5 * parts[2], rel=1e-5)


def test_gradients_reach_student_and_projections_and_nothing_of_the_teacher(tmp_path: Path) -> None:
    from mobilekit.training.students.registry import StudentOptions, students

    teacher = load("tiny-classifier")
    student = students()["tiny4"].make(teacher, StudentOptions(depth=2), 0, None)
    module = Observed(student.module, Projections(32, 64, 0), answers=False)
    loss = Mimicry(student, teacher, inputs(), (0, 1)).loss(module, range(3), CPU)
    loss.backward()  # type: ignore[no-untyped-call]
    named = dict(module.named_parameters())
    # Keys' biases move all scores of a query alike, but scores themselves are compared: they count here.
    reached = {name for name, p in named.items() if p.grad is not None and p.grad.abs().sum() > 0}
    assert {name for name in named if ".head." not in name} <= reached
    assert all(p.grad is None for p in teacher.module.parameters())
