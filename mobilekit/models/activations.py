"""The activation functions by their names in configurations: one table for encoder, heads and the traced graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch.nn import functional

FUNCTIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "gelu": functional.gelu,
    "gelu_new": lambda x: functional.gelu(x, approximate="tanh"),
    "relu": functional.relu,
    "tanh": torch.tanh,
    "identity": lambda x: x,
}
