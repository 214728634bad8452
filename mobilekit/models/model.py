"""A model: an encoder with a head, its tokenizer, its source; what `load` returns and `compress` takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from mobilekit.models.config import EncoderConfig, HeadConfig
from mobilekit.models.encoder import Encoder, initialise
from mobilekit.models.heads import FillMask, make_head

if TYPE_CHECKING:
    from mobilekit.text.tokenizer import TextTokenizer


@dataclass(frozen=True)
class Source:
    """Where a model came from: a built-in name, hub id or folder name, its revision and licence where known."""

    id: str
    revision: str = ""
    license: str = ""


class EncoderWithHead(nn.Module):
    """The torch module: `encoder` and `head`."""

    def __init__(self, encoder: EncoderConfig, head: HeadConfig) -> None:
        super().__init__()
        self.encoder = Encoder(encoder)
        self.head = make_head(encoder, head)
        self._tied = head.tied
        self.tie()

    def tie(self) -> None:
        """Let fill-mask's decoder be the token table again, where it is; `to_empty` takes them apart."""
        if isinstance(self.head, FillMask) and self._tied:
            self.head.decoder.weight = self.encoder.embeddings.token.weight

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | None = None, token_type_ids: Tensor | None = None
    ) -> Tensor:
        """Integer [batch, length] each -> [batch, size], or [batch, length, size] from heads that read every token."""
        keep = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        return self.head(self.encoder(input_ids, keep, token_type_ids).last, keep)


@dataclass
class Model:
    """A model with all that an artifact needs of it.

    name: short, used for folders. title: as it is written in prose and in a Swift class ("" for the name). prefix:
    text put before every input ("query: "), from the checkpoint's prompts. family: model_type of the layout it is
    saved in. folder: where it was loaded from, if so.
    """

    name: str
    module: EncoderWithHead
    head: HeadConfig
    tokenizer: TextTokenizer
    source: Source
    prefix: str = ""
    title: str = ""
    family: str = "bert"
    folder: Path | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def config(self) -> EncoderConfig:
        """The encoder's configuration."""
        return self.module.encoder.config

    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """Every unique tensor by name (`layers.0.attention.query.weight`), float32, sorted by name."""
        named = {tensor_name(n): p.detach().float().cpu().numpy() for n, p in self.module.named_parameters()}
        return dict(sorted(named.items()))

    def load_tensors(self, tensors: dict[str, NDArray[np.float32]]) -> None:
        """Put values (by the names of `tensors`) into the module, in place."""
        with torch.no_grad():
            for name, parameter in self.module.named_parameters():
                parameter.copy_(torch.from_numpy(tensors[tensor_name(name)]))


def tensor_name(parameter: str) -> str:
    """The public name of a parameter: the module's without the leading `encoder.`."""
    return parameter.removeprefix("encoder.")


def fresh_module(encoder: EncoderConfig, head: HeadConfig, seed: int = 0) -> EncoderWithHead:
    """A module with fresh random weights, the same for the same seed; in evaluation mode."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        module = EncoderWithHead(encoder, head)
        initialise(module, encoder.initializer_range)
    return module.eval()


def meta_names(encoder: EncoderConfig, head: HeadConfig) -> dict[str, tuple[int, ...]]:
    """Name and shape of every unique tensor of such a model, without memory for their values."""
    with torch.device("meta"):
        module = EncoderWithHead(encoder, head)
    return {tensor_name(name): tuple(parameter.shape) for name, parameter in module.named_parameters()}
