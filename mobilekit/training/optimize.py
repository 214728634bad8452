"""The accelerator and the optimizer of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from mobilekit.errors import MissingExtraError
from mobilekit.host import is_installed
from mobilekit.training.settings import Settings

if TYPE_CHECKING:
    from accelerate import Accelerator


def make_accelerator(precision: str) -> Accelerator:
    """The devices that `accelerate launch` gave, or this machine's one. Raises MissingExtraError without accelerate."""
    if not is_installed("accelerate"):
        raise MissingExtraError("accelerate", "train", "training")
    from accelerate import Accelerator

    half = precision == "bf16" or (precision == "auto" and torch.cuda.is_available() and torch.cuda.is_bf16_supported())
    return Accelerator(mixed_precision="bf16" if half else "no")


def make_optimizer(module: nn.Module, settings: Settings) -> Any:
    """AdamW (Loshchilov & Hutter 2019), without decay of biases and norms; frozen parameters are left out."""
    named = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
    plain = [p for name, p in named if p.dim() < 2]
    decayed = [p for name, p in named if p.dim() >= 2]
    groups = [{"params": decayed, "weight_decay": settings.decay}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=settings.learning_rate, eps=1e-8)


def mixed(*numbers: int) -> int:
    """One seed out of several numbers, the same everywhere."""
    import numpy as np

    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> 1)
