"""Our own layout, for encoders that `transformers` has no class for: our names, each shared tensor once."""

from __future__ import annotations

from collections.abc import Mapping

from mobilekit.models.config import EncoderConfig, HeadConfig, encoder_from_dict, to_dict
from mobilekit.models.families.registry import Family, Json, get, register


def _tensor_names(encoder: EncoderConfig, head: HeadConfig) -> Mapping[str, str]:
    from mobilekit.models.model import meta_names

    return {name: name for name in meta_names(encoder, head)}


def _read(config: Json) -> EncoderConfig:
    return encoder_from_dict(get(config, "encoder", dict))


def _write(encoder: EncoderConfig) -> Json | None:
    return {"model_type": "mobilekit", "encoder": to_dict(encoder)}


register(
    Family(
        model_type="mobilekit",
        read=_read,
        write=_write,
        tensor_names=_tensor_names,
        prefix="",
        architectures={},
    )
)
