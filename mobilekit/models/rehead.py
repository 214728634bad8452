"""Another head on the same encoder: where fine-tuning begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from mobilekit.models.config import HeadConfig
from mobilekit.models.families.registry import families
from mobilekit.models.model import Model, fresh_module, tensor_name
from mobilekit.models.weights import INDEX_FILE, WEIGHTS_FILE, SafetensorsSource, Tensors, read_tensors


def with_head(model: Model, head: HeadConfig, seed: int = 0) -> Model:
    """A model with the encoder of `model` and `head`, whose weights are fresh (the same for the same seed).

    A pooler that the checkpoint's backbone came with is kept, as `transformers` keeps it.
    """
    module = fresh_module(model.config, head, seed)
    module.encoder.load_state_dict(model.module.encoder.state_dict())
    pooler = _pooler(model, head)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if tensor_name(name) in pooler:
                parameter.copy_(torch.from_numpy(pooler[tensor_name(name)]))
    made = Model(model.name, module, head, model.tokenizer, model.source, model.prefix, model.title, model.family)
    made.notes = list(model.notes)
    return made


def with_labels(model: Model, labels: Sequence[str]) -> Model:
    """A classifier, or tagger, of the same labels in another order; `model` stays as it is."""
    head = replace(model.head, labels=tuple(labels))
    module = fresh_module(model.config, head)
    order = [model.head.labels.index(label) for label in labels]
    last = "outputs." if head.per_token else "classifier."
    states = model.module.state_dict()
    moved = {name: values[order] if name.startswith(f"head.{last}") else values for name, values in states.items()}
    module.load_state_dict(moved)
    return replace(model, module=module, head=head, notes=list(model.notes))


def _pooler(model: Model, head: HeadConfig) -> Tensors:
    family = families()[model.family]
    if "head.pooler" not in family.in_base or head.task != "sequence-classification" or head.mean:
        return {}
    places = [] if model.folder is None else [model.folder, model.folder / "0_Transformer"]
    place = next((p for p in places if any((p / name).is_file() for name in (WEIGHTS_FILE, INDEX_FILE))), None)
    if place is None:
        return {}
    source, size = SafetensorsSource(place), model.config.hidden_size
    names = {o: t for o, t in family.tensor_names(model.config, head).items() if o.startswith("head.pooler.")}
    there = set(source.names())
    if not all(name in there or family.prefix + name in there for name in names.values()):
        return {}
    shapes = {name: (size, size) if name.endswith("weight") else (size,) for name in names}
    return read_tensors(source, names, shapes, family.prefix)
