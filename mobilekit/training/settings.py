"""What a training run is asked for."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from mobilekit.errors import InputError, unknown

PRECISIONS = ("auto", "fp32", "bf16")
OPTIMIZERS = ("adamw", "lamb")


@dataclass(frozen=True)
class Settings:
    """Settings of the training loop.

    epochs: passes over the data. batch: inputs a step, over all processes. parts: pieces of a step's batch that go
    through one after the other, for little memory. learning_rate: the highest; it rises over the share `warm_up` of
    all steps, then falls to 0, both in straight lines. decay: weight decay (AdamW), not of biases and norms. clip: the
    largest norm of the gradient. length: most ids of an input. dropout: None: the model's own. seed: of everything.
    save_every: steps between checkpoints, 0: after each epoch. precision: `auto` is bf16 where the device has it.
    optimizer: adamw, or lamb for large batches.
    """

    epochs: int = 3
    batch: int = 32
    parts: int = 1
    learning_rate: float = 1e-4
    warm_up: float = 0.1
    decay: float = 0.01
    clip: float = 1.0
    length: int = 128
    dropout: float | None = None
    seed: int = 0
    save_every: int = 0
    precision: str = "auto"
    optimizer: str = "adamw"

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "parts", "length"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; it has to be at least 1.")
        for name in ("learning_rate", "clip"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise InputError(f"{name} is {value}; it has to be above 0.")
        if not (math.isfinite(self.decay) and self.decay >= 0) or self.save_every < 0:
            raise InputError("decay and save_every have to be at least 0.")
        if not 0 <= self.seed < 2**63:
            raise InputError(f"seed is {self.seed}; it has to be at least 0, below 2**63.")
        if not 0 <= self.warm_up < 1:
            raise InputError(f"warm_up is {self.warm_up}; it is a share of all steps, 0 up to 1.")
        self._check_choices()

    def _check_choices(self) -> None:
        if self.dropout is not None and not 0 <= self.dropout < 1:
            raise InputError(f"dropout is {self.dropout}; it has to be 0 up to 1.")
        if self.precision not in PRECISIONS:
            raise unknown("precision", self.precision, PRECISIONS)
        if self.optimizer not in OPTIMIZERS:
            raise unknown("optimizer", self.optimizer, OPTIMIZERS)

    def rate(self, step: int, steps: int) -> float:
        """The learning rate of step `step` (from 0) of `steps`."""
        warm = max(1, int(self.warm_up * steps)) if self.warm_up else 0
        if step < warm:
            return self.learning_rate * (step + 1) / warm
        return self.learning_rate * (steps - step) / max(1, steps - warm)

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)
