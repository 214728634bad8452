"""Soft targets: losses against hand-computed values and published formulas (Hinton, Vinyals & Dean 2015)."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from benchmarks.matrix_models import write_folder
from mobilekit.errors import InputError
from mobilekit.models.load import load
from mobilekit.models.rehead import with_head
from mobilekit.text.data.rows import TextRow, TokensRow
from mobilekit.training.features import IGNORED, encode_rows
from mobilekit.training.objectives.soft import Answers, Soft, matched_logits, soft_binary, soft_cross_entropy
from mobilekit.training.predict import outputs


def softmax(values: list[float], temperature: float) -> list[float]:
    exponents = [math.exp(v / temperature) for v in values]
    return [e / sum(exponents) for e in exponents]


def test_soft_loss_is_the_published_cross_entropy_times_temperature_squared() -> None:
    student, teacher, temperature = [0.3, -1.2, 0.7], [2.0, -0.5, 0.1], 3.0
    got = soft_cross_entropy(torch.tensor([student]), torch.tensor([[teacher]]), temperature)
    pairs = zip(softmax(teacher, temperature), softmax(student, temperature), strict=True)
    assert got.item() == pytest.approx(-(temperature**2) * sum(p * math.log(q) for p, q in pairs), rel=1e-6)


def test_several_teachers_give_the_mean_of_their_softened_probabilities() -> None:
    student, teachers = torch.tensor([[0.3, -0.2]]), torch.tensor([[[2.0, 0.0]], [[-1.0, 3.0]]])
    mean = [(a + b) / 2 for a, b in zip(softmax([2.0, 0.0], 2.0), softmax([-1.0, 3.0], 2.0), strict=True)]
    own = softmax([0.3, -0.2], 2.0)
    expected = -4 * sum(p * math.log(q) for p, q in zip(mean, own, strict=True))
    assert soft_cross_entropy(student, teachers, 2.0).item() == pytest.approx(expected, rel=1e-6)


def test_cross_entropy_and_divergence_have_the_same_gradient() -> None:
    teachers = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(0))
    gradients = []
    for form in ("cross-entropy", "divergence"):
        logits = torch.linspace(-1, 1, 15).reshape(5, 3).clone().requires_grad_()
        if form == "cross-entropy":
            loss = soft_cross_entropy(logits, teachers, 2.5)
        else:
            target = (teachers / 2.5).softmax(-1).mean(0)
            given = (logits / 2.5).log_softmax(-1)
            loss = torch.nn.functional.kl_div(given, target, reduction="sum") * 2.5**2
        gradients.append(torch.autograd.grad(loss, logits)[0])
    assert torch.allclose(*gradients, atol=1e-6)


def test_soft_targets_become_matched_logits_at_high_temperatures() -> None:
    """Hinton et al. 2015, equation 4: for centred logits the gradient becomes (student - teacher) / labels."""
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(4, 3, generator=generator, dtype=torch.float64).requires_grad_()
    teachers = torch.randn(1, 4, 3, generator=generator, dtype=torch.float64)
    centred, taught = logits - logits.mean(-1, keepdim=True), teachers - teachers.mean(-1, keepdim=True)
    soft = torch.autograd.grad(soft_cross_entropy(centred, taught, 1e4), logits, retain_graph=True)[0]
    matched = torch.autograd.grad(matched_logits(centred, taught, 1.0), logits)[0]
    assert torch.allclose(soft, matched, atol=1e-4)


def test_matched_logits_by_hand() -> None:
    got = matched_logits(torch.tensor([[1.0, 3.0]]), torch.tensor([[[0.0, 1.0]]]), 1.0)
    # Centred: (-1, 1) and (-0.5, 0.5).
    assert got.item() == pytest.approx(((-0.5) ** 2 + 0.5**2) / 2 / 2)
    assert matched_logits(torch.tensor([[2.0]]), torch.tensor([[[0.5]]]), 1.0).item() == pytest.approx(1.5**2 / 2)


def test_several_labels_by_hand() -> None:
    got = soft_binary(torch.tensor([[1.0, -2.0]]), torch.tensor([[[3.0, 0.0]]]), 2.0)
    sigmoid = lambda v: 1 / (1 + math.exp(-v))  # noqa: E731
    pairs = [(sigmoid(1.5), sigmoid(0.5)), (sigmoid(0.0), sigmoid(-1.0))]
    loss = [-(p * math.log(q) + (1 - p) * math.log(1 - q)) for p, q in pairs]
    assert got.item() == pytest.approx(4 * sum(loss) / 2, rel=1e-6)


def test_logits_of_labels_that_stand_alone_are_not_centred() -> None:
    got = matched_logits(torch.tensor([[6.0, 6.0]]), torch.tensor([[[-6.0, -6.0]]]), 1.0, centred=False)
    assert got.item() == pytest.approx(144 / 2)
    assert matched_logits(torch.tensor([[6.0, 6.0]]), torch.tensor([[[-6.0, -6.0]]]), 1.0).item() == 0


def test_a_word_that_a_teacher_does_not_read_is_learnt_from_its_label_alone(tmp_path: Path) -> None:
    write_folder("roberta", "token-classification", tmp_path / "roberta")
    student, teacher = load(str(tmp_path / "roberta")), load("tiny-tagger")
    student = with_head(student, teacher.head, 0)
    # WordPiece has nothing left of a zero-width space; bytes have.
    rows = [TokensRow(("good", "\u200b", "film"), (1, 2, 3))]
    answers = Answers(student, [teacher], rows, 64, tmp_path, 2.0, 0.75, "probabilities")
    (own,), (read,) = encode_rows(student, rows, 64), encode_rows(teacher, rows, 64)
    assert own.words.tolist() == [0, 1, 2] and read.words.tolist() == [0, 2]
    (ours,), (theirs,) = outputs(student, [own]), outputs(teacher, [read])
    got = Soft(student, answers).loss(student.module.eval(), [0], torch.device("cpu"))
    ours, theirs = torch.from_numpy(ours[own.target != IGNORED]), torch.from_numpy(theirs[read.target != IGNORED])
    soft = -4 * ((theirs / 2).softmax(-1) * (ours[[0, 2]] / 2).log_softmax(-1)).sum()
    hard = -ours.log_softmax(-1)[[0, 1, 2], [1, 2, 3]].sum()
    assert got.item() == pytest.approx((0.75 * soft + 0.25 * hard).item(), rel=1e-5)


def test_a_teacher_whose_answers_are_no_numbers_is_refused(tmp_path: Path) -> None:
    student, teacher = load("tiny-classifier"), load("tiny-classifier")
    with torch.no_grad():
        next(teacher.module.parameters())[:] = float("nan")
    rows = [TextRow("a good film", None, 1)]
    with pytest.raises(InputError, match="teacher tiny-classifier: answers NaN"):
        Answers(student, [teacher], rows, 64, tmp_path, 2.0, 0.75, "probabilities")
