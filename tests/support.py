"""Small random models for tests, with randomised norms and codes that no exporter could derive by itself."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mobilekit.compression.activations import Activation, Static, bias_scale
from mobilekit.compression.compressed import CompressedModel
from mobilekit.compression.quantize import to_bfloat16
from mobilekit.compression.records import Clustered, Dense, Quantized, Record
from mobilekit.compression.smooth import smoothed_linears
from mobilekit.models.config import DenseConfig, EncoderConfig, HeadConfig
from mobilekit.models.tasks import SPAN_LABELS

TINY = EncoderConfig(
    vocab_size=500, hidden_size=64, layers=2, heads=4, intermediate_size=128, embedding_size=64, max_positions=64
)
SHARED = replace(TINY, layers=4, embedding_size=32, sharing="all")
CLASSIFIER = HeadConfig("sequence-classification", labels=("negative", "positive", "neutral"))
EMBEDDING = HeadConfig("sentence-embedding")
TOKENS = HeadConfig("token-classification", labels=("O", "B-PER", "I-PER", "B-LOC", "I-LOC"))
MEAN_CLASSIFIER = replace(CLASSIFIER, mean=True)
ANSWER = HeadConfig("question-answering", labels=SPAN_LABELS)
WORDS = HeadConfig("fill-mask", activation="gelu")
# The quantized schemes: bits, and columns that share a scale (None: all of a row).
FORMS: dict[str, tuple[int, int | None]] = {"int8": (8, None), "int4": (4, None), "int4-g32": (4, 32)}
# The clustered ones: bits.
CLUSTERS = {f"pal{bits}": bits for bits in (8, 6, 4, 3, 2, 1)}
FORMS |= {"int8-static": (8, None)}
# Of these, `with_static` fixes the scales of activations.
STATIC_PARTS = ("query", "key", "value", "output", "up")
DENSE_EMBEDDING = HeadConfig("sentence-embedding", dense=(DenseConfig(64, 32, True, "tanh"),))


def randomise(module: torch.nn.Module) -> None:
    """Norms of 1 and 0 and biases of 0, as fresh models have them, would hide a mixed-up name."""
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if "norm" in name.lower() or name.endswith("bias"):
                parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.2)


def tensor_shapes(encoder: EncoderConfig, head: HeadConfig) -> dict[str, tuple[int, ...]]:
    """Name and shape of every unique tensor of a model."""
    size, inner = encoder.hidden_size, encoder.intermediate_size
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.token.weight": (encoder.vocab_size, encoder.embedding_size),
        "embeddings.position.weight": (encoder.max_positions, encoder.embedding_size),
    }
    if encoder.token_types:
        shapes["embeddings.token_type.weight"] = (encoder.token_types, encoder.embedding_size)

    def linear(name: str, rows: int, columns: int) -> None:
        shapes[f"{name}.weight"], shapes[f"{name}.bias"] = (rows, columns), (rows,)

    def norm(name: str, width: int) -> None:
        shapes[f"{name}.weight"], shapes[f"{name}.bias"] = (width,), (width,)

    norm("embeddings.norm", encoder.embedding_size)
    if encoder.projected:
        linear("embeddings.projection", size, encoder.embedding_size)
    for i in sorted({encoder.attention_of(i) for i in range(encoder.layers)}):
        for part in ("query", "key", "value", "output"):
            linear(f"layers.{i}.attention.{part}", size, size)
        norm(f"layers.{i}.attention.norm", size)
    for i in sorted({encoder.ffn_of(i) for i in range(encoder.layers)}):
        linear(f"layers.{i}.ffn.up", inner, size)
        linear(f"layers.{i}.ffn.down", size, inner)
        norm(f"layers.{i}.ffn.norm", size)
    shapes |= head_shapes(encoder, head)
    return shapes


def head_shapes(encoder: EncoderConfig, head: HeadConfig) -> dict[str, tuple[int, ...]]:
    """The same for the head alone."""
    size, width, labels = encoder.hidden_size, encoder.embedding_size, len(head.labels)
    linears = {
        "sequence-classification": {**({} if head.mean else {"pooler": (size, size)}), "classifier": (labels, size)},
        "token-classification": {"outputs": (labels, size)},
        "question-answering": {"outputs": (2, size)},
        "fill-mask": {"transform": (width, size), "decoder": (encoder.vocab_size, width)},
        "sentence-embedding": {f"dense.{i}": (dense.out_size, dense.in_size) for i, dense in enumerate(head.dense)},
    }[head.task]
    shapes: dict[str, tuple[int, ...]] = {f"head.{name}.weight": shape for name, shape in linears.items()}
    shapes |= {f"head.{name}.bias": (shape[0],) for name, shape in linears.items()}
    if head.task == "fill-mask":
        shapes |= {"head.norm.weight": (width,), "head.norm.bias": (width,)}
        if head.tied:
            del shapes["head.decoder.weight"]
    return shapes


def random_compressed(
    encoder: EncoderConfig = TINY, head: HeadConfig = EMBEDDING, scheme: str = "int8", seed: int = 0
) -> CompressedModel:
    """A random model as records. No row's or group's largest code is the largest of its bits, so that codes that are
    derived anew by maximum differ."""
    rng = np.random.default_rng(seed)
    records: dict[str, Record] = {}
    for name, shape in tensor_shapes(encoder, head).items():
        if len(shape) == 2 and name.split(".")[1] not in ("position", "token_type") and scheme in {**FORMS, **CLUSTERS}:
            made = foreign_clusters(rng, shape, CLUSTERS[scheme]) if scheme in CLUSTERS else None
            records[name] = made or foreign_codes(rng, shape, *FORMS[scheme])
            continue
        is_gamma = name.endswith("norm.weight")
        values = (1.0 if is_gamma else 0.0) + rng.normal(size=shape) * (0.3 if is_gamma else 0.08)
        records[name] = Dense(values.astype(np.float16 if scheme == "fp16" else np.float32))
    if scheme in {**FORMS, **CLUSTERS}:
        for name, weights in smoothed_linears(list(records)).items():
            multiplier = rng.choice([0.5, 0.625, 0.875, 1.0, 1.25, 1.75, 2.0], size=records[weights[0]].shape[1])
            records[name] = Dense(multiplier.astype(np.float32))
    made = CompressedModel(encoder, head, scheme, dict(sorted(records.items())))
    return with_static(made, rng) if scheme == "int8-static" else made


def with_static(model: CompressedModel, rng: np.random.Generator) -> CompressedModel:
    """The same with scales of activations around most linear maps of the layers, which nothing could have derived."""
    records, activations = dict(model.records), {}
    for name in sorted(name.removesuffix(".weight") for name in records):
        if not name.startswith("layers.") or name.rpartition(".")[2] not in STATIC_PARTS:
            continue
        weight, bias = records[f"{name}.weight"], records[f"{name}.bias"]
        assert isinstance(weight, Quantized)
        scales = rng.uniform(0.03, 0.05, size=2).astype(np.float16).astype(float)
        zero_points = rng.integers(-20, 20, size=2)
        static = Static(*(Activation(float(s), int(z)) for s, z in zip(scales, zero_points, strict=True)))
        unit = bias_scale(weight.scale, static.input)
        records[f"{name}.bias"] = Dense(np.rint(bias.decode() / unit) * unit)
        activations[name] = static
    return replace(model, records=records, activations=activations)


def foreign_codes(rng: np.random.Generator, shape: tuple[int, ...], bits: int, block: int | None) -> Quantized:
    """A record of random codes, with a scale a row or for every `block` columns."""
    limit = 2 ** (bits - 1) - 1
    most = limit * 4 // 5
    codes: NDArray[np.int8] = np.clip(np.rint(rng.normal(size=shape) * limit * 0.22), -most, most).astype(np.int8)
    groups = 1 if block is None else shape[1] // block
    scale = rng.uniform(0.25, 0.5, size=(shape[0], groups)) / limit
    rounded = scale.astype(np.float16).astype(np.float32) if groups == 1 else to_bfloat16(scale.astype(np.float32))
    return Quantized(codes, rounded, bits)


def foreign_clusters(rng: np.random.Generator, shape: tuple[int, ...], bits: int, groups: int = 1) -> Clustered:
    """A record of random codes and levels, `groups` codebooks; at 2 bits and more the last level is there twice."""
    levels = np.sort(np.clip(np.rint(rng.normal(size=(groups, 2**bits)) * 40), -100, 100).astype(np.int8), axis=1)
    if bits > 1:
        levels[:, -1] = levels[:, -2]
    scale = rng.uniform(0.25, 0.5, size=(shape[0], 1)) / 127
    codes = rng.integers(0, 2**bits, shape).astype(np.uint8)
    return Clustered(codes, levels, scale.astype(np.float16).astype(np.float32))


def fake_manifest(folder: Path | None) -> dict[str, Any]:
    """A valid manifest; hashes are those of the folder's model.tflite and tokenizer.json, if there is a folder."""
    sha = "0" * 64

    def of(name: str) -> str:
        return sha if folder is None else hashlib.sha256((folder / name).read_bytes()).hexdigest()

    return {
        "schema": 1,
        "name": "fake-int8",
        "model": "fake",
        "task": "sequence-classification",
        "labels": ["negative", "positive"],
        "problem_type": "single_label_classification",
        "source": {"id": "fake", "revision": "", "license": "", "weights_sha256": sha},
        "target": "tflite",
        "file": "model.tflite",
        "bytes": 7,
        "sha256": of("model.tflite"),
        "files": {"tokenizer.json": of("tokenizer.json")},
        "scheme": "int8",
        "plan": [{"pattern": "*", "scheme": "int8"}],
        "inputs": [
            {"name": name, "dtype": "int32", "shape": [1, "length"], "meaning": ""}
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ],
        "outputs": [{"name": "logits", "dtype": "float32", "shape": [1, 2], "meaning": ""}],
        "lengths": [{"length": 8, "entry": "len_8"}, {"length": 16, "entry": "len_16"}],
        "exits": [],
        "tokenizer": {
            "type": "WordPiece",
            "file": "tokenizer.json",
            "vocabulary": None,
            "lower_case": True,
            "special_ids": {"[PAD]": 0},
            "pad_id": 0,
            "mask_id": None,
            "template": ["$A:0"],
            "pair_template": ["$A:0", "$B:1"],
            "max_length": 64,
            "prefix": "",
            "parity_sha256": sha,
        },
        "parameters": 10,
        "layers": 2,
        "tensors": [
            {"name": "a.weight", "shape": [2, 4], "kind": "quantized", "bits": 8, "bytes": 8, "sha256": {"record": sha}}
        ],
        "groups": {"a": {"parameters": 8, "bytes": 8}},
        "golden": [
            {
                "text": "x",
                "text_pair": None,
                "length": 8,
                "input_ids": [2, 5, 6, 3],
                "token_type_ids": [0, 0, 0, 0],
                "predict": None,
                "rows": None,
                "columns": None,
                "output": [0.25, -0.5],
            },
            {
                "text": "x y",
                "text_pair": None,
                "length": 16,
                "input_ids": [2, 5, 6, 7, 8, 9, 10, 11, 12, 3],
                "token_type_ids": [0] * 10,
                "predict": None,
                "rows": None,
                "columns": None,
                "output": [0.5, -0.25],
            },
        ],
        "tolerance": {
            "host": {"metric": "cosine", "limit": 0.999},
            "device": {"metric": "cosine", "limit": 0.995},
        },
        "checks": [],
        "status": "unchecked",
        "teacher": None,
        "accuracy": None,
        "versions": {},
        "engine": {"name": "litert", "minimum_version": "2.0"},
        "minimum_os": {},
    }
