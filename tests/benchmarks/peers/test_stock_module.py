"""The module that other tools are given holds the model's own weights and head, or says why there is none."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import support
import torch

from benchmarks.peers.registry import peer
from benchmarks.peers.stock_module import Stock, import_stock, load_stock, read_stock, write_stock
from mobilekit.errors import InputError
from mobilekit.models.config import EncoderConfig, HeadConfig
from mobilekit.models.load import load
from mobilekit.models.model import Model, fresh_module

BERT = support.TINY
ROBERTA = replace(BERT, token_types=1, position_offset=1, pad_id=0)
DISTILBERT = replace(BERT, token_types=0)
ELECTRA = replace(BERT, embedding_size=32)
ALBERT = support.SHARED


@pytest.fixture(autouse=True)
def _quiet() -> None:
    logging.getLogger("transformers").setLevel(logging.ERROR)


def model_of(encoder: EncoderConfig, head: HeadConfig, family: str) -> Model:
    donor, module = load("tiny-embedding"), fresh_module(encoder, head)
    support.randomise(module)
    return Model("model", module, head, donor.tokenizer, donor.source, family=family)


def difference(model: Model, folder: Path) -> float:
    """Between the model and the module of the folder, for 11 tokens and 5 of padding."""
    ids = torch.arange(16)[None] + 20
    mask = torch.ones_like(ids)
    ids[:, 11:], mask[:, 11:] = model.config.pad_id, 0
    types = {"token_type_ids": torch.ones_like(ids) * mask} if model.config.reads_token_types else {}
    with torch.no_grad():
        ours = model.module(ids, mask, **types)
        theirs = load_stock(folder)(ids, mask, **types)
    assert ours.shape == theirs.shape
    return float((ours - theirs).abs().max())


@pytest.mark.parametrize(
    "head", [support.CLASSIFIER, support.MEAN_CLASSIFIER, support.EMBEDDING, support.DENSE_EMBEDDING]
)
@pytest.mark.parametrize(
    ("encoder", "family"),
    [(BERT, "bert"), (DISTILBERT, "distilbert"), (ROBERTA, "roberta"), (ELECTRA, "electra"), (ALBERT, "albert")],
)
def test_it_gives_what_the_model_gives(encoder: EncoderConfig, family: str, head: HeadConfig, tmp_path: Path) -> None:
    if head == support.CLASSIFIER:
        head = replace(head, activation={"distilbert": "relu", "electra": "gelu"}.get(family, "tanh"))
    model = model_of(encoder, head, family)
    stock = write_stock(model, tmp_path)
    # transformers has a class for the usual classifier alone; the others are ours on top.
    assert stock.own_class == (head.task == "sequence-classification" and not head.mean)
    assert read_stock(tmp_path) == stock
    import_stock(tmp_path)
    assert difference(model, tmp_path) < 1e-5


def test_a_model_in_our_own_layout_finds_the_class_that_holds_it(tmp_path: Path) -> None:
    model = model_of(BERT, support.MEAN_CLASSIFIER, "mobilekit")
    write_stock(model, tmp_path)
    import_stock(tmp_path)
    assert '"model_type": "bert"' in (tmp_path / "config.json").read_text()
    assert difference(model, tmp_path) < 1e-5


def test_an_encoder_that_no_class_holds_is_refused(tmp_path: Path) -> None:
    model = model_of(replace(BERT, sharing="attention"), support.EMBEDDING, "mobilekit")
    with pytest.raises(InputError, match=r"^model: transformers has no class for this encoder, so that no other tool"):
        write_stock(model, tmp_path)


@pytest.mark.parametrize("name", ["tiny-tagger", "tiny-reader", "tiny-words"])
def test_other_tasks_are_refused_by_name(name: str, tmp_path: Path) -> None:
    model = load(name)
    said = f"{name}: peers take sequence-classification and sentence-embedding, not {model.head.task}."
    with pytest.raises(InputError) as caught:
        write_stock(model, tmp_path)
    assert str(caught.value) == said


def test_writing_leaves_the_model_as_it_was(tmp_path: Path) -> None:
    model = model_of(BERT, support.MEAN_CLASSIFIER, "mobilekit")
    before, family = model.tensors(), model.family
    write_stock(model, tmp_path)
    assert model.family == family
    assert all(np.array_equal(before[name], values) for name, values in model.tensors().items())


def test_token_types_are_an_input_only_where_there_is_a_choice() -> None:
    for encoder, count in ((BERT, 3), (ROBERTA, 2), (DISTILBERT, 2)):
        assert len(Stock(encoder, support.EMBEDDING, False).layout().inputs) == count


def test_padding_does_not_change_the_answer(tmp_path: Path) -> None:
    stock = write_stock(load("tiny-classifier"), tmp_path)
    ids = np.arange(20, 31, dtype=np.int32)
    outputs = []
    for lengths in ((), (16, 32)):
        params = {"path": str(tmp_path), "threads": 1, **stock.layout(lengths).params(), "warm": []}
        subject = peer("torch-eager").ready(params)()
        outputs.append(subject.run(subject.prepare(ids, np.zeros_like(ids))))
    assert np.abs(outputs[0] - outputs[1]).max() < 1e-5
