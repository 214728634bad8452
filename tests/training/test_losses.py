"""Each loss against a value computed by hand from its formula."""

from __future__ import annotations

import math

import pytest
import torch

from mobilekit.models.config import HeadConfig
from mobilekit.models.tasks import SPAN_LABELS
from mobilekit.training.features import IGNORED
from mobilekit.training.losses import task_loss

ONES = torch.ones(2, 3, dtype=torch.int64)


def nll(logits: list[float], index: int) -> float:
    return math.log(sum(math.exp(v) for v in logits)) - logits[index]


def classifier(problem_type: str, count: int = 2) -> HeadConfig:
    return HeadConfig("sequence-classification", tuple("abc"[:count]), problem_type)


def test_one_label_of_many_is_cross_entropy() -> None:
    rows = [[1.0, -0.5], [0.25, 2.0]]
    got = task_loss(classifier("single_label_classification"))(torch.tensor(rows), torch.tensor([1, 0]), ONES)
    assert got.item() == pytest.approx(nll(rows[0], 1) + nll(rows[1], 0), rel=1e-6)


def test_several_labels_are_binary_cross_entropies_averaged_over_labels() -> None:
    logits, target = [[0.5, -1.0]], [[1.0, 0.0]]
    got = task_loss(classifier("multi_label_classification"))(torch.tensor(logits), torch.tensor(target), ONES[:1])
    sigmoid = [1 / (1 + math.exp(-v)) for v in logits[0]]
    assert got.item() == pytest.approx(-(math.log(sigmoid[0]) + math.log(1 - sigmoid[1])) / 2, rel=1e-6)


def test_regression_is_squared_error() -> None:
    got = task_loss(classifier("regression", 1))(torch.tensor([[2.0], [1.0]]), torch.tensor([[0.5], [1.5]]), ONES)
    assert got.item() == pytest.approx(1.5**2 + 0.5**2)


def test_tags_leave_out_what_is_ignored() -> None:
    logits = [[[1.0, 0.0], [0.0, 3.0], [5.0, 5.0]]]
    target = torch.tensor([[0, 1, IGNORED]])
    got = task_loss(HeadConfig("token-classification", ("O", "X")))(torch.tensor(logits), target, ONES[:1])
    assert got.item() == pytest.approx(nll([1.0, 0.0], 0) + nll([0.0, 3.0], 1), rel=1e-6)


def test_span_is_the_mean_of_start_and_end_and_padding_is_no_choice() -> None:
    logits = torch.tensor([[[1.0, 0.0], [2.0, 1.0], [9.0, 9.0]]])
    mask = torch.tensor([[1, 1, 0]])
    got = task_loss(HeadConfig("question-answering", SPAN_LABELS))(logits, torch.tensor([[1, 0]]), mask)
    assert got.item() == pytest.approx((nll([1.0, 2.0], 1) + nll([0.0, 1.0], 0)) / 2, rel=1e-6)


def test_heads_without_labels_have_no_loss() -> None:
    with pytest.raises(ValueError, match="labels do not train a sentence-embedding head"):
        task_loss(HeadConfig("sentence-embedding"))
