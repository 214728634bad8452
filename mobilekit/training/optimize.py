"""The accelerator and the optimizer of a run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from mobilekit.errors import MissingExtraError
from mobilekit.host import is_installed
from mobilekit.training.processes import on_cpu, start_processes
from mobilekit.training.settings import Settings

if TYPE_CHECKING:
    from accelerate import Accelerator


def make_accelerator(precision: str, partly_used: bool = False) -> Accelerator:
    """The devices that `accelerate launch` or `torchrun` gave, or this machine's one.

    partly_used: whether a step may leave parameters out. Raises MissingExtraError without accelerate.
    """
    start_processes()
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState
    from accelerate.utils import DistributedDataParallelKwargs

    # Its state is one a process, and refuses another precision than the first run's.
    AcceleratorState._reset_state(reset_partial_state=False)
    return Accelerator(
        mixed_precision="bf16" if in_bf16(precision) else "no",
        cpu=on_cpu(),
        kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=partly_used)],
    )


def in_bf16(precision: str) -> bool:
    """Whether a run of this precision multiplies in bf16."""
    return precision == "bf16" or (precision == "auto" and _has_bf16())


def _has_bf16() -> bool:
    """Whether a GPU, or else the processor, multiplies in bf16 itself: it is twice as fast where it does."""
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    if torch.accelerator.is_available():
        return False
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def make_optimizer(module: nn.Module, settings: Settings) -> Any:
    """AdamW (Loshchilov & Hutter 2019) or LAMB (You et al. 2020, algorithm 2), without decay of biases and norms.

    LAMB is the library's: moments are not corrected for their bias, which is a factor that all of a tensor's update has
    in common, and the trust ratio takes it out again. Frozen parameters are left out. Raises MissingExtraError for LAMB
    without pytorch-optimizer.
    """
    named = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
    plain = [p for name, p in named if p.dim() < 2]
    decayed = [p for name, p in named if p.dim() >= 2]
    groups = [{"params": decayed, "weight_decay": settings.decay}, {"params": plain, "weight_decay": 0.0}]
    if settings.optimizer == "adamw":
        return torch.optim.AdamW(groups, lr=settings.learning_rate, eps=1e-8, fused=True)
    if not is_installed("pytorch_optimizer"):
        raise MissingExtraError("pytorch-optimizer", "train", "LAMB")
    from pytorch_optimizer import Lamb

    # The paper adds the decay to the update, before the trust ratio; the library calls that not decoupled. It would
    # also make the first steps up to ten times too long, correcting the first moment's bias behind the trust ratio.
    given = {"weight_decouple": False, "adam_debias": True, "eps": 1e-6}
    lamb = Lamb([g for g in groups if g["params"]], lr=settings.learning_rate, **given)
    # The library caps the norm of weights in the trust ratio at 10, which embedding tables are above: the paper
    # (section 4) and ALBERT's reference take it as it is.
    lamb.clamp = math.inf
    return lamb


def mixed(*numbers: int) -> int:
    """One seed out of several numbers, the same everywhere."""
    import numpy as np

    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> 1)
