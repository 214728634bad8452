"""What each linear map of a model bears: what rounding activations around it, and nothing else, costs the output.

To first order, an error e of some activations moves the output by J e. For random signs v, (v J e)^2 is on average
|J e|^2 (Hutchinson 1990), and v J is what one backward pass gives for all activations at once.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.utils.hooks import RemovableHandle

from mobilekit.compression.activations import Activation, Static
from mobilekit.compression.calibrate import batches, hooked, linear_maps
from mobilekit.compression.rounding import ONE, rounded
from mobilekit.models.model import EncoderWithHead, Model
from mobilekit.models.threads import one_thread

# What a backward pass keeps of the forward one grows with the tokens that are computed at once.
_BATCH_TOKENS = 256


def rounding_losses(
    model: Model,
    module: EncoderWithHead,
    multipliers: Mapping[str, Tensor],
    static: Mapping[str, Static],
    texts: Sequence[str],
) -> dict[str, float]:
    """The share of the output's squares over texts that fixed scales around each linear map alone cost, by its name.

    module: `model`'s with decoded weights, none of which wants a gradient. multipliers: of smoothing, by the map's
    name. Shares of several maps add up, as far as their errors have nothing to do with each other. Padding is left out.
    Where the output is all zero or overflows every share is infinite.
    """
    lost, whole = dict.fromkeys(static, 0.0), 0.0
    signs = np.random.default_rng(0)
    moved: dict[str, Tensor] = {}
    with _watched(module, multipliers, static, moved), one_thread():
        for ids, keep in batches(model, texts, _BATCH_TOKENS):
            moved.clear()
            output = without_padding(module(ids, keep), keep)
            whole += float((output.detach().double() ** 2).sum())
            drawn = signs.choice(np.array([-1, 1], np.float32), tuple(output.shape))
            (output * torch.from_numpy(drawn)).sum().backward()
            for name, each in moved.items():
                lost[name] += float((each.double() ** 2).sum())
    shares = {name: each / whole if whole else math.inf for name, each in lost.items()}
    return {name: share if math.isfinite(share) else math.inf for name, share in shares.items()}


def without_padding(output: Tensor, keep: Tensor) -> Tensor:
    """The output with zeros for padding, where tokens have rows of their own: [batch, length, size]."""
    return torch.where(keep.bool().unsqueeze(-1), output, 0.0) if output.ndim > keep.ndim else output


@contextlib.contextmanager
def _watched(
    module: EncoderWithHead, multipliers: Mapping[str, Tensor], static: Mapping[str, Static], moved: dict[str, Tensor]
) -> Iterator[None]:
    """In each backward pass, put into `moved` how far each map's rounding moves a text's output along the gradient."""
    maps = linear_maps(module)

    def seen(name: str, values: Tensor, activation: Activation, multiplier: Tensor) -> Tensor:
        """The same values, whose gradient is that of what is computed from this very tensor."""
        leaf = values.clone() if values.requires_grad else values.clone().requires_grad_()
        exact = values.detach()

        def arrived(gradient: Tensor) -> None:
            along = (gradient * (rounded(exact, activation, multiplier) - exact)).flatten(1).sum(1)
            moved[name] = moved[name] + along if name in moved else along

        leaf.register_hook(arrived)
        return leaf

    def attach(name: str, around: Static) -> Iterator[RemovableHandle]:
        def before(_: torch.nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor]:
            return (seen(name, inputs[0], around.input, multipliers.get(name, ONE)),)

        def after(_: torch.nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
            return seen(name, output, around.output, ONE)

        yield maps[name].register_forward_pre_hook(before)
        yield maps[name].register_forward_hook(after)

    with hooked([hook for name, around in static.items() for hook in attach(name, around)]):
        yield
