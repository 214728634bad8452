"""Checkpoint folders: configuration and safetensors in, validated; and out again, as `transformers` reads them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mobilekit.errors import InputError
from mobilekit.models.config import EncoderConfig, HeadConfig, to_dict
from mobilekit.models.families.registry import Family, Json, families

CONFIG_FILE = "config.json"
WEIGHTS_FILE = "model.safetensors"
INDEX_FILE = "model.safetensors.index.json"

Tensors = dict[str, NDArray[np.float32]]


def read_json(file: Path) -> Json:
    """An object from a JSON file; raises InputError naming the file when it is missing, not JSON or no object."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{file}: not found.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{file}: not readable as JSON ({error}).") from error
    if not isinstance(content, dict):
        raise InputError(f"{file}: expected a JSON object, got {type(content).__name__}.")
    return content


def read_config(folder: Path) -> tuple[Family, Json, EncoderConfig]:
    """The family, config.json and the encoder's configuration of a checkpoint folder."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder.")
    file = folder / CONFIG_FILE
    config = read_json(file)
    known = families()
    kind = config.get("model_type")
    if not isinstance(kind, str) or kind not in known:
        raise InputError(f"{file}: model_type '{kind}' is not supported; supported: {', '.join(known)}.")
    family = known[kind]
    try:
        return family, config, family.read(config)
    except InputError as error:
        raise InputError(f"{file}: {error}") from error


def read_tensors(
    folder: Path, wanted: Mapping[str, str], shapes: Mapping[str, tuple[int, ...]], prefix: str
) -> Tensors:
    """Our tensors out of a folder's safetensors, float32.

    wanted: our name -> the checkpoint's, which may carry `prefix`, and may call a norm's parts gamma and beta.
    Raises InputError when a file is missing or broken, a tensor is missing, of another shape, or not finite.
    """
    found: Tensors = {}
    where: dict[str, Path] = {}
    for file in _weight_files(folder):
        where.update(dict.fromkeys(_names_in(file), file))
    missing = []
    for ours, theirs in wanted.items():
        name = next((n for n in _spellings(theirs, prefix) if n in where), None)
        if name is None:
            missing.append(theirs)
        else:
            found[ours] = _read_one(where[name], name, shapes[ours])
    if missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise InputError(f"{folder}: tensors missing from the weights: {', '.join(missing[:3])}{more}.")
    return found


def write_checkpoint(folder: Path, family: Family, config: Json, tensors: Tensors, names: Mapping[str, str]) -> None:
    """Write config.json and model.safetensors into an existing folder.

    names: our tensor names -> the checkpoint's.
    """
    from safetensors.numpy import save_file

    (folder / CONFIG_FILE).write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    renamed = {names[ours]: np.ascontiguousarray(values) for ours, values in sorted(tensors.items())}
    save_file(renamed, folder / WEIGHTS_FILE, metadata={"format": "pt"})


def config_for(encoder: EncoderConfig, head: HeadConfig, family: Family) -> Json | None:
    """config.json for a model in a family's layout, or None where the layout cannot hold it."""
    config = family.write(encoder)
    if config is None:
        return None
    if family.model_type == "mobilekit":
        return {**config, "head": to_dict(head)}
    config["architectures"] = [family.architectures[head.task]]
    if head.task == "sequence-classification":
        config["id2label"] = {str(i): label for i, label in enumerate(head.labels)}
        config["label2id"] = {label: i for i, label in enumerate(head.labels)}
        config["problem_type"] = head.problem_type
    return config


def checkpoint_names(encoder: EncoderConfig, head: HeadConfig, family: Family) -> dict[str, str]:
    """Our tensor names -> those that the family's own class for this head saves.

    Base models are saved without the family prefix, models with a head carry it on all but the head's own layers.
    """
    names = dict(family.tensor_names(encoder, head))
    if family.model_type == "mobilekit" or head.task == "sentence-embedding":
        return names
    return {o: t if o.startswith(family.own_head) else family.prefix + t for o, t in names.items()}


def _weight_files(folder: Path) -> list[Path]:
    single, index = folder / WEIGHTS_FILE, folder / INDEX_FILE
    if single.is_file():
        return [single]
    if index.is_file():
        shards = read_json(index).get("weight_map")
        if not isinstance(shards, dict) or not all(isinstance(s, str) for s in shards.values()):
            raise InputError(f"{index}: weight_map is missing or not a map of names.")
        files = [folder / name for name in sorted(set(shards.values()))]
        for file in files:
            if file.parent != folder or not file.is_file():
                raise InputError(f"{index}: names {file.name}, which is not in the folder.")
        return files
    others = sorted(p.name for pattern in ("*.bin", "*.pt", "*.ckpt*", "*.h5") for p in folder.glob(pattern))
    if others:
        raise InputError(
            f"{folder}: has {others[0]} but no {WEIGHTS_FILE}; pickled weights are not read. Load it with transformers "
            "and save_pretrained(folder) it as safetensors."
        )
    raise InputError(f"{folder}: no weights; expected {WEIGHTS_FILE} (or {INDEX_FILE} and its shards).")


def _names_in(file: Path) -> Iterable[str]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="pt") as opened:
            return list(opened.keys())
    except (SafetensorError, OSError, ValueError) as error:
        raise InputError(f"{file}: not a whole safetensors file ({error}).") from error


def _read_one(file: Path, name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
    from safetensors import SafetensorError, safe_open

    try:
        # Through torch, because numpy has no bfloat16.
        with safe_open(file, framework="pt") as opened:
            tensor = opened.get_tensor(name)
    except (SafetensorError, OSError, ValueError) as error:
        raise InputError(f"{file}: {name} cannot be read ({error}).") from error
    if tuple(tensor.shape) != shape:
        raise InputError(f"{file}: {name} has shape {list(tensor.shape)}; the configuration asks for {list(shape)}.")
    if not tensor.is_floating_point():
        raise InputError(f"{file}: {name} is of type {tensor.dtype}; weights have to be floating point.")
    values: NDArray[np.float32] = tensor.float().numpy()
    if not np.isfinite(values).all():
        raise InputError(f"{file}: {name} has values that are not finite (NaN or infinity).")
    return values


def _spellings(name: str, prefix: str) -> list[str]:
    old = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
    return [p + n for n in dict.fromkeys((name, old)) for p in (prefix, "")]
