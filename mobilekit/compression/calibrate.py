"""Calibration: what activations look like on text."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.hooks import RemovableHandle

from mobilekit.errors import CompressionError, InputError
from mobilekit.models.model import EncoderWithHead, Model, tensor_name
from mobilekit.models.threads import one_thread

# Longer texts hold no larger activations, and take longer.
_LENGTH = 128
# What is computed at once: enough for matrix products, little to keep.
_BATCH_TOKENS = 1024

# Of a longer list: more text costs time, and gains next to nothing. Measured on the built-in model.
MOST_TEXTS = 512
# Of a linear map: the map, its inputs.
_Hook = Callable[[torch.nn.Module, tuple[Tensor, ...]], None]


def checked_texts(texts: Sequence[str]) -> tuple[str, ...]:
    """Texts that have something in them, at most `MOST_TEXTS`, from all over the list.

    Raises InputError when there are texts and all of them are blank.
    """
    found = [text for text in texts if text.strip()]
    if texts and not found:
        raise InputError("the calibration text is empty; give some lines like those that the model will read.")
    count = min(len(found), MOST_TEXTS)
    return tuple(found[i * len(found) // count] for i in range(count))


def linear_maps(module: EncoderWithHead) -> dict[str, torch.nn.Linear]:
    """Every linear map by name (`layers.0.attention.query`), one that layers share once."""
    return {tensor_name(n): m for n, m in module.named_modules() if isinstance(m, torch.nn.Linear)}


def input_magnitudes(model: Model, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
    """The largest magnitude of each input channel of each linear map over texts, by the map's name.

    Raises CompressionError when the model overflows on a text.
    """
    largest: dict[str, torch.Tensor] = {}

    def watch(name: str) -> _Hook:
        def hook(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
            seen = inputs[0].detach().abs().flatten(0, -2).amax(0)
            largest[name] = torch.maximum(largest[name], seen) if name in largest else seen

        return hook

    with _watched(linear_maps(model.module), watch):
        for ids in _encoded(model, texts):
            model.module(torch.from_numpy(ids)[None])
    for name, values in largest.items():
        if not values.isfinite().all():
            raise overflow(name)
    return {name: values.float().numpy() for name, values in largest.items()}


def batches(model: Model, texts: Sequence[str], most: int = _BATCH_TOKENS) -> Iterator[tuple[Tensor, Tensor]]:
    """Ids and mask of texts, int32 [batch, length] each: texts of like length together, the shortest first.

    most: how many tokens there may be in a batch of several texts.
    """
    encoded = sorted(_encoded(model, texts), key=len)
    while encoded:
        # The longest that is taken decides how many fit.
        count = 1
        while count < len(encoded) and (count + 1) * len(encoded[count]) <= most:
            count += 1
        taken, encoded = encoded[:count], encoded[count:]
        ids = np.zeros((count, len(taken[-1])), np.int32)
        for row, text in zip(ids, taken, strict=True):
            row[: len(text)] = text
        lengths = np.array([len(text) for text in taken])
        keep = (np.arange(ids.shape[1]) < lengths[:, None]).astype(np.int32)
        yield torch.from_numpy(ids), torch.from_numpy(keep)


def second_moments(model: Model, texts: Sequence[str], names: Collection[str]) -> dict[str, NDArray[np.float32]]:
    """Sums of x x^T over the inputs x of linear maps, float32 [columns, columns], by the map's name.

    names: of `linear_maps`. A map that several layers share has the inputs of all of them. Padding is left out.
    """
    found: dict[str, Tensor] = {}
    kept = torch.empty(0)

    def watch(name: str) -> _Hook:
        def hook(module: torch.nn.Module, inputs: tuple[Tensor, ...]) -> None:
            x = tokens(inputs[0], kept)
            found[name] = found[name].addmm_(x.T, x) if name in found else x.T @ x

        return hook

    maps = linear_maps(model.module)
    with _watched({name: maps[name] for name in names}, watch):
        for ids, keep in batches(model, texts):
            kept = keep
            model.module(ids, keep)
    return {name: values.numpy() for name, values in found.items()}


def overflow(name: str) -> CompressionError:
    """For a linear map that reads or gives what is no number."""
    return CompressionError(
        f"{name}: on the calibration text the model computes values here that are too large or not finite (NaN or "
        "infinity); weights before it are too large, or broken."
    )


@contextlib.contextmanager
def _watched(maps: Mapping[str, torch.nn.Linear], watch: Callable[[str], _Hook]) -> Iterator[None]:
    """Call `watch(name)`'s hook with the inputs of each linear map, whatever is computed meanwhile."""
    hooks = [each.register_forward_pre_hook(watch(name)) for name, each in maps.items()]
    with hooked(hooks), torch.no_grad(), one_thread():
        yield


@contextlib.contextmanager
def hooked(handles: Collection[RemovableHandle]) -> Iterator[None]:
    """Meanwhile some hooks of modules are attached; they are taken off at the end."""
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def tokens(states: Tensor, keep: Tensor) -> Tensor:
    """The states of real tokens, [tokens, size], of [batch, length, size]; all of [batch, size] (one a text)."""
    return states[keep.bool()] if states.ndim > keep.ndim else states


def _encoded(model: Model, texts: Sequence[str]) -> Iterator[NDArray[np.int32]]:
    limit = min(_LENGTH, model.tokenizer.max_length)
    for text in texts:
        yield model.tokenizer.encode(model.prefix + text, None, limit).ids
