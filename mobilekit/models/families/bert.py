"""BERT (Devlin et al. 2019) as the hub lays it out, and what the families that grew from it share with it."""

from __future__ import annotations

from mobilekit.models.config import EncoderConfig
from mobilekit.models.families.registry import (
    Family,
    Json,
    get,
    read_activation,
    refuse_decoders,
    register,
)


def read_bert(config: Json) -> EncoderConfig:
    """EncoderConfig from BERT's field names."""
    refuse_decoders(config)
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
        activation=read_activation(config, "hidden_act", "gelu"),
        pad_id=get(config, "pad_token_id", int, 0),
        dropout=get(config, "hidden_dropout_prob", float, 0.1),
        initializer_range=get(config, "initializer_range", float, 0.02),
    )


def write_bert(encoder: EncoderConfig) -> Json:
    """BERT's field names from an EncoderConfig; the caller adds `model_type` and what is its own."""
    return {
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


def is_plain(encoder: EncoderConfig) -> bool:
    """Whether every layer has weights of its own and embeddings are as wide as the layers."""
    return encoder.sharing == "none" and not encoder.projected


def bert_modules(encoder: EncoderConfig) -> dict[str, str]:
    """Our module names -> BERT's, without a head."""
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
    return modules


def _write(encoder: EncoderConfig) -> Json | None:
    if not is_plain(encoder) or encoder.token_types < 1 or encoder.position_offset:
        return None
    return {"model_type": "bert", **write_bert(encoder)}


register(
    Family(
        model_type="bert",
        class_name="Bert",
        read=read_bert,
        write=_write,
        modules=bert_modules,
        heads={
            "sequence-classification": {"head.pooler": "pooler.dense", "head.classifier": "classifier"},
            "token-classification": {"head.outputs": "classifier"},
            "question-answering": {"head.outputs": "qa_outputs"},
            "fill-mask": {
                "head.transform": "cls.predictions.transform.dense",
                "head.norm": "cls.predictions.transform.LayerNorm",
                "head.decoder": "cls.predictions.decoder",
            },
        },
        prefix="bert.",
        in_base=("head.pooler",),
    )
)
