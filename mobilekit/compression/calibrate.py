"""Calibration: what activations look like on text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from mobilekit.models.model import Model, tensor_name
from mobilekit.models.threads import one_thread

# Longer texts hold no larger activations, and take longer.
_LENGTH = 128


def input_magnitudes(model: Model, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
    """The largest magnitude of each input channel of each linear map over texts, by the map's name."""
    largest: dict[str, torch.Tensor] = {}

    def watch(name: str) -> object:
        def hook(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
            seen = inputs[0].detach().abs().flatten(0, -2).amax(0)
            largest[name] = torch.maximum(largest[name], seen) if name in largest else seen

        return hook

    linears = {n: m for n, m in model.module.named_modules() if isinstance(m, torch.nn.Linear)}
    hooks = [m.register_forward_pre_hook(watch(tensor_name(n))) for n, m in linears.items()]  # type: ignore[arg-type]
    try:
        with torch.no_grad(), one_thread():
            for text in texts:
                limit = min(_LENGTH, model.tokenizer.max_length)
                encoded = model.tokenizer.encode(model.prefix + text, None, limit)
                model.module(torch.from_numpy(encoded.ids)[None])
    finally:
        for handle in hooks:
            handle.remove()
    return {name: values.float().numpy() for name, values in largest.items()}
