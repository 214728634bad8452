"""Every family's layout, with its own head, reaches every target and passes every check there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support import TINY, randomise

from export.pipeline import export
from mobilekit.models.config import EncoderConfig, HeadConfig
from mobilekit.models.load import load
from mobilekit.models.model import Model, fresh_module
from mobilekit.text.tokenizer import TextTokenizer

LABELS = ("negative", "positive", "neutral")
BASE = replace(TINY, max_positions=66, initializer_range=0.1)
# Half of them with the one head and half with the other, so that both meet every way of embedding.
CASES: dict[str, tuple[EncoderConfig, HeadConfig]] = {
    "distilbert": (replace(BASE, token_types=0), HeadConfig("sequence-classification", LABELS, activation="relu")),
    "roberta": (replace(BASE, token_types=1, pad_id=1, position_offset=2), HeadConfig("sentence-embedding")),
    "electra": (replace(BASE, embedding_size=32), HeadConfig("sequence-classification", LABELS, activation="gelu")),
    "albert": (
        replace(BASE, layers=4, embedding_size=32, sharing="all", groups=2, activation="gelu_new"),
        HeadConfig("sequence-classification", LABELS),
    ),
    "albert-as-wide": (replace(BASE, projection=True, sharing="all"), HeadConfig("sentence-embedding", pooling="cls")),
    "half-shared": (replace(BASE, layers=4, sharing="attention"), HeadConfig("sentence-embedding")),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("scheme", ["int8", "fp16"])
def test_family_passes_on_every_target(case: str, scheme: str, tmp_path: Path) -> None:
    encoder, head = CASES[case]
    module = fresh_module(encoder, head)
    randomise(module)
    tiny = load("tiny-classifier")
    tokenizer = TextTokenizer(tiny.tokenizer.serialized(), encoder.max_tokens)
    model = Model(case, module, head, tokenizer, tiny.source)
    targets = ("coreml", "tflite") if scheme == "fp16" else None
    results = export(model, targets, scheme, lengths=(16, 48), out=tmp_path)
    for result in results:
        inputs = [i["name"] for i in result.manifest["inputs"]]
        assert ("token_type_ids" in inputs) == (encoder.token_types > 1)
        assert result.manifest["tokenizer"]["pad_id"] == encoder.pad_id
