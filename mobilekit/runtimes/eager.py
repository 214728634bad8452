"""Eager torch on records: the reference that every artifact is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mobilekit.runtimes.base import EngineInfo, register

if TYPE_CHECKING:
    from mobilekit.compression.compressed import CompressedModel
    from mobilekit.models.model import EncoderWithHead


class EagerEngine:
    """Runs the decoded weights of a compressed model in float32."""

    def __init__(self, model: CompressedModel, threads: int) -> None:
        import torch

        torch.set_num_threads(threads)
        self._module, self._output = decoded_module(model), model.head.output_name

    def run(self, entry: str, inputs: Mapping[str, NDArray[np.int32]]) -> dict[str, NDArray[np.float32]]:
        """Any length; `entry` is not looked at."""
        import torch

        given = {name: torch.from_numpy(values) for name, values in inputs.items()}
        asked = given.pop("predict_mask", None)
        with torch.no_grad():
            output = self._module(**given)
        return {self._output: (output if asked is None else output[asked == 1]).numpy()}

    def delegation(self) -> None:
        """There is no delegate."""
        return


def decoded_module(model: CompressedModel, rounded: bool = True) -> EncoderWithHead:
    """A torch module with the weights decoded from the records, in evaluation mode.

    rounded: whether activations whose scales a record fixes are rounded so.
    """
    import torch

    from mobilekit.compression.rounding import round_activations
    from mobilekit.models.model import EncoderWithHead, tensor_name

    with torch.device("meta"):
        module = EncoderWithHead(model.encoder, model.head)
    module = module.to_empty(device="cpu").eval()
    module.tie()
    decoded = model.decoded()
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            parameter.copy_(torch.from_numpy(decoded[tensor_name(name)]))
    if rounded:
        round_activations(module, model)
    return module.requires_grad_(False)


def _load(path: Path, entries: tuple[str, ...], threads: int) -> EagerEngine:
    from mobilekit.compression.compressed import load_records

    return EagerEngine(load_records(path), threads)


register(EngineInfo("eager", "records", "", ("torch",), _load))
