"""What a family is, and the list of those there are."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mobilekit.errors import InputError, short
from mobilekit.models.config import EncoderConfig, HeadConfig
from mobilekit.models.tasks import TASKS
from mobilekit.registry import import_modules

Json = dict[str, Any]


@dataclass(frozen=True)
class Family:
    """How one `model_type` is laid out.

    read: config.json's values -> EncoderConfig. write: the reverse, or None where the layout cannot hold the model.
    modules: encoder -> our module name -> the checkpoint's (None: they have our names). heads: the same for the head
    of each task. prefix: what the checkpoint's names may or may not begin with; heads' names never do, but those in
    `in_base`. class_name: how the names of `transformers`' classes begin. head_activation: between the two linear maps
    of the classification head. word_activation: in the fill-mask head, None for the encoder's own.
    """

    model_type: str
    class_name: str
    read: Callable[[Json], EncoderConfig]
    write: Callable[[EncoderConfig], Json | None]
    modules: Callable[[EncoderConfig], Mapping[str, str]] | None
    heads: Mapping[str, Mapping[str, str]]
    prefix: str
    in_base: tuple[str, ...] = ()
    head_activation: str = "tanh"
    word_activation: str | None = None

    def tensor_names(self, encoder: EncoderConfig, head: HeadConfig) -> dict[str, str]:
        """Our tensor name -> the checkpoint's without prefix, for the tensors that such a model has."""
        from mobilekit.models.model import meta_names

        ours = meta_names(encoder, head)
        if self.modules is None:
            return {name: name for name in ours}
        modules = {**self.modules(encoder), **self.heads.get(head.task, {})}
        split = {name: name.rpartition(".") for name in ours}
        names = {name: f"{modules[own]}.{part}" for name, (own, _, part) in split.items() if own in modules}
        # A tied decoder's bias is a parameter of the head, of which the decoder only borrows it.
        if head.tied and names.get(_DECODER_BIAS, "").endswith(".decoder.bias"):
            names[_DECODER_BIAS] = names[_DECODER_BIAS].replace(".decoder.bias", ".bias")
        return names

    def class_for(self, task: str) -> str:
        """The class of `transformers` that has this head."""
        return self.class_name + TASKS[task].suffix

    def task_of(self, architecture: object) -> str | None:
        """The task whose class `architecture` is, None for any other class."""
        known = {self.class_for(task): task for task in TASKS}
        # It has a second head, for pairs of sentences, which nobody runs on a phone.
        known[f"{self.class_name}ForPreTraining"] = "fill-mask" if self.model_type in ("bert", "albert") else ""
        return known.get(architecture) or None if isinstance(architecture, str) else None


_DECODER_BIAS = "head.decoder.bias"
_families: dict[str, Family] = {}


def register(family: Family) -> Family:
    """Add a family to the registry."""
    _families[family.model_type] = family
    return family


@functools.cache
def families() -> Mapping[str, Family]:
    """All families by model_type: every module of this package may register one."""
    import mobilekit.models.families as package

    import_modules(package)
    return dict(sorted(_families.items()))


# Names of one activation in config.json files, old and new.
_ACTIVATIONS = {"gelu": "gelu", "gelu_new": "gelu_new", "gelu_pytorch_tanh": "gelu_new", "relu": "relu"}


def read_activation(config: Json, key: str, default: str) -> str:
    """Our name of the activation under `key`; raises InputError for one that is not supported."""
    name = get(config, key, str, default)
    if name not in _ACTIVATIONS:
        raise InputError(
            f"{key} '{short(name)}' is not supported; supported: {', '.join(dict.fromkeys(_ACTIVATIONS.values()))}."
        )
    return _ACTIVATIONS[name]


def given(config: Json) -> Json:
    """What a config.json says; null means the class's default."""
    return {name: value for name, value in config.items() if value is not None}


def refuse_decoders(config: Json) -> None:
    """Raise InputError for what is no encoder, or has positions that are not a table."""
    positions = get(config, "position_embedding_type", str, "absolute")
    if positions != "absolute":
        raise InputError(f"position_embedding_type '{short(positions)}' is not supported; supported: absolute.")
    if config.get("is_decoder") or config.get("add_cross_attention"):
        raise InputError("is_decoder or add_cross_attention is set; mobilekit exports encoders.")


def get(config: Json, key: str, kind: type, default: object = None) -> Any:
    """A typed value of a config.json; raises InputError when it is missing or of another type."""
    value = config.get(key)
    value = default if value is None else value
    if value is None:
        raise InputError(f"{key} is missing.")
    # A whole number beyond what a float holds stays one, and is refused as what it is.
    if kind is float and isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53:
        value = float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise InputError(f"{key} is {short(repr(value))}; it has to be of type {kind.__name__}.")
    return value
