"""ELECTRA (Clark et al. 2020), the discriminator."""

from __future__ import annotations

from dataclasses import replace

from mobilekit.models.config import EncoderConfig
from mobilekit.models.families.bert import bert_modules, read_bert, write_bert
from mobilekit.models.families.registry import Family, Json, get, given, register


def _read(config: Json) -> EncoderConfig:
    plain = read_bert({"hidden_size": 256, **given(config)})
    return replace(plain, embedding_size=get(config, "embedding_size", int, 128))


def _write(encoder: EncoderConfig) -> Json | None:
    as_wide = encoder.embedding_size == encoder.hidden_size
    if encoder.sharing != "none" or encoder.token_types < 1 or encoder.position_offset or as_wide == encoder.projected:
        return None
    return {"model_type": "electra", "embedding_size": encoder.embedding_size, **write_bert(encoder)}


def _modules(encoder: EncoderConfig) -> dict[str, str]:
    return bert_modules(encoder) | {"embeddings.projection": "embeddings_project"}


register(
    Family(
        model_type="electra",
        class_name="Electra",
        read=_read,
        write=_write,
        modules=_modules,
        heads={
            "sequence-classification": {"head.pooler": "classifier.dense", "head.classifier": "classifier.out_proj"},
            "token-classification": {"head.outputs": "classifier"},
            "question-answering": {"head.outputs": "qa_outputs"},
            "fill-mask": {
                "head.transform": "generator_predictions.dense",
                "head.norm": "generator_predictions.LayerNorm",
                "head.decoder": "generator_lm_head",
            },
        },
        prefix="electra.",
        head_activation="gelu",
        word_activation="gelu",
    )
)
