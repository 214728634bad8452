"""Codes of linear maps one after the other, each made for the inputs that the maps before it really give.

What is rounded in one map is partly made up for in the next: its weights are moved first, so that on the inputs of the
compressed model its outputs are those of the float model. Frantar et al. 2023 round block by block on such inputs;
that weights are moved as well is the asymmetric calibration of Li et al. 2025 (GPTAQ), here as a ridge regression
before rounding.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mobilekit.compression.calibrate import batches, linear_maps, overflow, second_moments, tokens
from mobilekit.compression.compensate import Inputs, prepare
from mobilekit.compression.records import Record
from mobilekit.models.config import EncoderConfig
from mobilekit.models.encoder import additive_mask
from mobilekit.models.model import EncoderWithHead, Model, tensor_name
from mobilekit.models.threads import one_thread

# How reluctantly weights are moved: the ridge's strength, as a share of the inputs' mean square. Measured on the
# built-in model: from 1 to 3 the least error, and more at 0.2.
_RELUCTANCE = 1.0

_Values = NDArray[np.float32]
# A weight (its name, its values) and the inputs it is for.
Make = Callable[[str, _Values, Inputs], Record]


@dataclass(frozen=True)
class Part:
    """A step from one state to the next, `run(module, state, keep)`, and its linear maps in their order.

    Maps that read the same input are together.
    """

    run: Callable[[EncoderWithHead, Tensor, Tensor], Tensor]
    readers: tuple[tuple[str, ...], ...]


def parts(module: EncoderWithHead) -> Iterator[Part]:
    """A model as steps after the embeddings' norm: projection, attention and feed-forward of each layer, head."""
    config = module.encoder.config
    if config.projected:
        yield Part(lambda m, x, _: m.encoder.embeddings.projection(x), (("embeddings.projection",),))  # type: ignore[misc]
    for i in range(config.layers):
        yield from _layer(config, i)
    heads = (n for n in linear_maps(module) if n.startswith("head."))
    yield Part(lambda m, x, keep: m.head(x, keep), tuple((name,) for name in heads))


def _layer(config: EncoderConfig, i: int) -> Iterator[Part]:
    attention, ffn = f"layers.{config.attention_of(i)}.attention", f"layers.{config.ffn_of(i)}.ffn"
    first = tuple(f"{attention}.{name}" for name in ("query", "key", "value"))

    def attend(module: EncoderWithHead, x: Tensor, keep: Tensor) -> Tensor:
        return module.encoder.layers[i].attention(x, additive_mask(keep, x.dtype))[0]  # type: ignore[operator]

    def feed(module: EncoderWithHead, x: Tensor, _: Tensor) -> Tensor:
        return module.encoder.layers[i].ffn(x)  # type: ignore[operator]

    yield Part(attend, (first, (f"{attention}.output",)))
    yield Part(feed, ((f"{ffn}.up",), (f"{ffn}.down",)))


def sequential_records(
    model: Model,
    weights: Mapping[str, _Values],
    others: Mapping[str, Record],
    multipliers: Mapping[str, _Values],
    make: Make,
    texts: Sequence[str],
) -> dict[str, Record]:
    """Records of the weights of linear maps, by name.

    weights: those to compress, smoothed. others: records of all other tensors of the model. multipliers: of the inputs
    of smoothed weights, by the weight's name. make: makes a record. texts: what inputs are looked at on; the model
    itself stays as it is. Weights that layers share are made from the float model's inputs in all of those layers.
    """
    walk = _Walk(model, weights, others, multipliers)
    records: dict[str, Record] = {}
    with torch.no_grad(), one_thread():
        walk.start(texts)
        shared = walk.shared()
        common = second_moments(model, texts, shared) if shared else {}
        for part in parts(model.module):
            if weights.keys() <= records.keys():
                break
            for names in part.readers:
                here = [name for name in names if f"{name}.weight" in weights.keys() - records.keys()]
                if here:
                    own, gap = (common[here[0]], None) if here[0] in common else walk.moments(part, here[0])
                    records |= walk.made(here, own, gap, make)
            walk.step(part)
    return records


class _Walk:
    """The float model and the compressed one, side by side at one state, with the text of calibration in it."""

    def __init__(
        self,
        model: Model,
        weights: Mapping[str, _Values],
        others: Mapping[str, Record],
        multipliers: Mapping[str, _Values],
    ) -> None:
        self._model, self._weights, self._multipliers = model, weights, multipliers
        self._ours = copy.deepcopy(model.module)
        self._exact_maps, self._our_maps = linear_maps(model.module), linear_maps(self._ours)
        self._parameters = {tensor_name(n): p for n, p in self._ours.named_parameters()}
        with torch.no_grad():
            for name in set(others) & set(self._parameters):
                decoded = others[name].decode()
                plain = decoded * multipliers[name] if name in multipliers else decoded
                self._parameters[name].copy_(torch.from_numpy(plain))
        self._states: list[tuple[Tensor, Tensor, Tensor]] = []

    def start(self, texts: Sequence[str]) -> None:
        """Go to the state after the embeddings."""
        for ids, keep in batches(self._model, texts):
            exact, ours = (m.encoder.embeddings(ids, None) for m in (self._model.module, self._ours))
            self._states.append((exact, ours, keep))

    def shared(self) -> list[str]:
        """Linear maps that several layers use."""
        used = [name for part in parts(self._ours) for names in part.readers for name in names]
        return sorted({name for name in used if used.count(name) > 1})

    def step(self, part: Part) -> None:
        """Go to the state after a part."""
        self._states = [
            (part.run(self._model.module, exact, keep), part.run(self._ours, ours, keep), keep)
            for exact, ours, keep in self._states
        ]

    def moments(self, part: Part, name: str) -> tuple[_Values, _Values]:
        """Sums over the inputs x of a linear map in the compressed model: x x^T, and (exact x - x) x^T."""
        exact_map, our_map = self._exact_maps[name], self._our_maps[name]
        size = our_map.in_features
        own, gap = torch.zeros(size, size), torch.zeros(size, size)
        for exact, ours, keep in self._states:
            x = _input(our_map, part, self._ours, ours, keep)
            own.addmm_(x.T, x)
            gap.addmm_((_input(exact_map, part, self._model.module, exact, keep) - x).T, x)
        return own.numpy(), gap.numpy()

    def made(self, names: Sequence[str], own: _Values, gap: _Values | None, make: Make) -> dict[str, Record]:
        """Records of linear maps that read one input; the compressed model gets them."""
        records = {}
        multiplier = self._multipliers.get(f"{names[0]}.weight")
        square = np.float32(1) if multiplier is None else np.outer(multiplier, multiplier)
        own = own * square
        if not np.isfinite(own).all():
            raise overflow(names[0])
        inputs = prepare(own)
        for name in (f"{each}.weight" for each in names):
            weight = self._weights[name]
            record = make(name, weight if gap is None else moved(weight, own, gap * square), inputs)
            decoded = record.decode()
            self._parameters[name].copy_(torch.from_numpy(decoded if multiplier is None else decoded * multiplier))
            records[name] = record
        return records


class _ReachedError(Exception):
    """The linear map that was waited for has been reached."""


def _input(linear: torch.nn.Linear, part: Part, module: EncoderWithHead, state: Tensor, keep: Tensor) -> Tensor:
    """What a linear map of a part reads, [tokens, columns]; nothing after it is computed."""
    seen: list[Tensor] = []

    def hook(_: torch.nn.Module, inputs: tuple[Tensor, ...]) -> None:
        seen.append(inputs[0])
        raise _ReachedError

    handle = linear.register_forward_pre_hook(hook)
    try:
        part.run(module, state, keep)
    except _ReachedError:
        pass
    finally:
        handle.remove()
    return tokens(seen[0], keep)


def moved(weight: _Values, own: _Values, gap: _Values) -> _Values:
    """The weight whose outputs on the inputs x are nearest to those of `weight` on the exact inputs, by a ridge.

    weight: [rows, columns]. own, gap: sums of x x^T and of (exact x - x) x^T.
    """
    damped = torch.from_numpy(own.astype(np.float64))
    level = float(damped.diagonal().mean())
    damped.diagonal().add_(_RELUCTANCE * level if level > 0 else 1.0)
    wanted = torch.from_numpy((weight @ gap).astype(np.float64))
    factor = torch.linalg.cholesky(damped)
    return (weight + torch.cholesky_solve(wanted.T, factor).T.numpy()).astype(np.float32)
