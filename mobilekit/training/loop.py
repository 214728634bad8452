"""The training loop: one process or many (`accelerate launch`), one device or many, and on from where it was ended.

Every process knows all inputs and computes the same order from the seed, so nothing but gradients is exchanged; a
step's randomness comes from seed, step and process, so that a run which goes on does what one never ended would do.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from mobilekit.errors import InputError
from mobilekit.training.batches import epoch_batches, shares
from mobilekit.training.checkpoint import Progress, load_best, load_progress, save_best, save_progress
from mobilekit.training.optimize import make_accelerator, make_optimizer, mixed
from mobilekit.training.settings import Settings

if TYPE_CHECKING:
    from accelerate import Accelerator

Report = Callable[[str], None]
# A mean over the last steps says more than one batch.
_SHOWN_STEPS = 20


class Objective(Protocol):
    """What is made small: of a batch of inputs by their indices."""

    @property
    def lengths(self) -> Sequence[int]:
        """Ids of each input."""
        ...

    def count(self, indices: Sequence[int]) -> float | Sequence[float]:
        """How many targets the inputs have: one number, or one for each part of the loss."""
        ...

    def loss(self, module: nn.Module, indices: Sequence[int], device: torch.device) -> Tensor:
        """The loss, summed over the targets of these inputs: one value, or [parts]."""
        ...


@runtime_checkable
class Redrawn(Protocol):
    """An objective whose inputs are drawn anew in each step, the same in all processes and pieces of a batch."""

    def redraw(self, seed: int) -> None:
        """Draw by `seed` from now on."""
        ...


@dataclass
class Outcome:
    """What a run came to: metrics after each epoch, the best epoch (from 1) by the dev metric, seconds, steps."""

    epochs: list[dict[str, Any]] = field(default_factory=list)
    best_epoch: int = 0
    best: float = float("-inf")
    seconds: float = 0.0
    steps: int = 0

    def summary(self) -> dict[str, Any]:
        """What reports say of a run, as JSON values."""
        kept = {"epochs": self.epochs, "best_epoch": self.best_epoch, "steps": self.steps}
        return {**kept, "seconds": round(self.seconds, 1)}


class Loop:
    """Trains `module` in place; at the end it has the weights of the best epoch.

    evaluate: () -> (the metric that decides, all metrics), called after each epoch on the main process, or None: the
    last epoch is the best. folder: where checkpoints go, one at a time.
    """

    def __init__(
        self,
        module: nn.Module,
        objective: Objective,
        settings: Settings,
        folder: Path,
        evaluate: Callable[[], tuple[float, dict[str, float]]] | None = None,
        report: Report = lambda text: None,
    ) -> None:
        self.module, self.objective, self.settings = module, objective, settings
        self.folder, self.evaluate, self.report = folder, evaluate, report
        self.accelerator = make_accelerator(settings.precision, getattr(module, "partly_used", False))
        if not objective.lengths:
            raise InputError("there is nothing to train on.")
        self.outcome = Outcome()

    def run(self, resume: bool = False, about: dict[str, Any] | None = None) -> Outcome:
        """Train; `resume`: go on from the checkpoint in the folder.

        about: what a checkpoint has to have in common with the run that goes on from it, beside the settings. Raises
        InputError when there is none, or when it differs.
        """
        accelerator = self.accelerator
        wrapped, optimizer = accelerator.prepare(self.module, make_optimizer(self.module, self.settings))
        # accelerate puts a cast of its own around the module's forward; ours is around the loss alone, so that figures
        # are those of the weights that are saved.
        accelerator.unwrap_model(wrapped, keep_fp32_wrapper=False)
        per_epoch = -(-len(self.objective.lengths) // self.settings.batch)
        steps = per_epoch * self.settings.epochs
        counted = {"inputs": len(self.objective.lengths), "ids": int(sum(self.objective.lengths))}
        same = {"settings": self.settings.to_dict(), **counted, **(about or {})}
        progress = Progress(same=same)
        if resume:
            progress = load_progress(self.folder, self.module, optimizer, same)
            self.outcome = Outcome(**progress.outcome)
        started, before = time.monotonic(), self.outcome.seconds
        recent: list[float] = []
        batches: list[list[int]] = []
        for step in range(progress.step, steps):
            epoch, place = divmod(step, per_epoch)
            if not batches or place == 0:
                batches = epoch_batches(self.objective.lengths, self.settings.batch, self.settings.seed, epoch)
            loss = self._step(accelerator, wrapped, optimizer, batches[place], step, steps)
            recent = [*recent[1 - _SHOWN_STEPS :], loss]
            self.outcome.steps, self.outcome.seconds = step + 1, before + time.monotonic() - started
            if accelerator.is_main_process:
                self._tell(step, steps, recent, time.monotonic() - started, progress.step)
            if place == per_epoch - 1:
                self._end_epoch(accelerator, epoch)
            every = self.settings.save_every or per_epoch
            if (step + 1) % every == 0 and accelerator.is_main_process:
                save_progress(self.folder, self.module, optimizer, Progress(step + 1, same, vars(self.outcome)))
        accelerator.wait_for_everyone()
        self._take_best()
        return self.outcome

    def _step(
        self, accelerator: Accelerator, wrapped: nn.Module, optimizer: Any, batch: list[int], step: int, steps: int
    ) -> float:
        process, processes = accelerator.process_index, accelerator.num_processes
        torch.manual_seed(mixed(self.settings.seed, step, process))
        if isinstance(self.objective, Redrawn):
            self.objective.redraw(mixed(self.settings.seed, step))
        wrapped.train()
        # By the count of the whole batch: an average of averages would weigh short shares more.
        whole, total = torch.tensor(self.objective.count(batch), device=accelerator.device).clamp_min(1.0), 0.0
        parts = [part for part in shares(batch, process, processes, self.settings.parts) if part]
        for i, part in enumerate(parts):
            last = i == len(parts) - 1
            with contextlib.nullcontext() if last else accelerator.no_sync(wrapped):
                with accelerator.autocast():
                    loss = (self.objective.loss(wrapped, part, accelerator.device) / whole).sum()
                # Gradients are averaged over processes; the sum is wanted.
                accelerator.backward(loss * processes)
            total += float(loss.detach())
        if not parts:
            # Fewer inputs than processes: gradients are exchanged all the same, which takes a forward pass.
            with accelerator.autocast():
                nothing = self.objective.loss(wrapped, batch[:1], accelerator.device).sum() * 0.0
            accelerator.backward(nothing)
        if not math.isfinite(total):
            raise InputError(f"the loss is {total} at step {step + 1}; a lower learning rate may help.")
        accelerator.clip_grad_norm_(wrapped.parameters(), self.settings.clip)
        for group in optimizer.param_groups:
            group["lr"] = self.settings.rate(step, steps)
        optimizer.step()
        optimizer.zero_grad()
        return total * processes

    def _end_epoch(self, accelerator: Accelerator, epoch: int) -> None:
        accelerator.wait_for_everyone()
        if not accelerator.is_main_process:
            return
        value = float(epoch)
        metrics: dict[str, float] = {}
        if self.evaluate is not None:
            self.module.eval()
            value, metrics = self.evaluate()
        self.outcome.epochs.append({"epoch": epoch + 1, **metrics})
        if value > self.outcome.best:
            self.outcome.best, self.outcome.best_epoch = value, epoch + 1
            save_best(self.folder, self.module)

    def _take_best(self) -> None:
        self.module.eval()
        load_best(self.folder, self.module)

    def _tell(self, step: int, steps: int, recent: list[float], seconds: float, first: int) -> None:
        left = seconds / (step + 1 - first) * (steps - step - 1)
        loss = sum(recent) / len(recent)
        self.report(f"step {step + 1} of {steps}, loss {loss:.4f}, {left / 60:.1f} min left")
