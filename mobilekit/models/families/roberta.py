"""RoBERTa (Liu et al. 2019), XLM-RoBERTa (Conneau et al. 2020) and CamemBERT (Martin et al. 2020): one layout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mobilekit.models.config import EncoderConfig
from mobilekit.models.families.bert import bert_modules, is_plain, read_bert, write_bert
from mobilekit.models.families.registry import Family, Json, get, given, register


def _read(config: Json) -> EncoderConfig:
    defaults: Json = {"pad_token_id": 1, "type_vocab_size": 2}
    plain = read_bert({**defaults, **given(config)})
    # Positions begin after the padding id's own row.
    return replace(plain, position_offset=get(config, "pad_token_id", int, 1) + 1)


def _write(model_type: str) -> Callable[[EncoderConfig], Json | None]:
    def write(encoder: EncoderConfig) -> Json | None:
        if not is_plain(encoder) or encoder.token_types < 1 or encoder.position_offset != encoder.pad_id + 1:
            return None
        return {"model_type": model_type, **write_bert(encoder)}

    return write


_HEADS = {
    "sequence-classification": {"head.pooler": "classifier.dense", "head.classifier": "classifier.out_proj"},
    "token-classification": {"head.outputs": "classifier"},
    "question-answering": {"head.outputs": "qa_outputs"},
    "fill-mask": {
        "head.transform": "lm_head.dense",
        "head.norm": "lm_head.layer_norm",
        "head.decoder": "lm_head.decoder",
    },
}

for _model_type, _class in (("roberta", "Roberta"), ("xlm-roberta", "XLMRoberta"), ("camembert", "Camembert")):
    register(
        Family(
            model_type=_model_type,
            class_name=_class,
            read=_read,
            write=_write(_model_type),
            modules=bert_modules,
            heads=_HEADS,
            prefix="roberta.",
            word_activation="gelu",
        )
    )
