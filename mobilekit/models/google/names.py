"""What Google's TensorFlow code calls the tensors that `transformers` has, and how it stores them."""

from __future__ import annotations

import re

# ALBERT's map from the embeddings' width to the layers', where they differ.
PROJECTION = "bert/encoder/embedding_hidden_mapping_in/kernel"
# Heads by the variable that only they have, those of fine-tuning first: the pre-trained one may be there beside them.
HEADS = {
    "output_weights": "sequence-classification",
    "cls/squad/output_weights": "question-answering",
    "cls/predictions/output_bias": "fill-mask",
}
# A checkpoint of TensorFlow 2 names objects instead of variables, and has this one among them.
OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"

# Stored as the product needs them, [outputs, inputs], under names of their own.
_HEAD_TENSORS = {
    "classifier.weight": "output_weights",
    "classifier.bias": "output_bias",
    "qa_outputs.weight": "cls/squad/output_weights",
    "qa_outputs.bias": "cls/squad/output_bias",
    "cls.predictions.bias": "cls/predictions/output_bias",
    "predictions.bias": "cls/predictions/output_bias",
}
_ALBERT_LAYER = re.compile(r"encoder\.albert_layer_groups\.(\d+)\.albert_layers\.(\d+)\.(.+)")
_ALBERT_PARTS = {
    "attention.query": "attention_1/self/query",
    "attention.key": "attention_1/self/key",
    "attention.value": "attention_1/self/value",
    "attention.dense": "attention_1/output/dense",
    "attention.LayerNorm": "LayerNorm",
    "ffn": "ffn_1/intermediate/dense",
    "ffn_output": "ffn_1/intermediate/output/dense",
    "full_layer_layer_norm": "LayerNorm_1",
}
_ALBERT_MODULES = {
    "pooler": "bert/pooler/dense",
    "predictions.dense": "cls/predictions/transform/dense",
    "predictions.LayerNorm": "cls/predictions/transform/LayerNorm",
}


def variable_of(tensor: str, model_type: str) -> tuple[str, bool]:
    """Google's variable for a tensor of `transformers`, and whether it is stored transposed.

    tensor: without the family's prefix (`encoder.layer.0.output.dense.weight`). model_type: bert or albert. A dense
    layer's `kernel` is [inputs, outputs]; the heads' `output_weights` are [outputs, inputs], as torch has them.
    """
    if tensor in _HEAD_TENSORS:
        return _HEAD_TENSORS[tensor], False
    module, _, part = tensor.rpartition(".")
    path = _albert_path(module) if model_type == "albert" else _bert_path(module)
    last = path.rsplit("/", 1)[-1]
    if last.endswith("_embeddings"):
        return path, False
    if last.startswith("LayerNorm"):
        return f"{path}/{'gamma' if part == 'weight' else 'beta'}", False
    return (f"{path}/kernel", True) if part == "weight" else (f"{path}/{part}", False)


def _bert_path(module: str) -> str:
    path = re.sub(r"\blayer\.(\d+)", r"layer_\1", module).replace(".", "/")
    return path if path.startswith("cls/") else f"bert/{path}"


def _albert_path(module: str) -> str:
    layer = _ALBERT_LAYER.fullmatch(module)
    if layer is not None:
        group, inner, part = layer.groups()
        return f"bert/encoder/transformer/group_{group}/inner_group_{inner}/{_ALBERT_PARTS[part]}"
    return _ALBERT_MODULES.get(module) or _bert_path(module)
