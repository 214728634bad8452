"""Training with weights that stay clustered: codes are fixed, codebooks and scales learn (Han et al. 2016, section 3).

The gradient of a level is the sum of the gradients of all weights that share it. What the model computes with in
training is always what a record holds: levels on the int8 grid and float16 scales, rounded on the way forward and
passed straight through on the way back (Bengio et al. 2013).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call

from mobilekit.compression.compressed import CompressedModel
from mobilekit.compression.quantize import LEAST_SCALE
from mobilekit.compression.records import Clustered, Dense, Outliers, Record
from mobilekit.compression.smooth import multipliers
from mobilekit.errors import InputError
from mobilekit.models.model import Model, tensor_name

_LIMIT = 127
# Optimizers move every number by about the learning rate. Levels are up to 1 here and scales relative to those they
# begin with; both are few and bear larger steps than the single weights that learning rates are made for.
_GAIN = 10.0
_MOST_SCALE = float(np.finfo(np.float16).max)


class _Decoded(torch.autograd.Function):
    """level[group of the row, code], each weight's; the gradient is summed over what shares a level."""

    @staticmethod
    def forward(ctx: Any, levels: Tensor, codes: Tensor) -> Tensor:
        """levels: float [groups, 2**bits]. codes: uint8 [rows, columns]. Gives float [rows, columns]."""
        ctx.save_for_backward(codes)
        ctx.shape = levels.shape
        parts = zip(levels, codes.chunk(len(levels)), strict=True)
        return torch.cat([own.index_select(0, part.flatten().int()).view(part.shape) for own, part in parts])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        """Of the levels."""
        (codes,), (gradient,) = ctx.saved_tensors, gradients
        groups, count = ctx.shape
        parts = zip(codes.chunk(groups), gradient.chunk(groups), strict=True)
        # Not `index_add_`, which takes several times as long on a CPU.
        sums = [torch.bincount(own.flatten(), part.flatten().float(), count) for own, part in parts]
        return torch.stack(sums).to(gradient.dtype), None


class ClusteredWeight(nn.Module):
    """A weight as its record has it, times the multipliers of smoothing. record: where it begins; its outliers keep
    their levels, and move with their rows' scales. multiplier: float32 [columns], what was taken out of the weight by
    smoothing; None: nothing."""

    codes: Tensor
    begun: Tensor
    scale: Tensor
    multiplier: Tensor | None
    apart: Tensor | None
    apart_levels: Tensor | None

    def __init__(self, record: Clustered, multiplier: NDArray[np.float32] | None = None) -> None:
        super().__init__()
        self.register_buffer("codes", torch.from_numpy(record.codes), persistent=False)
        self.register_buffer("begun", torch.from_numpy(record.codebook.astype(np.float32)), persistent=False)
        self.register_buffer("scale", torch.from_numpy(record.scale), persistent=False)
        own = None if multiplier is None else torch.from_numpy(multiplier)
        self.register_buffer("multiplier", own, persistent=False)
        self._outliers = record.outliers
        places, levels = (None, None) if self._outliers is None else _apart(self._outliers)
        self.register_buffer("apart", places, persistent=False)
        self.register_buffer("apart_levels", levels, persistent=False)
        # Vectors, which optimizers do not let decay.
        self.moved = nn.Parameter(torch.zeros(record.codebook.size))
        self.stretched = nn.Parameter(torch.zeros(len(record.scale)))

    def levels(self) -> Tensor:
        """float32 [groups, 2**bits], whole numbers from -127 to 127."""
        free = self.begun + _LIMIT * _GAIN * self.moved.view_as(self.begun)
        return _straight(free, free.detach().round().clamp(-_LIMIT, _LIMIT))

    def scales(self) -> Tensor:
        """float32 [rows, 1], exact in float16."""
        free = self.scale * torch.exp(_GAIN * self.stretched[:, None])
        within = free.detach().clamp(float(LEAST_SCALE), _MOST_SCALE)
        return _straight(free, within.to(torch.float16).float())

    def forward(self) -> Tensor:
        """float32 [rows, columns]."""
        levels = _Decoded.apply(self.levels(), self.codes)
        if self.apart is not None and self.apart_levels is not None:
            levels = levels.flatten().scatter(0, self.apart, self.apart_levels).view_as(levels)
        decoded = levels * self.scales()
        return decoded if self.multiplier is None else decoded * self.multiplier

    @torch.no_grad()
    def record(self) -> Clustered:
        """What it is now, with ascending codebooks."""
        levels, codes = self.levels().to(torch.int8).cpu().numpy(), self.codes.cpu().numpy()
        order = np.argsort(levels, axis=1, kind="stable")
        places = np.argsort(order, axis=1).astype(np.uint8)
        parts = zip(places, np.split(codes, len(levels)), strict=True)
        codes = np.concatenate([place[part] for place, part in parts])
        scale = self.scales().cpu().numpy()
        return Clustered(codes, np.take_along_axis(levels, order, axis=1), scale, self._outliers)


@dataclass(frozen=True)
class _Place:
    """Where a weight is used: the names of all parameters of the module that are it."""

    name: str
    parameters: tuple[str, ...]


class ClusteredModule(nn.Module):
    """A model's module whose clustered weights are made of what learns before each step. `settle` puts the present
    weights into the model itself.

    model: gets the decoded weights. compressed: its records. embeddings: whether those learn, too.

    Tensors that are quantized or float16 stay as they are; float32 ones learn. Raises InputError when nothing of the
    records is clustered, and when scales of activations are fixed.
    """

    def __init__(self, model: Model, compressed: CompressedModel, embeddings: bool = True) -> None:
        super().__init__()
        found = {name: r for name, r in compressed.records.items() if isinstance(r, Clustered)}
        if not found:
            raise InputError(f"scheme {compressed.scheme} clusters no weights; take pal2, pal3 or pal4.")
        if compressed.activations:
            # They were fixed for the weights and biases as they are.
            raise InputError(
                f"plan {compressed.scheme} fixes scales of activations, which cannot be trained; take int8."
            )
        model.load_tensors(compressed.decoded())
        self.module, self._model, self._compressed = model.module, model, compressed
        divided_by = {name: vector.decode() for name, vector in multipliers(compressed.records).items()}
        self._places = _places(model, found)
        self.weights = nn.ModuleList(
            ClusteredWeight(found[place.name], divided_by.get(place.name)) for place in self._places
        )
        self._learning = {
            n for n, r in compressed.records.items() if isinstance(r, Dense) and r.values.dtype == np.float32
        }
        for name, parameter in model.module.named_parameters():
            own = tensor_name(name)
            parameter.requires_grad_(own in self._learning and (embeddings or not own.startswith("embeddings.")))
        for place, weight in zip(self._places, self.weights, strict=True):
            weight.requires_grad_(embeddings or not place.name.startswith("embeddings."))

    def forward(self, *inputs: Tensor, **named: Tensor) -> Tensor:
        """As the model's module."""
        made: dict[str, Tensor] = {}
        for place, weight in zip(self._places, self.weights, strict=True):
            made |= dict.fromkeys(place.parameters, weight())
        said: Tensor = functional_call(self.module, made, inputs, named, tie_weights=False)
        return said

    @torch.no_grad()
    def settle(self) -> None:
        """Let the model's own weights be those that it computes with now."""
        owned = dict(self.module.named_parameters())
        for place, weight in zip(self._places, self.weights, strict=True):
            owned[place.parameters[0]].copy_(weight())

    def settled(self) -> CompressedModel:
        """The records of the weights that it computes with now, which the model has from now on."""
        self.settle()
        records: dict[str, Record] = dict(self._compressed.records)
        records |= {n: Dense(values) for n, values in self._model.tensors().items() if n in self._learning}
        for place, weight in zip(self._places, self.weights, strict=True):
            assert isinstance(weight, ClusteredWeight)
            records[place.name] = weight.record()
        return replace(self._compressed, records=records)


def _apart(outliers: Outliers) -> tuple[Tensor, Tensor]:
    """Flat places, int64, and levels, float32, of outliers."""
    return torch.from_numpy(outliers.positions.astype(np.int64)), torch.from_numpy(outliers.levels.astype(np.float32))


def _straight(free: Tensor, rounded: Tensor) -> Tensor:
    """The rounded values, exactly, with the gradient of the free ones."""
    return rounded + (free - free.detach())


def _places(model: Model, wanted: Mapping[str, Record]) -> list[_Place]:
    """Where clustered weights are used; a tied decoder is a second place of the token table."""
    names = {id(parameter): tensor_name(name) for name, parameter in model.module.named_parameters()}
    found: dict[str, list[str]] = {}
    for name, parameter in model.module.named_parameters(remove_duplicate=False):
        own = names[id(parameter)]
        if own in wanted:
            found.setdefault(own, []).append(name)
    return [_Place(name, tuple(parameters)) for name, parameters in found.items()]
