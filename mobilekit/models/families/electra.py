"""ELECTRA (Clark et al. 2020), the discriminator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mobilekit.models.config import EncoderConfig, HeadConfig
from mobilekit.models.families.bert import TABLES, bert_modules, read_bert, write_bert
from mobilekit.models.families.registry import Family, Json, get, given, register, with_parts


def _read(config: Json) -> EncoderConfig:
    plain = read_bert({"hidden_size": 256, **given(config)})
    return replace(plain, embedding_size=get(config, "embedding_size", int, 128))


def _write(encoder: EncoderConfig) -> Json | None:
    as_wide = encoder.embedding_size == encoder.hidden_size
    if encoder.sharing != "none" or encoder.token_types < 1 or encoder.position_offset or as_wide == encoder.projected:
        return None
    return {"model_type": "electra", "embedding_size": encoder.embedding_size, **write_bert(encoder)}


def _tensor_names(encoder: EncoderConfig, head: HeadConfig) -> Mapping[str, str]:
    modules = bert_modules(encoder) | {"embeddings.projection": "embeddings_project"}
    if head.task == "sequence-classification":
        modules |= {"head.pooler": "classifier.dense", "head.classifier": "classifier.out_proj"}
    return with_parts(modules, TABLES)


register(
    Family(
        model_type="electra",
        read=_read,
        write=_write,
        tensor_names=_tensor_names,
        prefix="electra.",
        architectures={
            "sequence-classification": "ElectraForSequenceClassification",
            "sentence-embedding": "ElectraModel",
        },
        head_activation="gelu",
        own_head=("head.pooler", "head.classifier"),
    )
)
