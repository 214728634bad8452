"""Models of `transformers` with random weights, and the variables that Google's code would hold them in.

The names are those of `modeling.py`, `run_classifier.py`, `run_squad.py` and `run_pretraining.py` in
google-research/bert and google-research/albert; checkpoints made by running those files have them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from support import randomise

Variables = dict[str, NDArray[np.generic]]
# The fields of a published bert_config.json and albert_config.json.
BERT: dict[str, Any] = {
    "attention_probs_dropout_prob": 0.1,
    "directionality": "bidi",
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 48,
    "initializer_range": 0.15,
    "intermediate_size": 96,
    "max_position_embeddings": 80,
    "num_attention_heads": 4,
    "num_hidden_layers": 3,
    "type_vocab_size": 2,
    "vocab_size": 90,
}
ALBERT: dict[str, Any] = {
    **{name: value for name, value in BERT.items() if name != "directionality"},
    "attention_probs_dropout_prob": 0,
    "hidden_dropout_prob": 0,
    "down_scale_factor": 1,
    "embedding_size": 24,
    "gap_size": 0,
    "inner_group_num": 1,
    "layers_to_keep": [],
    "net_structure_type": 0,
    "num_hidden_groups": 1,
    "num_hidden_layers": 4,
    "num_memory_blocks": 0,
}


def variables_of(model: Any) -> Variables:
    """A model of `transformers` as Google's code would hold it."""
    made: Variables = {}

    def put(name: str, values: torch.Tensor) -> None:
        made[name] = values.detach().numpy().copy()

    def dense(name: str, module: torch.nn.Linear) -> None:
        put(f"{name}/kernel", module.weight.T)
        put(f"{name}/bias", module.bias)

    def norm(name: str, module: torch.nn.LayerNorm) -> None:
        put(f"{name}/gamma", module.weight)
        put(f"{name}/beta", module.bias)

    albert = model.config.model_type == "albert"
    base = getattr(model, "albert" if albert else "bert", model)
    for name in ("word_embeddings", "position_embeddings", "token_type_embeddings"):
        put(f"bert/embeddings/{name}", getattr(base.embeddings, name).weight)
    norm("bert/embeddings/LayerNorm", base.embeddings.LayerNorm)
    (_albert_encoder if albert else _bert_encoder)(base.encoder, dense, norm)
    if base.pooler is not None:
        dense("bert/pooler/dense", base.pooler if albert else base.pooler.dense)
    head = getattr(model, "predictions", None) or getattr(getattr(model, "cls", None), "predictions", None)
    if head is not None:
        transform = head if albert else head.transform
        dense("cls/predictions/transform/dense", transform.dense)
        norm("cls/predictions/transform/LayerNorm", transform.LayerNorm)
        put("cls/predictions/output_bias", head.bias)
        made["cls/seq_relationship/output_weights"] = np.ones((2, model.config.hidden_size), np.float32)
        made["cls/seq_relationship/output_bias"] = np.zeros(2, np.float32)
    for module, name in (("classifier", "output"), ("qa_outputs", "cls/squad/output")):
        if hasattr(model, module):
            put(f"{name}_weights", getattr(model, module).weight)
            put(f"{name}_bias", getattr(model, module).bias)
    return made


def _bert_encoder(encoder: Any, dense: Callable[..., None], norm: Callable[..., None]) -> None:
    for i, layer in enumerate(encoder.layer):
        at = f"bert/encoder/layer_{i}"
        for part in ("query", "key", "value"):
            dense(f"{at}/attention/self/{part}", getattr(layer.attention.self, part))
        dense(f"{at}/attention/output/dense", layer.attention.output.dense)
        norm(f"{at}/attention/output/LayerNorm", layer.attention.output.LayerNorm)
        dense(f"{at}/intermediate/dense", layer.intermediate.dense)
        dense(f"{at}/output/dense", layer.output.dense)
        norm(f"{at}/output/LayerNorm", layer.output.LayerNorm)


def _albert_encoder(encoder: Any, dense: Callable[..., None], norm: Callable[..., None]) -> None:
    dense("bert/encoder/embedding_hidden_mapping_in", encoder.embedding_hidden_mapping_in)
    for i, group in enumerate(encoder.albert_layer_groups):
        at, layer = f"bert/encoder/transformer/group_{i}/inner_group_0", group.albert_layers[0]
        for part in ("query", "key", "value"):
            dense(f"{at}/attention_1/self/{part}", getattr(layer.attention, part))
        dense(f"{at}/attention_1/output/dense", layer.attention.dense)
        norm(f"{at}/LayerNorm", layer.attention.LayerNorm)
        dense(f"{at}/ffn_1/intermediate/dense", layer.ffn)
        dense(f"{at}/ffn_1/intermediate/output/dense", layer.ffn_output)
        norm(f"{at}/LayerNorm_1", layer.full_layer_layer_norm)


def random_model(kind: str, head: str, config: dict[str, Any], **changes: Any) -> Any:
    import transformers

    torch.manual_seed(0)
    name = {"bert": "Bert", "albert": "Albert"}[kind]
    model = getattr(transformers, f"{name}{head}")(getattr(transformers, f"{name}Config")(**{**config, **changes}))
    randomise(model)
    return model.eval()
