"""BERT (Devlin et al. 2019) as the hub lays it out."""

from __future__ import annotations

from collections.abc import Mapping

from mobilekit.errors import InputError
from mobilekit.models.config import ACTIVATIONS, EncoderConfig, HeadConfig
from mobilekit.models.families.registry import Family, Json, get, register

# Names of one activation in config.json files, old and new.
_ACTIVATION_NAMES = {"gelu": "gelu", "gelu_new": "gelu_new", "gelu_pytorch_tanh": "gelu_new", "relu": "relu"}


def _read(config: Json) -> EncoderConfig:
    activation = get(config, "hidden_act", str, "gelu")
    if activation not in _ACTIVATION_NAMES:
        raise InputError(f"hidden_act '{activation}' is not supported; supported: {', '.join(ACTIVATIONS)}.")
    positions = get(config, "position_embedding_type", str, "absolute")
    if positions != "absolute":
        raise InputError(f"position_embedding_type '{positions}' is not supported; supported: absolute.")
    if config.get("is_decoder") or config.get("add_cross_attention"):
        raise InputError("is_decoder or add_cross_attention is set; mobilekit exports encoders.")
    hidden = get(config, "hidden_size", int, 768)
    return EncoderConfig(
        vocab_size=get(config, "vocab_size", int),
        hidden_size=hidden,
        layers=get(config, "num_hidden_layers", int, 12),
        heads=get(config, "num_attention_heads", int, 12),
        intermediate_size=get(config, "intermediate_size", int, 3072),
        embedding_size=hidden,
        max_positions=get(config, "max_position_embeddings", int, 512),
        token_types=get(config, "type_vocab_size", int, 2),
        norm_eps=get(config, "layer_norm_eps", float, 1e-12),
        activation=_ACTIVATION_NAMES[activation],
        pad_id=get(config, "pad_token_id", int, 0),
        dropout=get(config, "hidden_dropout_prob", float, 0.1),
        initializer_range=get(config, "initializer_range", float, 0.02),
    )


def _write(encoder: EncoderConfig) -> Json | None:
    if encoder.sharing != "none" or encoder.embedding_size != encoder.hidden_size or encoder.token_types < 1:
        return None
    return {
        "model_type": "bert",
        "vocab_size": encoder.vocab_size,
        "hidden_size": encoder.hidden_size,
        "num_hidden_layers": encoder.layers,
        "num_attention_heads": encoder.heads,
        "intermediate_size": encoder.intermediate_size,
        "max_position_embeddings": encoder.max_positions,
        "type_vocab_size": encoder.token_types,
        "layer_norm_eps": encoder.norm_eps,
        "hidden_act": encoder.activation,
        "pad_token_id": encoder.pad_id,
        "hidden_dropout_prob": encoder.dropout,
        "attention_probs_dropout_prob": encoder.dropout,
        "initializer_range": encoder.initializer_range,
    }


def _tensor_names(encoder: EncoderConfig, head: HeadConfig) -> Mapping[str, str]:
    modules = {
        "embeddings.token": "embeddings.word_embeddings",
        "embeddings.position": "embeddings.position_embeddings",
        "embeddings.token_type": "embeddings.token_type_embeddings",
        "embeddings.norm": "embeddings.LayerNorm",
    }
    for i in range(encoder.layers):
        ours, theirs = f"layers.{i}", f"encoder.layer.{i}"
        for part in ("query", "key", "value"):
            modules[f"{ours}.attention.{part}"] = f"{theirs}.attention.self.{part}"
        modules[f"{ours}.attention.output"] = f"{theirs}.attention.output.dense"
        modules[f"{ours}.attention.norm"] = f"{theirs}.attention.output.LayerNorm"
        modules[f"{ours}.ffn.up"] = f"{theirs}.intermediate.dense"
        modules[f"{ours}.ffn.down"] = f"{theirs}.output.dense"
        modules[f"{ours}.ffn.norm"] = f"{theirs}.output.LayerNorm"
    if head.task == "sequence-classification":
        modules |= {"head.pooler": "pooler.dense", "head.classifier": "classifier"}
    names = {f"{ours}.weight": f"{theirs}.weight" for ours, theirs in modules.items()}
    tables = ("embeddings.token", "embeddings.position", "embeddings.token_type")
    names |= {f"{ours}.bias": f"{theirs}.bias" for ours, theirs in modules.items() if ours not in tables}
    return names


register(
    Family(
        model_type="bert",
        read=_read,
        write=_write,
        tensor_names=_tensor_names,
        prefix="bert.",
        architectures={
            "sequence-classification": "BertForSequenceClassification",
            "sentence-embedding": "BertModel",
        },
    )
)
