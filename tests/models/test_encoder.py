from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from mobilekit.models.config import SHARINGS, EncoderConfig, HeadConfig
from mobilekit.models.load import load
from mobilekit.models.model import fresh_module

Make = Callable[..., tuple[Path, torch.nn.Module]]


def batch(length: int, padding: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(length)
    ids = torch.randint(5, 90, (2, length + padding), generator=generator)
    types = torch.randint(0, 2, (2, length + padding), generator=generator)
    mask = torch.ones_like(ids)
    mask[:, length:] = 0
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}


@pytest.mark.parametrize("length", [1, 7, 64])
@pytest.mark.parametrize("padding", [0, 9])
@pytest.mark.parametrize("activation", ["gelu", "gelu_new", "relu"])
def test_classification_equals_transformers(bert_folder: Make, length: int, padding: int, activation: str) -> None:
    folder, theirs = bert_folder(hidden_act=activation)
    ours, inputs = load(folder), batch(length, padding)
    with torch.no_grad():
        difference = (ours.module(**inputs) - theirs(**inputs).logits).abs().max()
    assert difference < 1e-5


@pytest.mark.parametrize("length", [1, 7, 64])
@pytest.mark.parametrize("padding", [0, 9])
def test_states_and_scores_equal_transformers(bert_folder: Make, length: int, padding: int) -> None:
    folder, theirs = bert_folder("base", attn_implementation="eager")
    ours, inputs = load(folder, task="sentence-embedding"), batch(length, padding)
    with torch.no_grad():
        got = ours.module.encoder(**inputs, intermediate=True)
        expected = theirs(**inputs, output_hidden_states=True, output_attentions=True)
    for state, other in zip(got.hidden, expected.hidden_states, strict=True):
        assert (state - other)[:, :length].abs().max() < 1e-5
    for scores, other in zip(got.scores, expected.attentions, strict=True):
        assert (scores.softmax(-1) - other)[:, :, :length].abs().max() < 1e-5


def test_token_types_matter(bert_folder: Make) -> None:
    folder, _ = bert_folder()
    ours, inputs = load(folder), batch(7, 0)
    with torch.no_grad():
        with_types = ours.module(**inputs)
        without = ours.module(inputs["input_ids"], inputs["attention_mask"])
    assert (with_types - without).abs().max() > 1e-3


@pytest.mark.parametrize("sharing", SHARINGS)
def test_sharing_keeps_each_unique_tensor_once(sharing: str) -> None:
    config = EncoderConfig(50, 16, 3, 2, 32, 8, sharing=sharing)
    module = fresh_module(config, HeadConfig("sentence-embedding"))
    names = [n for n, _ in module.named_parameters() if n.endswith(("query.weight", "up.weight"))]
    expected = {"none": 6, "attention": 4, "ffn": 4, "all": 2}[sharing]
    assert len(names) == expected
    ids = torch.arange(5)[None]
    output = module.encoder(ids, intermediate=True)
    assert len(output.hidden) == 4
    assert not torch.equal(output.hidden[1], output.hidden[2])


def test_padding_does_not_change_the_embedding(bert_folder: Make) -> None:
    folder, _ = bert_folder("base")
    ours, inputs = load(folder, task="sentence-embedding"), batch(7, 9)
    short = {name: values[:, :7] for name, values in inputs.items()}
    with torch.no_grad():
        assert (ours.module(**inputs) - ours.module(**short)).abs().max() < 1e-6
