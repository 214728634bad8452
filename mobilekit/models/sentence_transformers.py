"""Folders of the sentence-transformers library: modules.json, pooling, dense layers, prompts, maximum length."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from mobilekit.errors import InputError, short
from mobilekit.models.config import DenseConfig, HeadConfig
from mobilekit.models.families.registry import Json, get
from mobilekit.models.weights import (
    WEIGHTS_FILE,
    SafetensorsSource,
    Tensors,
    read_json,
    read_tensors,
    write_errors,
)
from mobilekit.reading import read_values

MODULES_FILE = "modules.json"
# Every one may name the same large file.
_MOST_MODULES = 16
# It is in every file and before every text, of which little would be left.
_LONGEST_PROMPT = 2_000
_ACTIVATIONS = {"Identity": "identity", "Tanh": "tanh", "ReLU": "relu", "GELU": "gelu"}
_LEGACY_POOLING = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


@dataclass(frozen=True)
class SentenceModules:
    """What modules.json describes. transformer: its folder. dense: tensors of the dense layers, by our names.
    lower_case: whether text is made lower case first."""

    transformer: Path
    head: HeadConfig
    dense: Tensors
    max_length: int | None
    lower_case: bool
    prefix: str
    notes: tuple[str, ...] = ()


def is_sentence_transformer(folder: Path) -> bool:
    """Whether the folder has a modules.json."""
    return (folder / MODULES_FILE).is_file()


def read_sentence_modules(folder: Path) -> SentenceModules:
    """Read modules.json and what it names; raises InputError for a module or pooling that is not supported."""
    file = folder / MODULES_FILE
    kinds = [_module(folder, entry, file) for entry in _entries(file)]
    order = [kind for kind, _ in kinds]
    known = order[:2] == ["Transformer", "Pooling"] and set(order[2:]) <= {"Dense", "Normalize"}
    if not known or len(order) > _MOST_MODULES:
        raise InputError(
            f"{file}: modules {short(order, 200)} are not supported; supported: Transformer, Pooling, Dense, Normalize."
        )
    if "Normalize" in order[:-1]:
        raise InputError(f"{file}: Normalize before another module is not supported; it has to be the last.")
    transformer, pooling = kinds[0][1], _pooling(kinds[1][1])
    dense, tensors = [], {}
    for i, path in enumerate(path for kind, path in kinds if kind == "Dense"):
        config = _dense_config(path)
        shapes: dict[str, tuple[int, ...]] = {f"head.dense.{i}.weight": (config.out_size, config.in_size)}
        if config.bias:
            shapes[f"head.dense.{i}.bias"] = (config.out_size,)
        names = {ours: "linear." + ours.rsplit(".", 1)[1] for ours in shapes}
        tensors.update(read_tensors(SafetensorsSource(path), names, shapes, ""))
        dense.append(config)
    head = HeadConfig("sentence-embedding", pooling=pooling, normalize=order[-1] == "Normalize", dense=tuple(dense))
    prefix, notes = _prompts(folder)
    length, lower_case = _options(transformer)
    return SentenceModules(transformer, head, tensors, length, lower_case, prefix, notes)


def write_sentence_modules(
    folder: Path, head: HeadConfig, tensors: Tensors, width: int, max_length: int, prefix: str
) -> None:
    """Write modules.json and its folders around a checkpoint in `folder`.

    tensors: those of the dense layers. width: H, what is pooled.
    """
    from safetensors.numpy import save_file

    modules = [("", "Transformer"), ("1_Pooling", "Pooling")]
    pooling: Json = {f: mode == head.pooling for f, mode in _LEGACY_POOLING.items()}
    pooling["word_embedding_dimension"] = width
    _write(folder / "1_Pooling" / "config.json", pooling)
    for i, dense in enumerate(head.dense):
        name = f"{i + 2}_Dense"
        modules.append((name, "Dense"))
        activation = {v: k for k, v in _ACTIVATIONS.items()}[dense.activation]
        module = "linear" if dense.activation == "identity" else "activation"
        config = {"in_features": dense.in_size, "out_features": dense.out_size, "bias": dense.bias}
        _write(
            folder / name / "config.json",
            {**config, "activation_function": f"torch.nn.modules.{module}.{activation}"},
        )
        own = {
            f"linear.{p}": tensors[f"head.dense.{i}.{p}"] for p in (("weight", "bias") if dense.bias else ("weight",))
        }
        with write_errors(folder / name / WEIGHTS_FILE):
            save_file(own, folder / name / WEIGHTS_FILE)
        shutil.copymode(folder / name / "config.json", folder / name / WEIGHTS_FILE)
    if head.normalize:
        modules.append((f"{len(modules)}_Normalize", "Normalize"))
    kind = "sentence_transformers.models."
    entries = [{"idx": i, "name": str(i), "path": p, "type": kind + k} for i, (p, k) in enumerate(modules)]
    (folder / MODULES_FILE).write_text(json.dumps(entries, indent=2) + "\n", encoding="utf-8")
    _write(folder / "sentence_bert_config.json", {"max_seq_length": max_length, "do_lower_case": False})
    prompts = {"prompts": {"default": prefix}, "default_prompt_name": "default"} if prefix else {}
    _write(folder / "config_sentence_transformers.json", prompts)


def _write(file: Path, content: Json) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _entries(file: Path) -> list[Json]:
    entries = read_values(file)
    if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries) or not entries:
        raise InputError(f"{file}: expected a list of modules.")
    return entries


def _module(folder: Path, entry: Json, file: Path) -> tuple[str, Path]:
    kind, path = str(entry.get("type", "")).rsplit(".", 1)[-1], str(entry.get("path", ""))
    try:
        inside = (folder / path).resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError):  # too long, links in a circle, characters that no path has
        inside = False
    if not inside:
        raise InputError(f"{file}: path '{short(path)}' leaves the folder.")
    return kind, folder / path if path else folder


def _pooling(path: Path) -> str:
    file = path / "config.json"
    config = read_json(file)
    modes = [mode for flag, mode in _LEGACY_POOLING.items() if config.get(flag) is True]
    named = config.get("pooling_mode")
    if named is not None:
        modes = named if isinstance(named, list) else [named]
    modes = modes or ["mean"]
    if len(modes) > 1 or modes[0] not in ("mean", "cls"):
        said = short(" + ".join(map(str, modes)))
        raise InputError(f"{file}: pooling {said} is not supported; supported: mean, cls.")
    if config.get("include_prompt") is False:
        raise InputError(f"{file}: include_prompt false (prompt tokens left out of the mean) is not supported.")
    return str(modes[0])


def _dense_config(path: Path) -> DenseConfig:
    file = path / "config.json"
    config = read_json(file)
    try:
        activation = get(config, "activation_function", str, "torch.nn.modules.activation.Tanh").rsplit(".", 1)[-1]
        if activation not in _ACTIVATIONS:
            raise InputError(f"activation {short(activation)} is not supported; supported: {', '.join(_ACTIVATIONS)}.")
        if config.get("use_residual"):
            raise InputError("use_residual is not supported.")
        return DenseConfig(
            get(config, "in_features", int),
            get(config, "out_features", int),
            get(config, "bias", bool, True),
            _ACTIVATIONS[activation],
        )
    except InputError as error:
        raise InputError(f"{file}: {error}") from error


def _options(transformer: Path) -> tuple[int | None, bool]:
    """The longest input, if it is limited, and whether text is made lower case before the tokenizer sees it."""
    file = transformer / "sentence_bert_config.json"
    config = read_json(file) if file.is_file() else {}
    length, lower_case = config.get("max_seq_length"), config.get("do_lower_case")
    if length is not None and (not isinstance(length, int) or isinstance(length, bool) or length < 1):
        raise InputError(f"{file}: max_seq_length is {short(repr(length))}; it has to be a number >= 1.")
    if not isinstance(lower_case, bool | None):
        raise InputError(f"{file}: do_lower_case is {short(repr(lower_case))}; it has to be true or false.")
    return length, bool(lower_case)


def _prompts(folder: Path) -> tuple[str, tuple[str, ...]]:
    file = folder / "config_sentence_transformers.json"
    config = read_json(file) if file.is_file() else {}
    prompts, default = config.get("prompts") or {}, config.get("default_prompt_name")
    if not isinstance(prompts, dict):
        raise InputError(f"{file}: prompts has to be an object.")
    if default is not None:
        if not isinstance(default, str) or not isinstance(prompts.get(default), str):
            raise InputError(f"{file}: default_prompt_name '{short(default)}' is not among the prompts.")
        if len(prompts[default]) > _LONGEST_PROMPT:
            raise InputError(f"{file}: prompt '{default}' has more than {_LONGEST_PROMPT:,} characters; shorten it.")
        return prompts[default], ()
    used = [name for name, text in prompts.items() if text]
    return "", (f"prompts {', '.join(used)} are not applied by default; put them before the text.",) if used else ()
