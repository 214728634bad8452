"""Checkpoint folders: the configuration in, validated; and all of it out again, as `transformers` reads it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mobilekit.artifact import MANIFEST_FILE
from mobilekit.errors import InputError, short
from mobilekit.models.config import EncoderConfig, HeadConfig, to_dict
from mobilekit.models.families.registry import Family, Json, families
from mobilekit.models.tasks import TASKS
from mobilekit.models.weights import WEIGHTS_FILE, Tensors, read_json, write_errors

CONFIG_FILE = "config.json"


def read_config(folder: Path) -> tuple[Family, Json, EncoderConfig]:
    """The family, config.json and the encoder's configuration of a checkpoint folder."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder.")
    file = folder / CONFIG_FILE
    if not file.exists():
        artifact = (folder / MANIFEST_FILE).exists()
        hint = "; it is an artifact: run, check and inspect take it" if artifact else ""
        raise InputError(
            f"{folder}: no {CONFIG_FILE} in it; a model is a folder with {CONFIG_FILE}, {WEIGHTS_FILE} and a "
            f"tokenizer{hint}."
        )
    config = read_json(file)
    known = families()
    kind = config.get("model_type")
    if kind is None:
        raise InputError(f"{file}: model_type is missing; add it, one of {', '.join(known)}.")
    if not isinstance(kind, str) or kind not in known:
        raise InputError(f"{file}: model_type '{short(kind)}' is not supported; supported: {', '.join(known)}.")
    family = known[kind]
    try:
        return family, config, family.read(config)
    except InputError as error:
        raise InputError(f"{file}: {error}") from error


def write_checkpoint(folder: Path, family: Family, config: Json, tensors: Tensors, names: Mapping[str, str]) -> None:
    """Write config.json and model.safetensors into an existing folder.

    names: our tensor names -> the checkpoint's.
    """
    from safetensors.numpy import save_file

    (folder / CONFIG_FILE).write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    renamed = {names[ours]: np.ascontiguousarray(values) for ours, values in sorted(tensors.items())}
    with write_errors(folder / WEIGHTS_FILE):
        save_file(renamed, folder / WEIGHTS_FILE, metadata={"format": "pt"})
    # The library lets only the owner read it, whatever the user's mask says.
    shutil.copymode(folder / CONFIG_FILE, folder / WEIGHTS_FILE)


def config_for(encoder: EncoderConfig, head: HeadConfig, family: Family) -> Json | None:
    """config.json for a model in a family's layout, or None where the layout cannot hold it."""
    config = family.write(encoder)
    if config is None or not _holds(family, encoder, head):
        return None
    if family.model_type == "mobilekit":
        return {**config, "head": to_dict(head)}
    config["architectures"] = [family.class_for(head.task)]
    if TASKS[head.task].labelled:
        config["id2label"] = {str(i): label for i, label in enumerate(head.labels)}
        config["label2id"] = {label: i for i, label in enumerate(head.labels)}
    if head.task == "sequence-classification":
        config["problem_type"] = head.problem_type
    if head.task == "fill-mask":
        config["tie_word_embeddings"] = head.tied
    return config


def _holds(family: Family, encoder: EncoderConfig, head: HeadConfig) -> bool:
    """Whether the family's class computes this head: its activation is fixed there."""
    if family.modules is None or head.task not in ("sequence-classification", "fill-mask"):
        return True
    if head.mean:
        return False
    words = family.word_activation or encoder.activation
    return head.activation == (words if head.task == "fill-mask" else family.head_activation)


def checkpoint_names(encoder: EncoderConfig, head: HeadConfig, family: Family) -> dict[str, str]:
    """Our tensor names -> those that the family's own class for this head saves.

    Base models are saved without the family prefix, models with a head carry it on all but the head's own layers.
    """
    names = family.tensor_names(encoder, head)
    if head.task == "sentence-embedding":
        return names
    own = {ours for ours in names if ours.startswith("head.") and not ours.startswith(family.in_base or ("-",))}
    return {ours: theirs if ours in own else family.prefix + theirs for ours, theirs in names.items()}
