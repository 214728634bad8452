"""What a family is, and the list of those there are."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mobilekit.errors import InputError
from mobilekit.models.config import EncoderConfig, HeadConfig

Json = dict[str, Any]


@dataclass(frozen=True)
class Family:
    """How one `model_type` is laid out.

    read: config.json's values -> EncoderConfig. write: the reverse, or None where the layout cannot hold the model.
    tensor_names: (encoder, head) -> our tensor name -> the checkpoint's. prefix: what the checkpoint's names may or
    may not begin with. architectures: task -> transformers' class name. head_activation: between the
    two linear maps of the classification head. own_head: our names of head tensors that never carry the prefix.
    """

    model_type: str
    read: Callable[[Json], EncoderConfig]
    write: Callable[[EncoderConfig], Json | None]
    tensor_names: Callable[[EncoderConfig, HeadConfig], Mapping[str, str]]
    prefix: str
    architectures: Mapping[str, str]
    head_activation: str = "tanh"
    own_head: tuple[str, ...] = ("head.classifier",)


_families: dict[str, Family] = {}


def register(family: Family) -> Family:
    """Add a family to the registry."""
    _families[family.model_type] = family
    return family


@functools.cache
def families() -> Mapping[str, Family]:
    """All families by model_type: every module of this package may register one."""
    import mobilekit.models.families as package

    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return dict(sorted(_families.items()))


# Names of one activation in config.json files, old and new.
_ACTIVATIONS = {"gelu": "gelu", "gelu_new": "gelu_new", "gelu_pytorch_tanh": "gelu_new", "relu": "relu"}


def read_activation(config: Json, key: str, default: str) -> str:
    """Our name of the activation under `key`; raises InputError for one that is not supported."""
    name = get(config, key, str, default)
    if name not in _ACTIVATIONS:
        raise InputError(
            f"{key} '{name}' is not supported; supported: {', '.join(dict.fromkeys(_ACTIVATIONS.values()))}."
        )
    return _ACTIVATIONS[name]


def given(config: Json) -> Json:
    """What a config.json says; null means the class's default."""
    return {name: value for name, value in config.items() if value is not None}


def refuse_decoders(config: Json) -> None:
    """Raise InputError for what is no encoder, or has positions that are not a table."""
    positions = get(config, "position_embedding_type", str, "absolute")
    if positions != "absolute":
        raise InputError(f"position_embedding_type '{positions}' is not supported; supported: absolute.")
    if config.get("is_decoder") or config.get("add_cross_attention"):
        raise InputError("is_decoder or add_cross_attention is set; mobilekit exports encoders.")


def with_parts(modules: Mapping[str, str], tables: tuple[str, ...]) -> dict[str, str]:
    """Names of weights and biases from names of modules; `tables` have no bias."""
    names = {f"{ours}.weight": f"{theirs}.weight" for ours, theirs in modules.items()}
    return names | {f"{ours}.bias": f"{theirs}.bias" for ours, theirs in modules.items() if ours not in tables}


def get(config: Json, key: str, kind: type, default: object = None) -> Any:
    """A typed value of a config.json; raises InputError when it is missing or of another type."""
    value = config.get(key)
    value = default if value is None else value
    if value is None:
        raise InputError(f"{key} is missing.")
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise InputError(f"{key} is {value!r}; it has to be of type {kind.__name__}.")
    return value
