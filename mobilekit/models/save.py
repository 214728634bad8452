"""`save_model`: a model becomes a folder that `transformers` loads again, or says why it has no class for it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from mobilekit.errors import InputError, unknown
from mobilekit.models.checkpoint import checkpoint_names, config_for, write_checkpoint
from mobilekit.models.config import EncoderConfig
from mobilekit.models.families.registry import families
from mobilekit.models.model import Model, meta_names
from mobilekit.models.sentence_transformers import write_sentence_modules
from mobilekit.models.weights import Tensors
from mobilekit.text.tokenizer import TOKENIZER_FILE, VOCABULARY_FILE

LAYOUTS = ("own", "transformers")
# Families that hold layers of their own, in the order in which they are tried; heads differ in their activation.
_UNSHARED = ("electra", "albert", "bert", "distilbert")
# What transformers calls the special tokens of BERT and of RoBERTa.
_SPECIAL_ROLES = {
    "[PAD]": "pad_token",
    "[UNK]": "unk_token",
    "[CLS]": "cls_token",
    "[SEP]": "sep_token",
    "[MASK]": "mask_token",
    "<pad>": "pad_token",
    "<unk>": "unk_token",
    "<s>": "cls_token",
    "</s>": "sep_token",
    "<mask>": "mask_token",
}


def save_model(model: Model, folder: Path, layout: str = "own") -> list[str]:
    """Write a checkpoint into an existing folder; returns notes, e.g. that `transformers` has no class for it.

    Every encoder is saved in its family's layout where that can hold it. Where layers share only attention or only
    feed-forward, which no class of `transformers` does, layout says what is written: `own` (each shared tensor once) or
    `transformers` (an ELECTRA, or an ALBERT of as many groups as layers, with a copy for each layer). Raises
    InputError when `transformers` has no class at all.
    """
    if layout not in LAYOUTS:
        raise unknown("layout", layout, LAYOUTS)
    notes: list[str] = []
    encoder, tensors, family = model.config, model.tensors(), families()[model.family]
    config = config_for(encoder, model.head, family)
    if config is None and layout == "transformers":
        encoder, tensors = _unshared(model)
        found = ((name, config_for(encoder, model.head, families()[name])) for name in _UNSHARED)
        name, config = next(((name, config) for name, config in found if config is not None), ("", None))
        if config is None:
            raise InputError(f"{model.name}: transformers has no class for this encoder; save it in layout 'own'.")
        family = families()[name]
        notes.append(f"transformers has no class for this sharing: it is saved as {name}, each layer with a copy.")
    elif config is None:
        family = families()["mobilekit"]
        config = config_for(encoder, model.head, family)
        notes.append("transformers has no class for this encoder: it is saved in mobilekit's own layout.")
    assert config is not None
    dense: Tensors = {}
    if model.head.task == "sentence-embedding" and family.model_type != "mobilekit":
        dense = {n: t for n, t in tensors.items() if n.startswith("head.dense.")}
        tensors = {n: t for n, t in tensors.items() if n not in dense}
    names = checkpoint_names(encoder, model.head, family)
    # What `transformers` calls it, too: text to be put before every input.
    config |= {"prefix": model.prefix} if model.prefix else {}
    if family.model_type == "mobilekit":
        config |= {"max_length": model.tokenizer.max_length}
    write_checkpoint(folder, family, config, tensors, names)
    if model.head.task == "sentence-embedding" and family.model_type != "mobilekit":
        limit, width = model.tokenizer.max_length, encoder.hidden_size
        write_sentence_modules(folder, model.head, dense, width, limit, model.prefix)
    _write_tokenizer(model, folder)
    return notes


def _unshared(model: Model) -> tuple[EncoderConfig, Tensors]:
    """The same encoder with a copy of shared tensors for each layer."""
    shared = model.config
    encoder = replace(shared, sharing="none", groups=1)
    tensors = model.tensors()
    for name in meta_names(encoder, model.head):
        if name.startswith("layers."):
            _, layer, part, rest = name.split(".", 3)
            owner = shared.attention_of(int(layer)) if part == "attention" else shared.ffn_of(int(layer))
            tensors[name] = tensors[f"layers.{owner}.{part}.{rest}"]
    return encoder, tensors


def _write_tokenizer(model: Model, folder: Path) -> None:
    tokenizer = model.tokenizer
    (folder / TOKENIZER_FILE).write_text(tokenizer.serialized(), encoding="utf-8")
    special = {_SPECIAL_ROLES[t]: t for t in tokenizer.special_ids() if t in _SPECIAL_ROLES}
    options = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": tokenizer.max_length, **special}
    (folder / "tokenizer_config.json").write_text(
        json.dumps(options, indent=2, sort_keys=True) + "\n", encoding="utf-8"
    )
    vocabulary = tokenizer.vocabulary()
    if vocabulary is not None:
        (folder / VOCABULARY_FILE).write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
