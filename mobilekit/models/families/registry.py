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
    may not begin with. architectures: task -> transformers' class name.
    """

    model_type: str
    read: Callable[[Json], EncoderConfig]
    write: Callable[[EncoderConfig], Json | None]
    tensor_names: Callable[[EncoderConfig, HeadConfig], Mapping[str, str]]
    prefix: str
    architectures: Mapping[str, str]


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


def get(config: Json, key: str, kind: type, default: object = None) -> Any:
    """A typed value of a config.json; raises InputError when it is missing or of another type."""
    value = config.get(key, default)
    if value is None:
        raise InputError(f"{key} is missing.")
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise InputError(f"{key} is {value!r}; it has to be of type {kind.__name__}.")
    return value
