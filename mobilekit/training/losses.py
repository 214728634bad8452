"""Losses of the heads, as sums with the number of targets they are over: what many processes can add up."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from mobilekit.models.config import HeadConfig
from mobilekit.training.features import IGNORED

# logits, target, attention_mask -> the loss, summed over all targets
TaskLoss = Callable[[Tensor, Tensor, Tensor], Tensor]


def task_loss(head: HeadConfig) -> TaskLoss:
    """The loss of a head against its labels: cross-entropy, a binary one for each label, or squared error.

    Each is a sum over inputs (over tagged tokens, for token classification); several labels and several values of
    one input are averaged. Raises ValueError for a head that labels do not train.
    """
    if head.task == "sequence-classification":
        return {
            "single_label_classification": _one_of_many,
            "multi_label_classification": _several,
            "regression": _squared_error,
        }[head.problem_type]
    losses: dict[str, TaskLoss] = {"token-classification": _tags, "question-answering": _span}
    if head.task not in losses:
        raise ValueError(f"labels do not train a {head.task} head")
    return losses[head.task]


def _one_of_many(logits: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    return functional.cross_entropy(logits, target, reduction="sum")


def _several(logits: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    return functional.binary_cross_entropy_with_logits(logits, target, reduction="none").mean(-1).sum()


def _squared_error(logits: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    return (logits - target).square().mean(-1).sum()


def _tags(logits: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    return functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=IGNORED, reduction="sum")


def _span(logits: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    """The mean of the cross-entropies of start and end (Devlin et al. 2019, section 4.2); padding is no choice."""
    hidden = logits.masked_fill(mask[..., None] == 0, torch.finfo(logits.dtype).min)
    parts = [functional.cross_entropy(hidden[..., i], target[:, i], reduction="sum") for i in (0, 1)]
    return (parts[0] + parts[1]) / 2
