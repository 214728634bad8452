"""Checkpoints of a run: weights and optimizer in safetensors, the rest in JSON; written beside and renamed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mobilekit.errors import InputError
from mobilekit.models.weights import write_errors
from mobilekit.staging import staged, staged_file

_PROGRESS, _WEIGHTS, _OPTIMIZER = "progress.json", "weights.safetensors", "optimizer.safetensors"
_BEST = "best.safetensors"
_FORMAT = "mobilekit-training-1"
_MOMENTS = ("step", "exp_avg", "exp_avg_sq")
# LAMB counts its steps once for all parameters.
_STEPS = "group.steps"


@dataclass
class Progress:
    """How far a run is. step: steps done. same: what a run that goes on has to have in common. outcome: until now."""

    step: int = 0
    same: dict[str, Any] = field(default_factory=dict)
    outcome: dict[str, Any] = field(default_factory=dict)


def save_progress(folder: Path, module: nn.Module, optimizer: Any, progress: Progress) -> None:
    """Write `folder`/checkpoint; what was there is replaced only when the new one is whole."""
    with staged(folder / "checkpoint", force=True) as beside:
        _write(beside / _WEIGHTS, _weights(module))
        _write(beside / _OPTIMIZER, _moments(module, optimizer))
        content = {"format": _FORMAT, **vars(progress)}
        (beside / _PROGRESS).write_text(json.dumps(content, indent=1, sort_keys=True), encoding="utf-8")


def load_progress(folder: Path, module: nn.Module, optimizer: Any, same: dict[str, Any]) -> Progress:
    """Put a checkpoint's weights and moments into `module` and `optimizer`.

    Raises InputError when there is none, when it is broken, or when it is of a run that was asked for otherwise.
    """
    place = folder / "checkpoint"
    file = place / _PROGRESS
    if not file.is_file():
        raise InputError(f"{folder}: no checkpoint to go on from; start without --resume.")
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        progress = Progress(int(content["step"]), dict(content["same"]), dict(content["outcome"]))
        known = content["format"] == _FORMAT
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{file}: not a checkpoint ({error}); start without --resume.") from error
    if not known:
        raise InputError(f"{file}: of another version of mobilekit; start without --resume.")
    _require_same(file, progress.same, same)
    _read_into(place / _WEIGHTS, dict(module.named_parameters()))
    _read_moments(place / _OPTIMIZER, module, optimizer)
    return progress


def save_best(folder: Path, module: nn.Module) -> None:
    """Write the weights of the best epoch so far; what was there is replaced only when the new ones are whole."""
    with staged_file(folder / _BEST, force=True) as beside:
        _write(beside, _weights(module))


def load_best(folder: Path, module: nn.Module) -> None:
    """Put the weights of the best epoch into `module`."""
    _read_into(folder / _BEST, dict(module.named_parameters()))


def _require_same(file: Path, had: dict[str, Any], asked: dict[str, Any]) -> None:
    def flat(values: dict[str, Any]) -> dict[str, Any]:
        return {**{k: v for k, v in values.items() if k != "settings"}, **values.get("settings", {})}

    old, new = flat(had), flat(json.loads(json.dumps(asked)))
    changed = [f"{name} was {old.get(name)!r}, now {new.get(name)!r}" for name in new if old.get(name) != new[name]]
    if changed:
        raise InputError(f"{file}: the run was started with other settings ({'; '.join(changed[:3])}); use those.")


def _weights(module: nn.Module) -> dict[str, Tensor]:
    return {name: p.detach().cpu().contiguous() for name, p in module.named_parameters()}


def _moments(module: nn.Module, optimizer: Any) -> dict[str, Tensor]:
    """The optimizer's state by parameter name and moment."""
    state = optimizer.state
    found: dict[str, Tensor] = {_STEPS: torch.tensor([int(group.get("step", 0)) for group in optimizer.param_groups])}
    for name, parameter in module.named_parameters():
        for moment in _MOMENTS:
            if moment in state.get(parameter, {}):
                found[f"{name}.{moment}"] = torch.as_tensor(state[parameter][moment]).detach().cpu().contiguous()
    return found


def _read_moments(file: Path, module: nn.Module, optimizer: Any) -> None:
    stored = _tensors(file)
    for name, parameter in module.named_parameters():
        moments = {m: stored[f"{name}.{m}"] for m in _MOMENTS if f"{name}.{m}" in stored}
        if moments and moments["exp_avg"].shape != parameter.shape:
            raise InputError(f"{file}: {name} has another shape; the checkpoint is of another model.")
        if moments:
            optimizer.state[parameter] = {m: v.to(parameter.device) for m, v in moments.items()}
    for group, steps in zip(optimizer.param_groups, stored.get(_STEPS, torch.zeros(0)).tolist(), strict=False):
        if steps:
            group["step"] = int(steps)


def _write(file: Path, tensors: dict[str, Tensor]) -> None:
    from safetensors.torch import save_file

    with write_errors(file):
        save_file(tensors, file)


def _read_into(file: Path, parameters: dict[str, nn.Parameter]) -> None:
    stored = _tensors(file)
    if set(stored) != set(parameters) or any(stored[n].shape != p.shape for n, p in parameters.items()):
        raise InputError(f"{file}: has other tensors than the model; it is of another model.")
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(stored[name])


def _tensors(file: Path) -> dict[str, Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(file)
    except (SafetensorError, OSError, ValueError) as error:
        raise InputError(f"{file}: cannot be read ({error}); start without --resume.") from error
