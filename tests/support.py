"""Small random models for tests, with randomised norms and codes that no exporter could derive by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mobilekit.compression.compressed import CompressedModel
from mobilekit.compression.records import Dense, Quantized, Record
from mobilekit.models.config import DenseConfig, EncoderConfig, HeadConfig

TINY = EncoderConfig(
    vocab_size=500, hidden_size=64, layers=2, heads=4, intermediate_size=128, embedding_size=64, max_positions=64
)
SHARED = replace(TINY, layers=4, embedding_size=32, sharing="all")
CLASSIFIER = HeadConfig("sequence-classification", labels=("negative", "positive", "neutral"))
EMBEDDING = HeadConfig("sentence-embedding")
DENSE_EMBEDDING = HeadConfig("sentence-embedding", dense=(DenseConfig(64, 32, True, "tanh"),))


def tensor_shapes(encoder: EncoderConfig, head: HeadConfig) -> dict[str, tuple[int, ...]]:
    """Name and shape of every unique tensor of a model."""
    size, inner = encoder.hidden_size, encoder.intermediate_size
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.token.weight": (encoder.vocab_size, encoder.embedding_size),
        "embeddings.position.weight": (encoder.max_positions, encoder.embedding_size),
        "embeddings.token_type.weight": (encoder.token_types, encoder.embedding_size),
    }

    def linear(name: str, rows: int, columns: int) -> None:
        shapes[f"{name}.weight"], shapes[f"{name}.bias"] = (rows, columns), (rows,)

    def norm(name: str, width: int) -> None:
        shapes[f"{name}.weight"], shapes[f"{name}.bias"] = (width,), (width,)

    norm("embeddings.norm", encoder.embedding_size)
    if encoder.embedding_size != size:
        linear("embeddings.projection", size, encoder.embedding_size)
    for i in sorted({encoder.attention_of(i) for i in range(encoder.layers)}):
        for part in ("query", "key", "value", "output"):
            linear(f"layers.{i}.attention.{part}", size, size)
        norm(f"layers.{i}.attention.norm", size)
    for i in sorted({encoder.ffn_of(i) for i in range(encoder.layers)}):
        linear(f"layers.{i}.ffn.up", inner, size)
        linear(f"layers.{i}.ffn.down", size, inner)
        norm(f"layers.{i}.ffn.norm", size)
    if head.task == "sequence-classification":
        linear("head.pooler", size, size)
        linear("head.classifier", len(head.labels), size)
    for i, dense in enumerate(head.dense):
        linear(f"head.dense.{i}", dense.out_size, dense.in_size)
    return shapes


def random_compressed(
    encoder: EncoderConfig = TINY, head: HeadConfig = EMBEDDING, scheme: str = "int8", seed: int = 0
) -> CompressedModel:
    """A random model as records. At int8 no row's largest code is 127, so codes re-derived by maximum differ."""
    rng = np.random.default_rng(seed)
    records: dict[str, Record] = {}
    for name, shape in tensor_shapes(encoder, head).items():
        quantized = scheme == "int8" and len(shape) == 2 and name.split(".")[1] not in ("position", "token_type")
        if quantized:
            records[name] = _foreign_codes(rng, shape)
            continue
        is_gamma = name.endswith("norm.weight")
        values = (1.0 if is_gamma else 0.0) + rng.normal(size=shape) * (0.3 if is_gamma else 0.08)
        records[name] = Dense(values.astype(np.float16 if scheme == "fp16" else np.float32))
    return CompressedModel(encoder, head, scheme, dict(sorted(records.items())))


def _foreign_codes(rng: np.random.Generator, shape: tuple[int, ...]) -> Quantized:
    codes: NDArray[np.int8] = np.clip(np.rint(rng.normal(size=shape) * 28), -101, 101).astype(np.int8)
    scale = rng.uniform(0.002, 0.004, size=(shape[0], 1)).astype(np.float16).astype(np.float32)
    return Quantized(codes, scale)
