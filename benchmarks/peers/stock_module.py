"""The module that other tools are given: `transformers`' own class with a model's weights, and our head where it has
none for it."""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.peers.layout import Layout
from mobilekit.errors import InputError
from mobilekit.models.checkpoint import CONFIG_FILE, config_for
from mobilekit.models.config import EncoderConfig, HeadConfig, encoder_from_dict, head_from_dict, to_dict
from mobilekit.models.families.registry import families
from mobilekit.models.weights import WEIGHTS_FILE

if TYPE_CHECKING:
    from mobilekit.models.model import Model

TASKS = ("sequence-classification", "sentence-embedding")
_NOTES_FILE, _HEAD_FILE = "stock.json", "head.safetensors"
FILES = (CONFIG_FILE, WEIGHTS_FILE, _NOTES_FILE, _HEAD_FILE)
# Where a model's own family is not one of `transformers`, the first that holds its encoder.
_ORDER = ("bert", "distilbert", "roberta", "electra", "albert")


@dataclass(frozen=True)
class Stock:
    """What stands in a folder of `write_stock`. own_class: whether `transformers` has a class for the head, too."""

    encoder: EncoderConfig
    head: HeadConfig
    own_class: bool

    def layout(self, lengths: tuple[int, ...] = ()) -> Layout:
        """How inputs are laid out for a file that takes `lengths`, or any."""
        types = ("token_type_ids",) if self.encoder.reads_token_types else ()
        return Layout(("input_ids", "attention_mask", *types), self.encoder.pad_id, lengths)


def write_stock(model: Model, folder: Path) -> Stock:
    """Write a checkpoint for `load_stock` into an existing folder.

    Raises InputError for a task that peers have no part in, and for an encoder that no class of `transformers` holds.
    """
    import torch
    from safetensors.torch import save_file

    from mobilekit.models.model import EncoderWithHead
    from mobilekit.models.save import save_model

    family, own_class = _family(model)
    saved = replace(model, family=family, notes=[])
    if not own_class:
        bare = HeadConfig("sentence-embedding")
        with torch.device("meta"):
            module = EncoderWithHead(model.config, bare)
        module.encoder = model.module.encoder
        saved = replace(saved, module=module, head=bare)
        save_file(model.module.head.state_dict(), folder / _HEAD_FILE)
    save_model(saved, folder)
    stock = Stock(model.config, model.head, own_class)
    notes = {"encoder": to_dict(stock.encoder), "head": to_dict(stock.head), "own_class": own_class}
    (folder / _NOTES_FILE).write_text(json.dumps(notes), encoding="utf-8")
    return stock


def read_stock(folder: Path) -> Stock:
    """What stands in such a folder."""
    notes = json.loads((folder / _NOTES_FILE).read_text(encoding="utf-8"))
    return Stock(encoder_from_dict(notes["encoder"]), head_from_dict(notes["head"]), bool(notes["own_class"]))


def _family(model: Model) -> tuple[str, bool]:
    """The family whose class holds a model, and whether it holds the head, too."""
    task = model.head.task
    if task not in TASKS:
        raise InputError(f"{model.name}: peers take {' and '.join(TASKS)}, not {task}.")
    names = [name for name in dict.fromkeys((model.family, *_ORDER)) if families()[name].modules is not None]
    if task != "sentence-embedding":
        for name in names:
            if config_for(model.config, model.head, families()[name]) is not None:
                return name, True
    for name in names:
        if families()[name].write(model.config) is not None:
            return name, False
    raise InputError(f"{model.name}: transformers has no class for this encoder, so that no other tool can take it.")


def import_stock(folder: Path) -> None:
    """Import what `load_stock` needs: `transformers` puts off importing a model's file until it loads one."""
    family = str(json.loads((folder / CONFIG_FILE).read_text(encoding="utf-8"))["model_type"]).replace("-", "_")
    for module in ("mobilekit.models.heads", f"transformers.models.{family}.modeling_{family}"):
        importlib.import_module(module)


def load_stock(folder: Path) -> Any:
    """The torch module of such a folder, in evaluation mode: integers [1, length] -> float32 [1, size]."""
    import torch
    from safetensors.torch import load_file
    from transformers import AutoModel, AutoModelForSequenceClassification

    from mobilekit.models.heads import make_head

    stock = read_stock(folder)

    class OwnClass(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32)

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any = None) -> Any:
            types = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
            return self.model(input_ids=input_ids, attention_mask=attention_mask, **types).logits

    class WithOurHead(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = AutoModel.from_pretrained(folder, dtype=torch.float32)
            if getattr(self.model, "pooler", None) is not None:
                # Random: the checkpoint has none. Nothing reads it.
                self.model.pooler = None
            self.head = make_head(stock.encoder, stock.head)
            self.head.load_state_dict(load_file(folder / _HEAD_FILE))

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any = None) -> Any:
            types = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
            states = self.model(input_ids=input_ids, attention_mask=attention_mask, **types).last_hidden_state
            return self.head(states, attention_mask)

    return (OwnClass() if stock.own_class else WithOurHead()).eval().requires_grad_(False)


def example(stock: Stock, length: int) -> dict[str, Any]:
    """Inputs to trace with, int64 [1, length] by name."""
    import torch

    ids = torch.arange(length)[None] % stock.encoder.vocab_size
    values = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "token_type_ids": torch.zeros_like(ids)}
    return {name: values[name] for name in stock.layout().inputs}
