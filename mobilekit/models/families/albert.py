"""ALBERT (Lan et al. 2020): embeddings narrower than the layers, and groups of layers that share all weights."""

from __future__ import annotations

from dataclasses import replace

from mobilekit.errors import InputError
from mobilekit.models.config import EncoderConfig
from mobilekit.models.families.bert import read_bert, write_bert
from mobilekit.models.families.registry import Family, Json, get, given, register


def _read(config: Json) -> EncoderConfig:
    inner, groups = get(config, "inner_group_num", int, 1), get(config, "num_hidden_groups", int, 1)
    if inner != 1:
        raise InputError(f"inner_group_num {inner} is not supported; supported: 1.")
    defaults: Json = {
        "hidden_size": 4096,
        "num_attention_heads": 64,
        "intermediate_size": 16384,
        "hidden_act": "gelu_new",
        "hidden_dropout_prob": 0.0,
    }
    plain = read_bert({**defaults, **given(config)})
    width = get(config, "embedding_size", int, 128)
    return replace(plain, embedding_size=width, projection=True, sharing="all", groups=groups)


def _write(encoder: EncoderConfig) -> Json | None:
    if encoder.sharing not in ("none", "all") or encoder.token_types < 1 or encoder.position_offset:
        return None
    if not encoder.projected:
        return None
    return {
        "model_type": "albert",
        "embedding_size": encoder.embedding_size,
        "num_hidden_groups": _groups(encoder),
        "inner_group_num": 1,
        "classifier_dropout_prob": encoder.dropout,
        **write_bert(encoder),
    }


def _groups(encoder: EncoderConfig) -> int:
    return encoder.groups if encoder.sharing == "all" else encoder.layers


def _modules(encoder: EncoderConfig) -> dict[str, str]:
    modules = {
        "embeddings.token": "embeddings.word_embeddings",
        "embeddings.position": "embeddings.position_embeddings",
        "embeddings.token_type": "embeddings.token_type_embeddings",
        "embeddings.norm": "embeddings.LayerNorm",
        "embeddings.projection": "encoder.embedding_hidden_mapping_in",
    }
    size = encoder.layers // _groups(encoder)
    for group in range(_groups(encoder)):
        # A group's tensors carry the index of its first layer.
        ours, theirs = f"layers.{group * size}", f"encoder.albert_layer_groups.{group}.albert_layers.0"
        for part, name in (("query", "query"), ("key", "key"), ("value", "value"), ("output", "dense")):
            modules[f"{ours}.attention.{part}"] = f"{theirs}.attention.{name}"
        modules[f"{ours}.attention.norm"] = f"{theirs}.attention.LayerNorm"
        modules[f"{ours}.ffn.up"] = f"{theirs}.ffn"
        modules[f"{ours}.ffn.down"] = f"{theirs}.ffn_output"
        modules[f"{ours}.ffn.norm"] = f"{theirs}.full_layer_layer_norm"
    return modules


register(
    Family(
        model_type="albert",
        class_name="Albert",
        read=_read,
        write=_write,
        modules=_modules,
        heads={
            "sequence-classification": {"head.pooler": "pooler", "head.classifier": "classifier"},
            "token-classification": {"head.outputs": "classifier"},
            "question-answering": {"head.outputs": "qa_outputs"},
            "fill-mask": {
                "head.transform": "predictions.dense",
                "head.norm": "predictions.LayerNorm",
                "head.decoder": "predictions.decoder",
            },
        },
        prefix="albert.",
        in_base=("head.pooler",),
    )
)
