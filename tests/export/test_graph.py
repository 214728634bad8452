from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from support import (
    ANSWER,
    CLASSIFIER,
    DENSE_EMBEDDING,
    EMBEDDING,
    MEAN_CLASSIFIER,
    SHARED,
    TINY,
    TOKENS,
    WORDS,
    random_compressed,
)

from export.blocks import Blocks
from export.graph import EncoderGraph, example_inputs
from mobilekit.compression.records import Dense
from mobilekit.models.config import EncoderConfig, HeadConfig
from mobilekit.runtimes.eager import decoded_module

ENCODERS = {
    "plain": TINY,
    "shared": SHARED,
    "attention": replace(TINY, sharing="attention"),
    "ffn": replace(TINY, sharing="ffn"),
    "relu": replace(TINY, activation="relu"),
    "tanh-gelu": replace(TINY, activation="gelu_new"),
}
HEADS = {
    "classifier": CLASSIFIER,
    "embedding": EMBEDDING,
    "dense": DENSE_EMBEDDING,
    "first-token": replace(EMBEDDING, pooling="cls"),
    "as-it-is": replace(EMBEDDING, normalize=False),
    "mean-classifier": MEAN_CLASSIFIER,
    "tokens": TOKENS,
    "answer": ANSWER,
    "words": WORDS,
    "words-untied": replace(WORDS, tied=False, activation="gelu_new"),
}


@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS)
@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_graph_equals_the_encoder_padded_and_not(encoder: EncoderConfig, head: HeadConfig) -> None:
    model = random_compressed(encoder, head)
    module, inputs = decoded_module(model), example_inputs(model, 16)
    generator = torch.Generator().manual_seed(0)
    inputs["input_ids"] = torch.randint(0, 500, (1, 16), generator=generator, dtype=torch.int32)
    inputs["token_type_ids"] = torch.randint(0, 2, (1, 16), generator=generator, dtype=torch.int32)
    for size in (1, 9, 16):
        inputs["attention_mask"] = (torch.arange(16) < size).to(torch.int32)[None]
        if head.task == "fill-mask":
            inputs["predict_mask"] = (torch.arange(16) == size // 2).to(torch.int32)[None]
        with torch.no_grad():
            got = EncoderGraph(Blocks(model), 16).eval()(**inputs)[head.output_name]
            short = {name: values[:, :size] for name, values in inputs.items() if name != "predict_mask"}
            expected = module(**short)
        if head.per_token:
            got = got[:, :size]
        if head.task == "fill-mask":
            expected = expected[:, size // 2]
        assert (got - expected).abs().max() < 1e-5


def test_short_embedding_is_made_as_long_as_any() -> None:
    model = random_compressed(TINY, DENSE_EMBEDDING, "fp32")
    small = {n: Dense(r.values * np.float32(1e-3)) if n.startswith("head.") else r for n, r in model.records.items()}
    graph = EncoderGraph(Blocks(replace(model, records=small)), 16).eval()
    with torch.no_grad():
        assert graph(**example_inputs(model, 16))["embedding"].norm().item() == pytest.approx(1, abs=1e-4)


def test_shared_layer_is_one_module() -> None:
    graph = EncoderGraph(Blocks(random_compressed(SHARED, CLASSIFIER)), 16)
    assert len({id(a.query) for a in graph.attention}) == 1
    names = [name for name, _ in graph.named_parameters() if name.endswith("query.weight")]
    assert len(names) == 1


def test_mask_fits_half_precision_and_leaks_nothing() -> None:
    from export.graph import MASK_VALUE

    half = torch.tensor(MASK_VALUE, dtype=torch.float16)
    assert torch.isfinite(half) and torch.exp(half) == 0
    # Nothing at all in float32 either, even where the other scores are 1000 lower.
    assert torch.exp(torch.tensor(MASK_VALUE + 1000.0)) == 0
    assert torch.isfinite(half * 1 + torch.tensor(-50000.0, dtype=torch.float16))
