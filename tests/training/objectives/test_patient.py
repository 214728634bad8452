"""Patient distillation (Sun et al. 2019): the loss by hand, and which layers learn from which."""

from __future__ import annotations

import pytest
import torch

from mobilekit.training.objectives.patient import patient_layers, patient_loss


def test_patient_loss_by_hand() -> None:
    ours = torch.tensor([[[3.0, 4.0], [1.0, 0.0]]])
    theirs = torch.tensor([[[0.0, 2.0], [5.0, 0.0]]])
    # Unit vectors (0.6, 0.8) and (0, 1): 0.36 + 0.04; the second pair has one direction.
    assert patient_loss(ours, theirs).item() == pytest.approx(0.4)
    assert patient_loss(10 * ours, 0.1 * theirs).item() == pytest.approx(0.4)


def test_patient_loss_is_the_published_sum_over_layers_and_inputs() -> None:
    generator = torch.Generator().manual_seed(0)
    ours, theirs = (torch.randn(3, 2, 5, generator=generator) for _ in range(2))
    total = 0.0
    for i in range(3):
        for j in range(2):
            a, b = ours[i, j], theirs[i, j]
            total += float(((a / a.norm() - b / b.norm()) ** 2).sum())
    assert patient_loss(ours, theirs).item() == pytest.approx(total, rel=1e-5)


def test_layers_are_those_of_the_paper() -> None:
    assert patient_layers("skip", 6, 12) == (2, 4, 6, 8, 10)
    assert patient_layers("last", 6, 12) == (7, 8, 9, 10, 11)
    assert patient_layers("skip", 3, 12) == (4, 8) and patient_layers("last", 3, 12) == (10, 11)
    assert patient_layers("skip", 6, 6) == patient_layers("last", 6, 6) == (1, 2, 3, 4, 5)
