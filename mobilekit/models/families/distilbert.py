"""DistilBERT (Sanh et al. 2019): no token types, no pooler."""

from __future__ import annotations

from mobilekit.models.config import EncoderConfig
from mobilekit.models.families.bert import is_plain
from mobilekit.models.families.registry import Family, Json, get, read_activation, register


def _read(config: Json) -> EncoderConfig:
    width = get(config, "dim", int, 768)
    return EncoderConfig(
        vocab_size=get(config, "vocab_size", int),
        hidden_size=width,
        layers=get(config, "n_layers", int, 6),
        heads=get(config, "n_heads", int, 12),
        intermediate_size=get(config, "hidden_dim", int, 3072),
        embedding_size=width,
        max_positions=get(config, "max_position_embeddings", int, 512),
        token_types=0,
        # Not in its configuration: the class has it fixed.
        norm_eps=1e-12,
        activation=read_activation(config, "activation", "gelu"),
        pad_id=get(config, "pad_token_id", int, 0),
        dropout=get(config, "dropout", float, 0.1),
        initializer_range=get(config, "initializer_range", float, 0.02),
    )


def _write(encoder: EncoderConfig) -> Json | None:
    if not is_plain(encoder) or encoder.token_types or encoder.position_offset or encoder.norm_eps != 1e-12:
        return None
    return {
        "model_type": "distilbert",
        "vocab_size": encoder.vocab_size,
        "dim": encoder.hidden_size,
        "n_layers": encoder.layers,
        "n_heads": encoder.heads,
        "hidden_dim": encoder.intermediate_size,
        "max_position_embeddings": encoder.max_positions,
        "activation": encoder.activation,
        "pad_token_id": encoder.pad_id,
        "dropout": encoder.dropout,
        "attention_dropout": encoder.dropout,
        "initializer_range": encoder.initializer_range,
    }


def _modules(encoder: EncoderConfig) -> dict[str, str]:
    modules = {
        "embeddings.token": "embeddings.word_embeddings",
        "embeddings.position": "embeddings.position_embeddings",
        "embeddings.norm": "embeddings.LayerNorm",
    }
    for i in range(encoder.layers):
        ours, theirs = f"layers.{i}", f"transformer.layer.{i}"
        for part, name in (("query", "q_lin"), ("key", "k_lin"), ("value", "v_lin"), ("output", "out_lin")):
            modules[f"{ours}.attention.{part}"] = f"{theirs}.attention.{name}"
        modules[f"{ours}.attention.norm"] = f"{theirs}.sa_layer_norm"
        modules[f"{ours}.ffn.up"] = f"{theirs}.ffn.lin1"
        modules[f"{ours}.ffn.down"] = f"{theirs}.ffn.lin2"
        modules[f"{ours}.ffn.norm"] = f"{theirs}.output_layer_norm"
    return modules


register(
    Family(
        model_type="distilbert",
        class_name="DistilBert",
        read=_read,
        write=_write,
        modules=_modules,
        heads={
            "sequence-classification": {"head.pooler": "pre_classifier", "head.classifier": "classifier"},
            "token-classification": {"head.outputs": "classifier"},
            "question-answering": {"head.outputs": "qa_outputs"},
            "fill-mask": {
                "head.transform": "vocab_transform",
                "head.norm": "vocab_layer_norm",
                "head.decoder": "vocab_projector",
            },
        },
        prefix="distilbert.",
        head_activation="relu",
    )
)
