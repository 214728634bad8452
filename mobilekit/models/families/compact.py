"""Our own layout, for encoders that `transformers` has no class for: our names, each shared tensor once."""

from __future__ import annotations

from mobilekit.models.config import EncoderConfig, encoder_from_dict, to_dict
from mobilekit.models.families.registry import Family, Json, get, register


def _read(config: Json) -> EncoderConfig:
    return encoder_from_dict(get(config, "encoder", dict))


def _write(encoder: EncoderConfig) -> Json | None:
    return {"model_type": "mobilekit", "encoder": to_dict(encoder)}


register(
    Family(
        model_type="mobilekit",
        class_name="",
        read=_read,
        write=_write,
        modules=None,
        heads={},
        prefix="",
    )
)
