"""What a manifest lists of outputs, and that they are those of the decoded weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from support import ANSWER, CLASSIFIER, TINY, TOKENS, WORDS, randomise

from export.check import listed
from export.golden import _asked, golden, golden_texts
from mobilekit.compression.compress import compress
from mobilekit.errors import InputError
from mobilekit.models.config import HeadConfig
from mobilekit.models.load import load
from mobilekit.models.model import Model, Source, fresh_module
from mobilekit.runtimes.eager import decoded_module

LENGTHS = (16, 64)


def model(head: HeadConfig) -> Model:
    encoder = replace(TINY, vocab_size=600, max_positions=128, initializer_range=0.1)
    module = fresh_module(encoder, head)
    randomise(module)
    return Model("tiny", module, head, load("tiny-classifier").tokenizer, Source("tiny"))


def test_outputs_are_those_of_the_decoded_weights_and_not_of_the_float_ones() -> None:
    tiny = model(CLASSIFIER)
    exact, rounded = golden(compress(tiny, "fp32"), tiny, LENGTHS), golden(compress(tiny, "int8"), tiny, LENGTHS)
    module = decoded_module(compress(tiny, "int8"))
    for one, other in zip(exact, rounded, strict=True):
        assert np.abs(np.array(one["output"]) - other["output"]).max() > 1e-4
        with torch.no_grad():
            expected = module(torch.tensor([other["input_ids"]]), None, torch.tensor([other["token_type_ids"]]))[0]
        assert np.abs(np.array(other["output"]) - expected.numpy()).max() < 1e-6


def test_outputs_that_are_no_numbers_are_the_models_fault() -> None:
    tiny = model(CLASSIFIER)
    with torch.no_grad():
        tiny.module.encoder.layers[1].ffn.up.bias.fill_(1e30)
    with pytest.raises(InputError, match=r"^tiny: what it gives for '.*' has values that are not finite \(NaN or"):
        golden(compress(tiny, "fp32"), tiny, LENGTHS)


def test_first_mask_is_asked_for_and_the_prompt_is_before_every_text() -> None:
    tiny = model(WORDS)
    tiny.prefix = "the "
    first = tiny.tokenizer.encode("the").ids[1]
    assert all(item.encoded.ids[1] == first for item in golden_texts(tiny, LENGTHS))
    two = tiny.tokenizer.encode("a [MASK] and [MASK]")
    assert _asked(two, tiny.tokenizer.mask_id) == 2


def test_a_text_fills_each_length() -> None:
    sizes = [len(item.encoded.ids) for item in golden_texts(model(CLASSIFIER), LENGTHS)]
    assert sizes[-2:] == [16, 64] and min(sizes) == 2


@pytest.mark.parametrize("head", [TOKENS, ANSWER], ids=["tokens", "answer"])
def test_heads_of_tokens_list_a_row_for_each(head: HeadConfig) -> None:
    tiny = model(head)
    for entry in golden(compress(tiny, "fp32"), tiny, LENGTHS):
        assert len(entry["output"]) == len(entry["input_ids"]) * len(head.labels)
        assert entry["rows"] is None and entry["columns"] is None and entry["predict"] is None


def test_too_many_rows_are_sampled_evenly() -> None:
    tiny = model(HeadConfig("token-classification", tuple(f"L{i}" for i in range(300))))
    entry = golden(compress(tiny, "fp32"), tiny, LENGTHS)[-1]
    assert (
        entry["rows"][0] == 0 and entry["rows"][-1] == 63 and len(entry["output"]) == 300 * len(entry["rows"]) <= 2048
    )


def test_fill_mask_lists_the_best_words_and_some_of_all() -> None:
    tiny = model(WORDS)
    compressed = compress(tiny, "fp32")
    entries, mask = golden(compressed, tiny, LENGTHS), tiny.tokenizer.mask_id
    module = decoded_module(compressed)
    assert {len(entry["columns"]) for entry in entries} == {256}
    masked = [entry for entry in entries if mask in entry["input_ids"]]
    assert masked and all(entry["input_ids"][entry["predict"]] == mask for entry in masked)
    for entry in entries:
        with torch.no_grad():
            whole = module(torch.tensor([entry["input_ids"]]), None, torch.tensor([entry["token_type_ids"]]))[0]
        row = whole[entry["predict"]].numpy()
        assert {int(i) for i in np.argsort(-row)[:30]} <= set(entry["columns"])
        assert np.abs(listed(row, None, entry["columns"]) - entry["output"]).max() < 1e-6
